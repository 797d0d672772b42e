/** Memory that programs of this machine which are not under test take or free meanwhile. */

import { readFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { isOfWorker } from './ending.ts';
import { MiB } from './units.ts';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};
const anonymousOfAll = () => Number(/AnonPages: +(\d+) kB/.exec(read('/proc/meminfo'))?.[1]) * 1024;

const childrenOf = (pid: number) => read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

/** Anonymous memory of processes and their descendants. */
function anonymousOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, resident = 0, shared = 0] = read(`/proc/${pid}/statm`).split(' ').map(Number);
    return sum + (resident - shared) * 4096 + anonymousOf(childrenOf(pid));
  }, 0);
}

/** Bytes that came into the page cache since the start of the machine: read from disks, or written by programs. */
function cacheInflow(): number {
  const text = read('/proc/vmstat');
  const count = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  return count('pgpgin') * 1024 + count('nr_dirtied') * 4096;
}

/**
 * Watches all but the process `pid` and its descendants. The result ends it and says how far their memory moved, in bytes;
 * with `cache`, and how much came into the page cache, by whomever.
 */
export function watchOthers(pid: number, { cache = false } = {}): () => number {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const inflow = cacheInflow();
  const look = () => {
    // A process whose parent has ended is a child of the first one.
    const bytes = anonymousOfAll() - anonymousOf([pid, ...childrenOf(1).filter(isOfWorker)]);
    [least, most] = [Math.min(least, bytes), Math.max(most, bytes)];
  };
  look();
  const timer = setInterval(look, 50);
  return () => {
    clearInterval(timer);
    look();
    return most - least + (cache ? cacheInflow() - inflow : 0);
  };
}

const ATTEMPTS = 8;

/**
 * Measures counters of the whole machine again if other programs moved more than `most` bytes meanwhile: expectations
 * need not hold then.
 *
 * @param attempt answers how far others moved, and the expectation.
 */
export async function besideOthers(
  context: TestContext,
  most: number,
  attempt: () => Promise<{ others: number; check: () => void }>,
): Promise<void> {
  for (let left = ATTEMPTS - 1; ; left--) {
    const { check, others } = await attempt();
    try {
      return check();
    } catch (error) {
      if (others <= most) throw error;
      if (left === 0)
        return context.skip(`other programs moved ${Math.round(others / MiB)} MiB in each of ${ATTEMPTS} runs`);
    }
  }
}
