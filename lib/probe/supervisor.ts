/** The parent's watch over its child: what the guard inside cannot see, and what it should have done and did not. */

import { formatBoth } from '../base/format.ts';
import { hostMemorySync } from '../host/meminfo.ts';
import type { GuardReport } from '../types/index.ts';
import type { Exit, ProbeChild } from './child-process.ts';
import type { StopRequest } from './protocol.ts';

const LOOK_EVERY_MS = 50;
/** The guard acts at the floor within milliseconds and leaves after 200: this much later it has failed. */
const FLOOR_GRACE_MS = 300;
const FAR_BELOW = 0.9;
/** Twenty heartbeats. */
const SILENCE_MS = 5_000;
/** A child that was told to end is given this long to come back with what it has. */
const ORDER_GRACE_MS = 2_000;
/** 92 GB took 2 to 5 s to come back when a process ended (GB10, driver 580.178.04). */
const EXIT_GRACE_MS = 30_000;
/** A process that does not even end when it is killed is inside a driver that does not return. */
const KILL_GRACE_MS = 5_000;

export interface Watch {
  floor: number | null;
  timeoutMs: number | null;
  signal: AbortSignal | null;
  /** Whether the child has said that its loop is over. */
  isDone(): boolean;
}

export interface Verdict {
  end: 'done' | StopRequest | 'lost';
  reason: string | null;
  /** Set where the parent acted in the guard's place. */
  guard: GuardReport | null;
  exit: Exit | null;
}

export interface Supervisor {
  /** The child was heard. */
  heard(): void;
  /** The run has to end, because of the caller. */
  stop(what: StopRequest): void;
  readonly verdict: Promise<Verdict>;
}

export function supervise(child: ProbeChild, watch: Watch): Supervisor {
  let heardAt = performance.now();
  let lookedAt = heardAt;
  let belowSince: number | null = null;
  let doneAt: number | null = null;
  let ordered: { what: StopRequest; at: number } | null = null;
  let killed: { why: Omit<Verdict, 'exit'>; at: number } | null = null;
  let giveUp: (verdict: Verdict) => void = () => undefined;
  const givenUp = new Promise<Verdict>((resolve) => {
    giveUp = resolve;
  });

  function stop(what: StopRequest): void {
    if (ordered !== null) return;
    ordered = { what, at: performance.now() };
    child.requestStop(what);
  }

  function kill(end: Verdict['end'], reason: string, guard: GuardReport | null = null): void {
    killed = { why: { end, reason, guard }, at: performance.now() };
    child.kill();
  }

  function look(): void {
    const now = performance.now();
    // This thread was held up: what the child said meanwhile is still in the pipe.
    if (now - lookedAt > 20 * LOOK_EVERY_MS) heardAt = now;
    lookedAt = now;
    if (killed !== null) {
      if (now - killed.at < KILL_GRACE_MS) return;
      child.detach();
      giveUp({
        ...killed.why,
        reason: `${killed.why.reason}; killed, it has not ended: it is inside the driver`,
        exit: null,
      });
      return;
    }
    if (watch.isDone()) {
      doneAt ??= now;
      if (now - doneAt > EXIT_GRACE_MS)
        kill('done', `it did not end within ${EXIT_GRACE_MS / 1000} s of its last word`);
      return;
    }
    if (ordered !== null && now - ordered.at > ORDER_GRACE_MS) {
      kill(ordered.what, `it did not come to its end within ${ORDER_GRACE_MS / 1000} s and was killed`);
      return;
    }
    if (now - heardAt > SILENCE_MS) {
      kill('lost', `the child process gave no sign of life for ${SILENCE_MS / 1000} s and was killed`);
      return;
    }
    lookAtFloor(now);
  }

  function lookAtFloor(now: number): void {
    if (watch.floor === null) return;
    const { available } = hostMemorySync();
    if (available === null || available >= watch.floor * FAR_BELOW) {
      belowSince = null;
      return;
    }
    belowSince ??= now;
    if (now - belowSince < FLOOR_GRACE_MS) return;
    kill(
      'lost',
      `MemAvailable ${formatBoth(available)} stayed far below the floor of ${formatBoth(watch.floor)}, and the parent killed the child process`,
      {
        reason: 'floor',
        memAvailable: available,
        pressureFull: null,
        stoppedAfterMs: null,
        freedAfterMs: null,
        left: false,
      },
    );
  }

  const abort = () => stop('aborted');
  if (watch.signal?.aborted) abort();
  else watch.signal?.addEventListener('abort', abort, { once: true });
  const looks = setInterval(look, LOOK_EVERY_MS);
  const limit = watch.timeoutMs === null ? undefined : setTimeout(() => stop('timeout'), watch.timeoutMs);

  async function conclude(): Promise<Verdict> {
    try {
      return await Promise.race([child.ended.then(asItEnded), givenUp]);
    } finally {
      clearInterval(looks);
      clearTimeout(limit);
      watch.signal?.removeEventListener('abort', abort);
    }
  }

  function asItEnded(exit: Exit): Verdict {
    if (killed !== null) return { ...killed.why, exit };
    if (watch.isDone()) return { end: 'done', reason: null, guard: null, exit };
    return { end: 'lost', reason: lostWords(exit), guard: null, exit };
  }

  return {
    heard: () => {
      heardAt = performance.now();
    },
    stop,
    verdict: conclude(),
  };
}

function lostWords({ code, signal, words }: Exit): string {
  const how = signal === null ? `ended with ${code ?? 'no code'}` : `was ended by ${signal}`;
  const last = words.split('\n').at(-1) ?? '';
  return `the child process ${how} in the middle of its work${last === '' ? '' : `: ${last}`}`;
}
