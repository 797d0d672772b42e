/** memory() and memorySync(): what another program asks of a machine, in a few numbers. */

import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { toUmaError } from '../../base/errors.ts';
import { lazy } from '../../base/lazy.ts';
import { defined } from '../../base/objects.ts';
import { checkOptions, pick } from '../../base/options.ts';
import { deserializeError } from '../../base/serialized-error.ts';
import { packageRoot } from '../../root.ts';
import type { Memory } from '../../types/index.ts';
import { snapshot } from './index.ts';
import type { MemoryAnswer, MemoryQuestion, ReaderData } from './memory-protocol.ts';
import { MEMORY, type MemoryOptions, type MemorySyncOptions } from './options.ts';

const loadPool = lazy(() => import('../memory/pool.ts'));

/**
 * Total, free, available and loadable memory of this machine and of each GPU: the judgement of `snapshot()` in a few
 * numbers. Creates no CUDA context.
 *
 * @example
 * ```ts
 * import { memory } from 'umaprobe';
 *
 * const { because, safe, verdict } = await memory();
 * console.log(verdict === 'yes' ? safe : because);
 * ```
 *
 * @throws as `snapshot()`.
 */
export async function memory(options: MemoryOptions = {}): Promise<Memory> {
  const { deadlineMs, signal } = checkOptions('memory()', options, MEMORY);
  const { memoryOf } = await loadPool();
  return memoryOf(await snapshot({ deadlineMs, ...defined({ signal }) }));
}

/**
 * The same on the calling thread. A thread of its own reads, started by the first call, and this one waits for it: for
 * `deadlineMs` and 3 s at most, whatever hangs.
 *
 * @example
 * ```ts
 * import { memorySync } from 'umaprobe';
 *
 * const { safe, verdict } = memorySync();
 * console.log(verdict, safe);
 * ```
 *
 * @throws as `snapshot()`; UmaError `ERR_UMA_TIMEOUT` also where the other thread does not answer in time.
 */
export function memorySync(options: MemorySyncOptions = {}): Memory {
  const { deadlineMs } = checkOptions('memorySync()', options, pick(MEMORY, ['deadlineMs']));
  const limitMs = deadlineMs + SLACK_MS;
  reader ??= startReader();
  const answer = reader.read(deadlineMs, limitMs);
  if (answer === null) throw toUmaError(lateAnswer(limitMs));
  if ('error' in answer) throw deserializeError(answer.error);
  return answer.memory;
}

/** Time for the start of the thread, 30 ms on an idle machine, and for files of the kernel that are read after the libraries. */
const SLACK_MS = 3_000;

function lateAnswer(limitMs: number) {
  const message = `the thread that reads did not answer within ${limitMs} ms; umaprobe doctor says what hangs`;
  return { failed: true, source: 'umaprobe', call: 'memorySync', status: null, name: 'TIMEOUT', message } as const;
}

interface Reader {
  /** null: no answer within the limit. */
  read(deadlineMs: number, limitMs: number): MemoryAnswer | null;
}

let reader: Reader | undefined;

function startReader(): Reader {
  // The module is loaded here: that takes 2 ms.
  const threads = process.getBuiltinModule('node:worker_threads');
  const { port1: port, port2 } = new MessageChannel();
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const workerData: ReaderData = { port: port2 as unknown as MessagePort, answers };
  const worker = new threads.Worker(join(packageRoot(), 'dist/memory-worker.js'), {
    workerData,
    transferList: [port2 as unknown as MessagePort],
    // The simulated machine of this thread is in its environment.
    env: threads.SHARE_ENV,
    // The program's own --require and --import are left out.
    execArgv: [],
  });
  worker.unref();
  const forget = (): void => {
    reader = undefined;
  };
  worker.on('error', forget);
  worker.on('exit', forget);
  let asked = 0;
  const receive = (): MemoryAnswer | null =>
    threads.receiveMessageOnPort(port as unknown as MessagePort)?.message ?? null;
  return {
    read(deadlineMs, limitMs) {
      const question: MemoryQuestion = { id: ++asked, deadlineMs };
      const end = performance.now() + limitMs;
      port.postMessage(question);
      for (;;) {
        const seen = Atomics.load(answers, 0);
        // An answer to an earlier question came too late.
        for (let message = receive(); message !== null; message = receive())
          if (message.id === question.id) return message;
        if (Atomics.wait(answers, 0, seen, end - performance.now()) === 'timed-out') return null;
      }
    },
  };
}
