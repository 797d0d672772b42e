/** Drops caches, and returns a receipt. */

import { abortable } from '../../base/abort.ts';
import { toUmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import { type CheckedOf, checkOptions } from '../../base/options.ts';
import type { DropReport, Snapshot } from '../../types/index.ts';
import { droppable } from '../memory/droppable.ts';
import { unifiedDevice } from '../memory/headroom.ts';
import { refuseUnderPressure } from '../memory/pressure.ts';
import { mappedModelWarnings } from './mapped-models.ts';
import { DROP, type DropOptions } from './options.ts';
import { poolOf, slabAndPools } from './prepare/pool.ts';
import { difference, receipt, snapshotCounters } from './receipt.ts';
import type { Sysctl } from './sysctl.ts';
import { assertMayWrite, writeSysctl } from './sysctl-write.ts';
import type { System } from './system.ts';

const MEANING: Readonly<Record<1 | 2 | 3, string>> = {
  1: 'page cache: clean pages of files that no process has mapped. MemFree rises, MemAvailable hardly changes',
  2: "slab and all shrinkers (inodes, directory entries, and from driver 590 on the GPU driver's pools of freed memory); no page cache",
  3: "page cache, slab and all shrinkers, including from driver 590 on the GPU driver's pools of freed memory",
};

export async function drop(system: System, given: DropOptions): Promise<DropReport> {
  const options = checkOptions('dropCaches()', given, DROP);
  return abortable(options.signal, () => dropNow(system, options));
}

/** The same with checked options; what the kernel does is waited for. */
export async function dropNow(system: System, options: CheckedOf<typeof DROP>): Promise<DropReport> {
  const { dryRun, force, level, sudo } = options;
  const started = performance.now();
  const sysctl: Sysctl = { name: 'drop_caches', level };
  if (!dryRun) await assertMayWrite(system, sysctl, sudo);
  const before = await system.takeSnapshot();
  if (!force) refuseUnderPressure(before, 'cache drop');
  // Level 2 drops no page cache, and so no pages that servers have mapped.
  const warnings = level === 2 ? [] : await mappedModelWarnings(system);
  const plan = {
    schema: 'umaprobe/cache-drop/1',
    at: before.at,
    simulated: system.simulated,
    dryRun,
    level,
    meaning: MEANING[level],
    expectedBytes: expectedBytes(before, level),
  } as const;
  if (dryRun) {
    const counters = snapshotCounters(before);
    const nothing = { by: null, sync: null, dropMs: null, nextAllocation: null };
    return {
      ...plan,
      ...nothing,
      receipt: receipt(counters, counters),
      warnings,
      durationMs: performance.now() - started,
    };
  }
  const sync = options.sync && level !== 2 ? await syncAll(system, options.syncLimitMs) : null;
  if (sync?.finished === false)
    warnings.push(
      `sync did not finish within its limit of ${options.syncLimitMs} ms: pages that were still dirty stay in the cache; nothing is lost`,
    );
  options.signal?.throwIfAborted();
  const { by, durationMs: dropMs } = await writeSysctl(system, sysctl, sudo);
  const after = await system.takeSnapshot();
  return {
    ...plan,
    by,
    sync,
    dropMs,
    receipt: receipt(snapshotCounters(before), snapshotCounters(after)),
    nextAllocation: allocatableChange(before, after),
    warnings,
    durationMs: performance.now() - started,
  };
}

function expectedBytes(before: Snapshot, level: 1 | 2 | 3): number {
  const cache = level === 2 ? 0 : droppable(before.host);
  if (level === 1) return cache;
  const pool = poolOf(before, null);
  return cache + slabAndPools(before.host, pool) + pool.pools;
}

/** Dirty pages cannot be dropped; sync writes them. It gets a limit: pages that it writes later stay cached. */
async function syncAll(system: System, limitMs: number): Promise<NonNullable<DropReport['sync']>> {
  const started = performance.now();
  const synced = await system.binding.syncAll(limitMs);
  if (!isFailure(synced)) return { durationMs: synced.durationMs, finished: true };
  if (synced.name !== 'TIMEOUT') throw toUmaError(synced);
  return { durationMs: performance.now() - started, finished: false };
}

/** Change of the bytes that the GPU can allocate; null: no unified device. */
function allocatableChange(before: Snapshot, after: Snapshot): DropReport['nextAllocation'] {
  const [from, to] = [unifiedDevice(before)?.allocatable, unifiedDevice(after)?.allocatable];
  if (from === undefined || to === undefined) return null;
  return {
    immediate: difference(from.immediate, to.immediate),
    afterReclaim: difference(from.afterReclaim, to.afterReclaim),
  };
}
