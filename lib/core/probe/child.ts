/** The child process: volunteers for the OOM killer, starts the guard, opens the allocator, runs one loop. */

import { writeFileSync } from 'node:fs';
import type { Failure } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { serializeError } from '../../base/serialized-error.ts';
import { thisProcess } from '../host/process.ts';
import { journalWriter } from '../journal/writer.ts';
import { explained } from '../memory/driver-status.ts';
import { native } from '../native/binding.ts';
import { childContext } from './child-context.ts';
import type { Loop } from './context.ts';
import { type ChildMessage, type ChildRequest, HEARTBEAT_MS, JOURNAL_FD, lines, type StopRequest } from './protocol.ts';
import type { ProbeCommand } from './spec.ts';
import { callLimitMs } from './step-limit.ts';

/** The loop of each command, imported when it is run. */
export type Loops = Readonly<Partial<Record<ProbeCommand, () => Promise<{ loop: Loop<never, unknown, unknown> }>>>>;

type RequestStop = (request: StopRequest) => void;

/** Serves the request from standard input, and exits. If standard input ends, the parent is gone: exits at once. */
export function runChild(loops: Loops): void {
  raiseOomScore();
  let requestStop: RequestStop | null = null;
  let stopRequest: StopRequest | null = null;
  let started = false;
  process.stdin.setEncoding('utf8').on(
    'data',
    lines((line) => {
      if (started) {
        stopRequest = JSON.parse(line) as StopRequest;
        requestStop?.(stopRequest);
        return;
      }
      started = true;
      const request = JSON.parse(line) as ChildRequest;
      serve(request, loops, (ready) => {
        requestStop = ready;
        if (stopRequest !== null) ready(stopRequest);
      }).then(
        () => process.exit(0),
        (error: unknown) => {
          send({ type: 'error', error: serializeError(error) });
          process.exit(1);
        },
      );
    }),
  );
  process.stdin.on('close', () => process.exit(1));
  process.stdout.on('error', () => process.exit(1)); // the parent no longer reads
}

/** The OOM killer ranks by RSS, which does not contain cudaMalloc: without this it would kill other processes first. */
function raiseOomScore(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // A sandbox without /proc: the guard and the parent still protect the host.
  }
}

/** @param onReady is called with the function that stops the loop, before the loop starts. */
async function serve(request: ChildRequest, loops: Loops, onReady: (requestStop: RequestStop) => void): Promise<void> {
  const { command, journal, limits } = request;
  const binding = native();
  throwFailure(binding.dieWithParent());
  // The parent may have ended before that call.
  if (process.ppid !== request.guard.parent) process.exit(1);
  const module = await loops[command]?.();
  if (module === undefined) throw new Error(`${command} has no loop in lib/worker.ts`);
  setInterval(() => send({ type: 'heartbeat' }), HEARTBEAT_MS).unref();

  // The guard starts before the allocator opens: the CUDA context is the first allocation.
  throwFailure(binding.guardStart(request.guard));
  const allocator = await binding.allocOpen(limits.device, callLimitMs(limits.stepTimeoutMs));
  send({ type: 'open', allocator });
  if (isFailure(allocator)) throw failureError(explained(allocator, limits.memoryModel));

  const writer = journal === null ? null : journalWriter(JOURNAL_FD, journal.path);
  const run = journal?.run ?? null;
  const { context, requestStop } = childContext({ binding, allocator, limits, run, writer, self: thisProcess() });
  onReady(requestStop);
  let state = 'failed';
  try {
    const result = await module.loop(context, request.request as never, (event) => send({ type: 'event', event }));
    state = context.stop()?.cause ?? 'complete';
    send({ type: 'done', result, guard: binding.guardRead() });
  } finally {
    const freed = await binding.freeBlocks(callLimitMs(limits.stepTimeoutMs));
    // The journal's run ends only when nothing is held. If the allocator hangs, that is unknown.
    if (run !== null && !isFailure(freed)) {
      const at = new Date().toISOString();
      logError(() => writer?.commit({ type: 'end', ...run, at, state }));
    }
    binding.guardStop();
  }
}

function send(message: ChildMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Logs the job's error instead of throwing it: a result is worth more than the last line of a journal. */
function logError(job: () => void): void {
  try {
    job();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
  }
}

function throwFailure(failure: Failure | null): void {
  if (failure !== null) throw failureError(failure);
}

function failureError(failure: Failure): Error {
  return Object.assign(new Error(failure.message), { failure });
}
