/** The machines of a page: this one, or several by the user's ssh. A machine without a reading says why. */

import { setMaxListeners } from 'node:events';
import { cluster } from '../cluster/index.ts';
import type { ClusterMachine } from '../types/index.ts';
import type { SharedReading } from './reading.ts';

/** One reading of every machine, in the order of the hosts. */
export interface Round {
  machines: readonly ClusterMachine[];
  /** Of several machines: the answer in a sentence. null: there is one. */
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

/** @param signal ends every ssh. */
export function machinesBySsh(hosts: readonly string[], signal: AbortSignal): Machines {
  // Each ssh listens: Node warns from eleven on.
  setMaxListeners(0, signal);
  return {
    hosts,
    async read() {
      try {
        const { machines, summary } = await cluster({ hosts, signal });
        return { machines: hosts.flatMap((host) => machines.find((machine) => machine.host === host) ?? []), summary };
      } catch (error) {
        const machines = hosts.map((host) => failed(host, error));
        return { machines, summary: machines[0]?.because ?? null };
      }
    },
  };
}

function failed(host: string, error: unknown): ClusterMachine {
  const because = error instanceof Error ? error.message : String(error);
  return { host, state: 'failed', because, next: null, ageMs: null, snapshot: null };
}
