/** The machines of a page: this one, or several by the user's ssh. A machine without a reading says why. */

import { setMaxListeners } from 'node:events';
import { FOLLOW_TIMES, FollowedHosts } from '../run/cluster/follow.ts';
import type { ClusterMachine } from '../types/index.ts';
import type { SharedReading } from './reading.ts';

/** One reading of every machine, in the order of the hosts. */
export interface Round {
  machines: readonly ClusterMachine[];
  /** Answer of several machines in a sentence; null: there is one. */
  summary: string | null;
}

export interface Machines {
  hosts: readonly string[];
  /** Never rejects. */
  read(): Promise<Round>;
}

export function ownMachine(reading: SharedReading, host: string): Machines {
  return {
    hosts: [host],
    async read() {
      try {
        const snapshot = await reading.take();
        const machine = { host, state: 'answered', because: null, next: null, ageMs: 0, snapshot } as const;
        return { machines: [machine], summary: null };
      } catch (error) {
        return { machines: [failed(host, error)], summary: null };
      }
    },
  };
}

const TIMES = {
  ...FOLLOW_TIMES,
  /** A reader who opens the page again within this time and an interval after the last reading has readings at once. */
  idleMs: 5000,
};

/**
 * They are followed while somebody asks.
 *
 * @param signal ends every ssh.
 */
export function machinesBySsh(
  hosts: readonly string[],
  intervalMs: number,
  signal: AbortSignal,
  times = TIMES,
): Machines {
  let followed: { machines: FollowedHosts; ends: AbortController } | null = null;
  let idle: NodeJS.Timeout | undefined;
  const rest = (): void => {
    followed?.ends.abort();
    followed = null;
  };
  signal.addEventListener('abort', rest, { once: true });
  return {
    hosts,
    async read() {
      clearTimeout(idle);
      followed ??= follow(hosts, intervalMs, times);
      const round = await followed.machines.read();
      idle = setTimeout(rest, intervalMs + times.idleMs).unref();
      return round;
    },
  };
}

function follow(
  hosts: readonly string[],
  intervalMs: number,
  times: typeof FOLLOW_TIMES,
): { machines: FollowedHosts; ends: AbortController } {
  const ends = new AbortController();
  // Each ssh listens: Node warns from eleven on.
  setMaxListeners(0, ends.signal);
  return { machines: new FollowedHosts(hosts, intervalMs, ends.signal, times), ends };
}

function failed(host: string, error: unknown): ClusterMachine {
  const because = error instanceof Error ? error.message : String(error);
  return { host, state: 'failed', because, next: null, ageMs: null, snapshot: null };
}
