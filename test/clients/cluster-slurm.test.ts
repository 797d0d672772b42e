/** A pipe from a real Slurm of two nodes: their answers, marked with their ranks, are read; without marks none is a wrong one. *Simulated* memory. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterReport } from '../../lib/types/index.ts';
import { CLI, umaprobe } from '../support/cli.ts';
import { parseDocument } from '../support/schemas.ts';
import { missingSlurm, TwoNodes } from '../support/slurm.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe.skipIf(missingSlurm !== null)(`Slurm${missingSlurm === null ? '' : ` (skipped: ${missingSlurm})`}`, () => {
  const rank = join(temporaryFolder('cluster-slurm'), 'rank');
  let slurm: TwoNodes;

  beforeAll(async () => {
    const machine = `[ "$SLURM_PROCID" = 0 ] && machine=gb10 || machine=gb10-busy`;
    writeFileSync(rank, `#!/bin/sh\n${machine}\nexec ${process.execPath} ${CLI} snapshot --json --sim $machine\n`);
    chmodSync(rank, 0o755);
    slurm = new TwoNodes();
    await slurm.start();
  });
  afterAll(() => slurm.stop());

  const gathered = (...marks: string[]) => slurm.ask('srun', '-N2', '--ntasks-per-node=1', ...marks, rank);
  const check = (text: string) => umaprobe(['cluster', 'check', '--need', '96GiB', '--expect', '2', '-'], {}, text);

  it('both nodes are checked before a job starts', async () => {
    const { code, stdout } = await check(gathered('--label'));
    expect(stdout).toMatch(/^gb10-busy +FITS AFTER[\s\S]*^gb10 +FITS/m);
    expect(code).toBe(1);
  });

  it('without marks an answer is whole or none', async () => {
    const { stdout } = await umaprobe(['cluster', '--json', '-'], {}, gathered());
    const { machines } = parseDocument(stdout) as unknown as ClusterReport;
    for (const { snapshot, state } of machines) {
      if (state !== 'answered') continue;
      expect(snapshot?.judgement.safe.bytes).toBe(snapshot?.simulated === 'gb10' ? 111_539_518_996 : 29_387_783_700);
    }
  });
});
