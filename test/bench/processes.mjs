/** How fast is processes() on a machine with 500 processes, compared with ps? */

import { spawn, spawnSync } from 'node:child_process';
import { processes } from 'umaprobe';
import { compare, quantile, timeAsync } from './measure.mjs';

const SLEEPERS = 500;
const sleepers = Array.from({ length: SLEEPERS }, () => spawn('sleep', ['600'], { stdio: 'ignore' }));
try {
  await processes();
  const ours = [];
  const theirs = [];
  for (let round = 0; round < 20; round++) {
    ours.push(...(await timeAsync(() => processes(), 1)));
    const started = process.hrtime.bigint();
    const { status } = spawnSync('ps', ['-eo', 'pid,ppid,user,rss,vsz,comm,args'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    theirs.push(Number(process.hrtime.bigint() - started));
    if (status !== 0) throw new Error('ps failed');
  }
  compare({
    question: `processes(), ${SLEEPERS} sleeping processes and the others`,
    ours: quantile(ours, 0.5) / 1e6,
    theirs: quantile(theirs, 0.5) / 1e6,
    unit: 'ms',
    against: 'ps -eo pid,ppid,user,rss,vsz,comm,args',
    atMost: 2,
  });
} finally {
  for (const sleeper of sleepers) sleeper.kill('SIGKILL');
}
