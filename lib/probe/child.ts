/** The process that allocates: it makes itself the first to be killed, starts the guard, and runs one command's loop. */

import { writeFileSync } from 'node:fs';
import { type Failure, UmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { thisProcess } from '../host/process.ts';
import { journalWriter } from '../journal/writer.ts';
import { native } from '../native/binding.ts';
import { childContext } from './child-context.ts';
import type { Loop } from './context.ts';
import {
  type ChildMessage,
  type ChildRequest,
  HEARTBEAT_MS,
  JOURNAL_FD,
  lines,
  type SerializedError,
  type StopRequest,
} from './protocol.ts';
import type { ProbeCommand } from './spec.ts';

/** Loops by command, each loaded when it is run. */
export type Loops = Readonly<Partial<Record<ProbeCommand, () => Promise<{ loop: Loop<never, unknown, unknown> }>>>>;

function send(message: ChildMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Takes its request from standard input, and leaves when that ends: then the parent is gone. */
export function runChild(loops: Loops): void {
  diesFirst();
  let order: ((what: StopRequest) => void) | null = null;
  let early: StopRequest | null = null;
  let started = false;
  process.stdin.setEncoding('utf8').on(
    'data',
    lines((line) => {
      if (started) {
        early = JSON.parse(line) as StopRequest;
        order?.(early);
        return;
      }
      started = true;
      const request = JSON.parse(line) as ChildRequest;
      serve(request, loops, (given) => {
        order = given;
        if (early !== null) given(early);
      }).then(
        () => process.exit(0),
        (error: unknown) => {
          send({ type: 'error', error: said(error) });
          process.exit(1);
        },
      );
    }),
  );
  process.stdin.on('close', () => process.exit(1));
  process.stdout.on('error', () => process.exit(1)); // nobody reads any more
}

/** The kernel's OOM killer ranks by RSS, in which cudaMalloc is not: it would kill bystanders and leave this process. */
function diesFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // A sandbox without /proc: the guard and the parent are still there.
  }
}

async function serve(request: ChildRequest, loops: Loops, onReady: (order: (what: StopRequest) => void) => void) {
  const { command, journal, limits } = request;
  const binding = native();
  const loaded = await loops[command]?.();
  if (loaded === undefined) throw new Error(`${command} has no loop in lib/worker.ts`);
  setInterval(() => send({ type: 'heartbeat' }), HEARTBEAT_MS).unref();

  // Before the first allocation, which is the context.
  throwFailure(binding.guardStart(request.guard));
  const allocator = await binding.allocOpen(limits.device, limits.stepDeadlineMs);
  send({ type: 'open', allocator });
  if (isFailure(allocator)) throw failed(allocator);

  const writer = journal === null ? null : journalWriter(JOURNAL_FD, journal.path);
  const run = journal?.run ?? null;
  const { context, order } = childContext({ binding, allocator, limits, run, writer, self: thisProcess() });
  onReady(order);
  let state = 'failed';
  try {
    const result = await loaded.loop(context, request.request as never, (event) => send({ type: 'event', event }));
    state = context.stop()?.cause ?? 'done';
    send({ type: 'done', result, guard: binding.guardRead() });
  } finally {
    const freed = await binding.freeBlocks(limits.stepDeadlineMs);
    // A run is over when it holds nothing any more. Where the allocator hangs, nobody knows.
    if (run !== null && !isFailure(freed)) tryTo(() => writer?.commit({ type: 'end', ...run, at: now(), state }));
    binding.guardStop();
  }
}

const now = (): string => new Date().toISOString();

/** What was found, or what went wrong, is worth more than the last line of a journal on a disk that is full by now. */
function tryTo(job: () => void): void {
  try {
    job();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
  }
}

function throwFailure(failure: Failure | null): void {
  if (failure !== null) throw failed(failure);
}

function failed(failure: Failure): Error {
  return Object.assign(new Error(failure.message), { failure });
}

function said(error: unknown): SerializedError {
  const { code = null, failure = null } = error as { code?: string; failure?: Failure };
  const { message, stack = null } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof UmaError)) return { message, code, failure, stack };
  const { call, nativeName, source, status } = error;
  return {
    message,
    code: error.code,
    failure: { failed: true, source, call, status, name: nativeName, message: '' },
    stack,
  };
}
