/** The thread behind `memorySync()`: answers each question with the result of `memory()`, and wakes the thread that asked. */

import { workerData } from 'node:worker_threads';
import { serializeError } from '../../base/serialized-error.ts';
import { memory } from './memory.ts';
import type { MemoryAnswer, MemoryQuestion, ReaderData } from './memory-protocol.ts';

const { answers, port } = workerData as ReaderData;

port.on('message', async ({ deadlineMs, id }: MemoryQuestion) => {
  const answer: MemoryAnswer = await memory({ deadlineMs }).then(
    (result) => ({ id, memory: result }),
    (error: unknown) => ({ id, error: serializeError(error) }),
  );
  port.postMessage(answer);
  Atomics.add(answers, 0, 1);
  Atomics.notify(answers, 0);
});
