/** The parent's watch over its child: catches events that the guard in the child missed or failed to end. */

import type { UmaError } from '../../base/errors.ts';
import { formatBoth } from '../../base/format.ts';
import type { HostMemory, ProbeGuardReport } from '../../types/index.ts';
import { readHostMemory } from '../host/meminfo-within.ts';
import type { Exit, ProbeChild } from './child-process.ts';
import type { StopRequest } from './protocol.ts';
import type { ProbeRun } from './spec.ts';

const CHECK_INTERVAL_MS = 50;
/** A longer gap between two checks means that this thread was blocked; the child's messages are still in the pipe. */
const BLOCKED_MS = 20 * CHECK_INTERVAL_MS;
/** The guard acts at the floor within milliseconds and exits after 200 ms: after a longer breach it has failed. */
const FLOOR_GRACE_MS = 300;
/** Share of the floor: the guard may undershoot the floor a little, but not by a tenth. */
const FAR_BELOW = 0.9;
/** Twenty heartbeats. */
const SILENCE_MS = 5_000;
/** Time for the loop to return its result after a stop request. */
const STOP_GRACE_MS = 2_000;
/** Freeing 92 GB at exit took 2 to 5 s (GB10, driver 580.178.04). */
const EXIT_GRACE_MS = 30_000;
/** A process that outlives SIGKILL for longer is inside a driver call that does not return. */
const KILL_GRACE_MS = 5_000;

export interface SuperviseOptions {
  floor: number | null;
  timeoutMs: number | null;
  signal: AbortSignal | undefined;
  /** true: the child has reported the end of its loop. */
  isDone(): boolean;
}

export interface Verdict {
  end: ProbeRun<unknown>['end'];
  reason: string | null;
  /** Set if the parent acted in the guard's place. */
  guard: ProbeGuardReport | null;
  /** null: the process could not be killed. */
  exit: Exit | null;
}

export interface Supervisor {
  /** The child has sent something. */
  noteActivity(): void;
  /** Asks the child to end, on behalf of the caller. */
  stop(request: StopRequest): void;
  readonly verdict: Promise<Verdict>;
}

/** @param read the memory of the machine. */
export function supervise(
  child: Pick<ProbeChild, 'detach' | 'exited' | 'kill' | 'requestStop'>,
  options: SuperviseOptions,
  read: () => Promise<Pick<HostMemory, 'available'>> = readHostMemory,
): Supervisor {
  const { floor, isDone, signal, timeoutMs } = options;
  let activeAt = performance.now();
  let checkedAt = activeAt;
  let belowSince: number | null = null;
  let isReading = false;
  let doneAt: number | null = null;
  let stopRequest: { request: StopRequest; at: number } | null = null;
  let kill: { verdict: Omit<Verdict, 'exit'>; at: number } | null = null;
  let giveUp: (verdict: Verdict) => void = () => undefined;
  const unkillable = new Promise<Verdict>((resolve) => {
    giveUp = resolve;
  });

  function stop(request: StopRequest): void {
    if (stopRequest !== null) return;
    stopRequest = { request, at: performance.now() };
    child.requestStop(request);
  }

  function killChild(end: Verdict['end'], reason: string, guard: ProbeGuardReport | null = null): void {
    kill = { verdict: { end, reason, guard }, at: performance.now() };
    child.kill();
  }

  function check(): void {
    const now = performance.now();
    if (now - checkedAt > BLOCKED_MS) activeAt = now;
    checkedAt = now;
    if (kill !== null) {
      if (now - kill.at < KILL_GRACE_MS) return;
      child.detach();
      const reason = `${kill.verdict.reason}; it did not exit after SIGKILL: it is inside a driver call`;
      giveUp({ ...kill.verdict, reason, exit: null });
      return;
    }
    if (isDone()) {
      doneAt ??= now;
      if (now - doneAt > EXIT_GRACE_MS)
        killChild('complete', `it did not exit within ${EXIT_GRACE_MS / 1000} s of its result and was killed`);
      return;
    }
    if (stopRequest !== null && now - stopRequest.at > STOP_GRACE_MS) {
      killChild(stopRequest.request, `it did not stop within ${STOP_GRACE_MS / 1000} s and was killed`);
      return;
    }
    if (now - activeAt > SILENCE_MS) {
      killChild('lost', `the child process gave no sign of life for ${SILENCE_MS / 1000} s and was killed`);
      return;
    }
    checkFloor(now);
  }

  /** Starts no second reading beside one: /proc/meminfo may not answer. */
  function checkFloor(now: number): void {
    if (floor === null || isReading) return;
    isReading = true;
    read()
      .then(
        ({ available }) => judgeFloor(floor, available, now),
        (error: UmaError) => killChild('lost', `the floor can no longer be watched: ${error.message}`),
      )
      .finally(() => {
        isReading = false;
      });
  }

  function judgeFloor(floor: number, available: number | null, now: number): void {
    if (kill !== null || isDone()) return;
    if (available === null || available >= floor * FAR_BELOW) {
      belowSince = null;
      return;
    }
    belowSince ??= now;
    if (now - belowSince < FLOOR_GRACE_MS) return;
    killChild(
      'lost',
      `MemAvailable ${formatBoth(available)} stayed far below the floor of ${formatBoth(floor)}, and the parent killed the child process`,
      {
        reason: 'floor',
        memAvailable: available,
        freeInCpuLists: null,
        pressureFull: null,
        stoppedAfterMs: null,
        freedAfterMs: null,
        left: false,
      },
    );
  }

  const abort = () => stop('aborted');
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const checks = setInterval(check, CHECK_INTERVAL_MS);
  const timer = timeoutMs === null ? undefined : setTimeout(() => stop('timeout'), timeoutMs);

  async function verdict(): Promise<Verdict> {
    try {
      return await Promise.race([child.exited.then(exitVerdict), unkillable]);
    } finally {
      clearInterval(checks);
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  function exitVerdict(exit: Exit): Verdict {
    if (kill !== null) return { ...kill.verdict, exit };
    if (isDone()) return { end: 'complete', reason: null, guard: null, exit };
    return { end: 'lost', reason: lostReason(exit), guard: null, exit };
  }

  return {
    noteActivity: () => {
      activeAt = performance.now();
    },
    stop,
    verdict: verdict(),
  };
}

function lostReason({ code, output, signal }: Exit): string {
  const exit = signal === null ? `exited with ${code ?? 'no code'}` : `was killed by ${signal}`;
  const lastLine = output.split('\n').at(-1) ?? '';
  return `the child process ${exit} before it had finished${lastLine === '' ? '' : `: ${lastLine}`}`;
}
