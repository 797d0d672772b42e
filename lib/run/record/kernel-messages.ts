/** Messages of the kernel about memory and the GPU, from /dev/kmsg, where this user may read it. */

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The out-of-memory killer, the driver's errors (Xid), allocation failures, hung tasks. */
const TELLING = /oom|out of memory|NVRM|Xid|page allocation failure|blocked for more than|soft lockup|killed process/i;
const MAX_LENGTH = 1000;
const POLL_MS = 1000;
/** Messages of one poll: a driver in trouble writes thousands. */
const MOST = 200;

/** Calls `onMessage` for each telling message from now on, or `onProblem` once where the log cannot be read. */
export async function followKernelMessages(
  onMessage: (text: string) => void,
  onProblem: (text: string) => void,
  signal: AbortSignal,
  path = '/dev/kmsg',
): Promise<void> {
  let fd: number;
  try {
    // A blocking read would hold a thread of Node's pool, and with it the exit of the process.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
    return onProblem(`messages of the kernel are not recorded: ${path} cannot be read (${code})`);
  }
  try {
    // Messages that are there already happened before the recording.
    for (let text = nextMessage(fd); text !== null; text = nextMessage(fd)) {
      if (text === END) return onProblem(`messages of the kernel are not recorded: ${path} is not its log here`);
    }
    while (!signal.aborted) {
      await sleep(POLL_MS, undefined, { signal, ref: false });
      let taken = 0;
      for (let text = nextMessage(fd); text !== null && text !== END; text = nextMessage(fd)) {
        if (TELLING.test(text) && taken++ < MOST) onMessage(text.slice(0, MAX_LENGTH));
      }
    }
  } catch {
    // Aborted, or the log cannot be read any more.
  } finally {
    closeSync(fd);
  }
}

const buffer = Buffer.alloc(8192);

/** The log has no end: some containers have /dev/null in its place, whose reads would never stop. */
const END = Symbol('end of the file');

/** The text of the next message; null: there is none yet. Each read returns one: "6,1234,5678,-;text". */
function nextMessage(fd: number): string | typeof END | null {
  for (;;) {
    try {
      const length = readSync(fd, buffer);
      if (length === 0) return END;
      const record = buffer.toString('utf8', 0, length);
      const end = record.indexOf('\n');
      return record.slice(record.indexOf(';') + 1, end === -1 ? undefined : end);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // EPIPE: messages were overwritten before they were read; the next read returns the oldest one that is left.
      if (code !== 'EPIPE') return null;
    }
  }
}
