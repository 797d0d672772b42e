/** The health check as slurmd runs it: it drains a node of a real Slurm and resumes it; what an administrator drained stays. *Simulated*. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI } from '../support/cli.ts';
import { ROOT } from '../support/root.ts';
import { missingSlurm, TwoNodes } from '../support/slurm.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder('slurm-health');
const machine = join(folder, 'machine');

const bin = join(folder, 'bin');
const CHECK = join(bin, 'check');

/** The environment is slurmd's: it needs this Slurm, and the umaprobe of this folder on the machine that `machine` names. */
function installCheck(configuration: string): void {
  mkdirSync(bin);
  const script = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  script('umaprobe', `exec ${process.execPath} ${CLI} "$@" --sim "$(cat ${machine})"`);
  for (const name of ['slurm-health-check', 'umaprobe-health']) {
    copyFileSync(join(ROOT, 'monitoring', name), join(bin, name));
    chmodSync(join(bin, name), 0o755);
  }
  script('check', `SLURM_CONF=${configuration} PATH=${bin}:$PATH exec ${join(bin, 'slurm-health-check')}`);
}

describe.skipIf(missingSlurm !== null)(`Slurm${missingSlurm === null ? '' : ` (skipped: ${missingSlurm})`}`, () => {
  let slurm: TwoNodes;
  const become = (name: string): void => writeFileSync(machine, name);
  // "idle*": slurmd of a busy test machine is late.
  const states = (): string[] =>
    slurm.ask('sinfo', '-h', '-N', '-o', '%N %T %E').replaceAll('*', '').trim().split('\n');
  const all = { timeout: 15_000, interval: 200 };

  beforeAll(async () => {
    become('gb10');
    slurm = new TwoNodes(`HealthCheckProgram=${CHECK}\nHealthCheckInterval=2\nHealthCheckNodeState=ANY\n`);
    installCheck(slurm.configuration);
    await slurm.start();
  });
  afterAll(() => slurm.stop());

  it('a node that can take no work is drained with its reason, and resumed when it can', async () => {
    slurm.ask('scontrol', 'update', 'NodeName=n2', 'State=DRAIN', 'Reason=maintenance');
    become(join(ROOT, 'test/agree/machines/stall38.json'));
    await expect
      .poll(states, all)
      .toEqual(['n1 drained [node_problem] umaprobe: pressure swap.full', 'n2 drained maintenance']);
    become('gb10');
    await expect.poll(states, all).toEqual(['n1 idle none', 'n2 drained maintenance']);
  }, 45_000);
});
