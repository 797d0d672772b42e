/** What crosses between memorySync() and its thread. */

import type { MessagePort } from 'node:worker_threads';
import type { SerializedError } from '../../base/serialized-error.ts';
import type { Memory } from '../../types/index.ts';

/** Question to the thread, and its answer (memory-worker.ts). */
export interface MemoryQuestion {
  id: number;
  deadlineMs: number;
}
export type MemoryAnswer = { id: number; memory: Memory } | { id: number; error: SerializedError };

/** Start data of the thread. */
export interface ReaderData {
  port: MessagePort;
  /** Counts the answers; the asking thread sleeps on it. */
  answers: Int32Array;
}
