/**
 * Ends the processes of tests, also where Vitest or a worker was killed: every process below a worker inherits a
 * variable that names it, and a shell that outlives the worker ends all that have the variable.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const NAME = 'UMAPROBE_TEST_WORKER';

/** Its arguments: the pids of Vitest and of the worker, and the variable. Its input ends with the worker. */
const WATCH = `
vitest=$1 worker=$2 variable=$3
while kill -0 "$vitest"; do
  read -t 1 -r _
  # Above 128: the second is over, and the worker lives.
  [ $? -gt 128 ] || break
done
kill -0 "$vitest" || kill -KILL "$worker"
of_worker() { grep -lsaFzx "$variable" /proc/[0-9]*/environ | cut -d / -f 3; }
for signal in TERM TERM KILL KILL KILL KILL KILL KILL; do
  pids=$(of_worker)
  [ -n "$pids" ] || exit 0
  # A stopped process gets no SIGTERM before SIGCONT.
  kill -"$signal" $pids
  kill -CONT $pids
  sleep 0.5
done`;

const ownVariable = `${process.pid}-`;
if (!process.env[NAME]?.startsWith(ownVariable)) {
  process.env[NAME] = `${ownVariable}${Date.now()}`;
  const pids = [process.ppid, process.pid].map(String);
  const watcher = spawn('bash', ['-c', WATCH, 'bash', ...pids, `${NAME}=${process.env[NAME]}`], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  // The pipe would keep the worker from its end.
  (watcher.stdin as unknown as { unref(): void }).unref();
}

/** The variable, for a program that does not get the environment of this process. */
export const inheritance: Readonly<Record<string, string>> = { [NAME]: process.env[NAME] ?? '' };

/** True if a process is below this worker, or was before its parent ended. */
export function isOfWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${NAME}=${inheritance[NAME]}`);
  } catch {
    return false;
  }
}
