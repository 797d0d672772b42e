/** Tells the native guard every few seconds what of the whole system it may stop, the first one first. */

import { setTimeout as sleep } from 'node:timers/promises';
import { readSystemFile } from '../../base/system-file.ts';
import { ownerOf } from '../../core/host/owner.ts';
import { processes } from '../../core/processes/index.ts';
import type { GuardPolicy } from '../../types/index.ts';
import type { ControlLines } from './control.ts';
import { candidates, type StopCandidate } from './policy.ts';

/** A list of all processes takes some 20 ms of CPU time: 0.4 % of a core. */
const REFRESH_MS = 5000;
/** Targets of one line: the native guard takes 8 KiB. */
const MOST = 20;

/** Runs until the signal is aborted. A list that fails keeps the one before. */
export async function followTargets(policy: GuardPolicy, control: ControlLines, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const report = await processes({ pssLimitMs: 0, signal });
      const paths = candidates(report, policy, process.pid).map(cgroupOf);
      const usable = [...new Set(paths)].filter((path) => path !== null && path !== '/' && !/\s/.test(path));
      control.write(
        `targets ${usable
          .slice(0, MOST)
          .map((path) => `cgroup:${path}`)
          .join(' ')}`,
      );
    } catch {
      // The machine is busy: the native guard has the last list.
    }
    await sleep(REFRESH_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Path in cgroup v2, also beside v1; null: there is none, or the process has ended and its pid is another one's. */
function cgroupOf({ id, rootPid }: StopCandidate): string | null {
  try {
    const text = readSystemFile(`/proc/${rootPid}/cgroup`);
    return ownerOf(text)?.id === id ? (/^0::(.*)$/m.exec(text)?.[1] ?? null) : null;
  } catch {
    return null;
  }
}
