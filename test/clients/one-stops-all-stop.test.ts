/**
 * One stops, all stop: the guard of one rank ends with exit code 6, and mpirun or srun ends the other rank. With Open MPI and
 * Slurm as Debian has them; two slurmd of one host are two nodes. What rank 0 takes is *simulated*.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.ts';
import { runs } from '../support/guard-program.ts';
import { ROOT } from '../support/root.ts';
import { ENGINE_PATH, lacking, missingSlurm, TwoNodes } from '../support/slurm.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait.ts';

/** From the end of one rank to that of the other, which sleeps twice as long. */
const LIMIT_MS = 30_000;

const folder = temporaryFolder('ranks');

/** The two ranks as scripts, and what rank 1 leaves: its pid, and when it ended, in seconds. */
function ranks(name: string): {
  files: [string, string];
  pid: () => string;
  times: () => { stopped: number; ended: number };
} {
  const at = (file: string) => join(folder, `${name}-${file}`);
  const script = (file: string, text: string): string => {
    writeFileSync(at(file), `#!/bin/sh\ncd ${ROOT}\n${text}\n`);
    chmodSync(at(file), 0o755);
    return at(file);
  };
  const umaprobe = `${process.execPath} ${CLI}`;
  const now = (file: string) => `date +%s.%N > ${at(file)}`;
  const program = script('program', `trap '${now('ended')}; exit 0' TERM\necho $$ > ${at('pid')}\nsleep 60 & wait`);
  // Rank 0 begins to take memory once the other runs.
  const takes = `while [ ! -s ${at('pid')} ]; do sleep 0.05; done; exec ${umaprobe} sim grow --rate 8GiB/s --to 20GiB`;
  const files: [string, string] = [
    script(
      'rank0',
      `${umaprobe} guard --quiet --sim gb10 --floor 108GiB -- ${script('takes', takes)}\ncode=$?\n${now('stopped')}\nexit $code`,
    ),
    script('rank1', `exec ${umaprobe} guard -- ${program}`),
  ];
  const read = (file: string): string => (existsSync(at(file)) ? readFileSync(at(file), 'utf8').trim() : '');
  return {
    files,
    pid: () => read('pid'),
    times: () => ({ stopped: Number(read('stopped')), ended: Number(read('ended')) }),
  };
}

async function expectBothEnded(name: string, start: (files: [string, string]) => ChildProcess): Promise<void> {
  const { files, pid, times } = ranks(name);
  const child = start(files);
  let said = '';
  child.stderr?.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, said).toBe(6);
  expect(said).toMatch(/umaprobe: [\d.]+ GiB were available.*got SIG(TERM|KILL)/);
  await waitFor(`the end of the other rank after ${said}`, times, (both) => both.ended > 0);
  expect(runs(pid())).toBe(false);
  const { ended, stopped } = times();
  expect((ended - stopped) * 1000).toBeLessThan(LIMIT_MS);
}

const noMpi = lacking('mpirun');
describe.skipIf(noMpi !== null)(`mpirun${noMpi === null ? '' : ` (skipped: ${noMpi})`}`, () => {
  it('ends the other rank when the guard has stopped one (simulated)', { timeout: 60_000 }, async () => {
    await expectBothEnded('mpi', ([first, second]) =>
      spawn('mpirun', ['--oversubscribe', '--host', 'localhost:2', '-np', '1', first, ':', '-np', '1', second], {
        stdio: ['ignore', 'ignore', 'pipe'],
        // Root is refused otherwise.
        env: cliEnvironment({ PATH: ENGINE_PATH, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' }),
      }),
    );
  });
});

describe.skipIf(missingSlurm !== null)(`srun${missingSlurm === null ? '' : ` (skipped: ${missingSlurm})`}`, () => {
  let slurm: TwoNodes;
  beforeAll(async () => {
    slurm = new TwoNodes();
    await slurm.start();
  });
  afterAll(() => slurm.stop());

  it('--kill-on-bad-exit ends the other node when the guard has stopped one (simulated)', {
    timeout: 60_000,
  }, async () => {
    await expectBothEnded('slurm', ([first, second]) => {
      const rank = `if [ $SLURM_PROCID = 0 ]; then exec ${first}; else exec ${second}; fi`;
      return spawn('srun', ['-N2', '--kill-on-bad-exit=1', 'sh', '-c', rank], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: slurm.env,
      });
    });
  });
});
