/** Readings of all processes beside those of the memory, as often as they cost next to nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessesReport } from '../../types/index.ts';
import { processes } from './index.ts';

/** A reading takes at most this share of a processor: the pause after it is as many times its own time. */
const SHARE = 0.005;
/** A person does not read faster. */
const LEAST_PAUSE_MS = 2000;
/** Exact figures of the largest processes: the kernel walks their page tables, which holds them up. */
const PSS_LIMIT_MS = 100;

/**
 * Reads until the signal is aborted.
 *
 * @param wanted whether anybody looks: otherwise nothing is read.
 * @param got the report, or why there is none.
 * @returns resolves after the first reading.
 */
export function followProcesses(
  { deadlineMs, signal, wanted }: { deadlineMs: number; signal: AbortSignal; wanted: () => boolean },
  got: (report: ProcessesReport | string) => void,
): Promise<void> {
  const read = async (): Promise<number> => {
    if (!wanted()) return LEAST_PAUSE_MS;
    const before = process.cpuUsage();
    try {
      got(await processes({ pssLimitMs: PSS_LIMIT_MS, deadlineMs, signal }));
    } catch (error) {
      if (!signal.aborted) got(error instanceof Error ? error.message : String(error));
    }
    const { system, user } = process.cpuUsage(before);
    return Math.max(LEAST_PAUSE_MS, (system + user) / 1000 / SHARE);
  };
  const first = read();
  void (async () => {
    let pause = await first;
    while (!signal.aborted) {
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) pause = await read();
    }
  })();
  return first.then(() => undefined);
}
