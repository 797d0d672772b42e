// Loaded into the child of a probe with NODE_OPTIONS=--import: acts as soon as the n-th record has been written to the
// journal, so that a test can interrupt a run at every step. UMAPROBE_TEST_AT: "<n> <action>"; actions are kill-child,
// kill-parent, kill-both, stop (SIGSTOP), stop-orphan (SIGSTOP, and then the parent is killed) and no-space.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const JOURNAL_FD = 3;
const [at, action] = (process.env.UMAPROBE_TEST_AT ?? '').split(' ');

const kill = { 'kill-child': ['pid'], 'kill-parent': ['ppid'], 'kill-both': ['ppid', 'pid'] };

if (process.argv[1]?.endsWith('/dist/worker.js') && at !== '') {
  const { writeSync } = fs;
  let records = 0;
  fs.writeSync = (fd, ...rest) => {
    if (fd !== JOURNAL_FD) return writeSync(fd, ...rest);
    if (++records !== Number(at)) return writeSync(fd, ...rest);
    if (action === 'no-space') throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', errno: -28 });
    const written = writeSync(fd, ...rest);
    if (action === 'stop-orphan') {
      const script = `sleep 0.3; kill -KILL ${process.ppid}`;
      spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' });
    }
    if (action.startsWith('stop')) process.kill(process.pid, 'SIGSTOP');
    for (const which of kill[action] ?? []) process.kill(process[which], 'SIGKILL');
    return written;
  };
  syncBuiltinESMExports();
}
