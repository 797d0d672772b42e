/** The steps of `prepare`, the least disruptive first. Each knows whether it is needed, and makes or plans itself. */

import { UmaError } from '../../../base/errors.ts';
import { fileCount, formatBoth, formatBytes, MiB } from '../../../base/format.ts';
import { SYNC_LIMIT_MS } from '../../../base/limits.ts';
import type { PrepareStep, Snapshot } from '../../../types/index.ts';
import { blockUse } from '../../memory/contiguity.ts';
import { droppable } from '../../memory/droppable.ts';
import { unifiedDevice } from '../../memory/headroom.ts';
import { whyNotDrop } from '../../memory/pressure.ts';
import { dropNow } from '../drop.ts';
import { evictUntil } from '../evict.ts';
import type { CheckedPrepareOptions } from '../options.ts';
import type { Sysctl } from '../sysctl.ts';
import { assertMayWrite, writeSysctl } from '../sysctl-write.ts';
import type { System } from '../system.ts';
import { findEvictable } from './evictable.ts';
import { type Pool, slabAndPools } from './pool.ts';

/** Freeing less than this is not worth the disturbance. */
const MIN_GAIN = 64 * MiB;

const ENOUGH = 'not needed: enough memory is available';

/** The state of the preparation that a step works with. */
export interface StepContext {
  readonly system: System;
  readonly options: CheckedPrepareOptions;
  /** The last reading; in a dry run the first one. */
  readonly snapshot: Snapshot;
  /** Pool of the last reading; in a dry run the prediction. */
  readonly pool: Pool;
  /** Bytes that must be available at the end. */
  readonly need: number;
  /** Dry run: page cache that earlier steps would free. */
  readonly plannedBytes: number;
  /** True if `pool` has enough. */
  isEnough(): boolean;
  /** The same from a fresh /proc/meminfo, for use during an eviction. */
  isEnoughNow(): Promise<boolean>;
}

export interface StepResult {
  state: PrepareStep['state'];
  reason: string;
  /** Dry run: bytes that the step is expected to free. */
  expectedBytes?: number;
  /** Set if this process may not: how the step can be made anyway. */
  refused?: string;
}

export interface FreeingStep {
  action: PrepareStep['action'];
  level: PrepareStep['level'];
  /** The label of its gain among the sources. */
  source: string;
  isNeeded(context: StepContext): boolean;
  /** Reason why it is not needed. */
  skipReason(context: StepContext): string;
  run(context: StepContext): Promise<StepResult>;
}

const EVICT: FreeingStep = {
  action: 'evict',
  level: null,
  source: 'unused model files, evicted from the page cache',
  isNeeded: (context) => !context.isEnough() && context.system.simulated === null,
  skipReason: (context) =>
    context.isEnough() ? ENOUGH : 'a simulated machine has a page cache but no files that could be evicted',
  async run(context) {
    const { system, options } = context;
    const { signal } = options;
    const { bytes, mappedBytes, mappedFiles, paths, unseenFiles } = await findEvictable(system, options.paths, {
      signal,
    });
    signal?.throwIfAborted();
    const unseen =
      unseenFiles === 0
        ? ''
        : `; whether ${fileCount(unseenFiles)} of other users are cached is not visible to this user (root sees it)`;
    const inUse =
      (mappedFiles === 0 ? '' : `; ${mappedFiles} files (${formatBytes(mappedBytes)}) are in use and stay`) + unseen;
    if (paths.length === 0) {
      const which = unseenFiles === 0 ? 'no unused model file is cached' : 'no unused model file is seen in the cache';
      return { state: 'skipped', reason: which + inUse };
    }
    const files = `${paths.length} unused model files, ${formatBoth(bytes)} cached and clean${inUse}`;
    if (options.dryRun) return { state: 'planned', reason: files, expectedBytes: bytes };
    const evictedBytes = await evictUntil(system, paths, { signal, enough: () => context.isEnoughNow() });
    return { state: 'complete', reason: `${files}; ${formatBoth(evictedBytes)} evicted` };
  },
};

const DROP_PAGE_CACHE: FreeingStep = {
  action: 'drop',
  level: 1,
  source: 'page cache, dropped (level 1)',
  isNeeded: (context) => !context.isEnough() && pageCacheBytes(context) >= MIN_GAIN,
  skipReason: (context) =>
    context.isEnough() ? ENOUGH : `only ${formatBytes(pageCacheBytes(context))} of page cache can be dropped`,
  run: (context) => dropLevel(context, 1, pageCacheBytes(context), 'clean page cache that no process has mapped'),
};

const DROP_SLAB_AND_POOLS: FreeingStep = {
  action: 'drop',
  level: 2,
  source: 'slab and driver pools, dropped (level 2)',
  isNeeded: (context) => isHiddenInPools(context) || (!context.isEnough() && slabAndPoolBytes(context) >= MIN_GAIN),
  skipReason: (context) =>
    context.isEnough()
      ? ENOUGH
      : `only ${formatBytes(slabAndPoolBytes(context))} of slab and driver pools are expected to be freed`,
  run(context) {
    const contents = isHiddenInPools(context)
      ? `${formatBoth(context.pool.pools)} in the driver’s pools: a CUDA program can use them, but checks before a start read the kernel’s counters, which do not contain them`
      : 'slab, and driver pools that cannot be read';
    return dropLevel(context, 2, slabAndPoolBytes(context), contents);
  },
};

const COMPACT: FreeingStep = {
  action: 'compact',
  level: null,
  source: 'compacted free memory',
  isNeeded: (context) => context.isEnough() && lacksLargeBlocks(context),
  skipReason: (context) => {
    if (!context.isEnough()) return 'of no use until enough memory is free';
    return largeBytes(context.snapshot) === null
      ? 'fragmentation matters only for a GPU that shares the host’s memory'
      : 'not needed: free memory is in large enough blocks';
  },
  run: (context) =>
    ifPermitted(context, { name: 'compact_memory' }, async () => {
      const { snapshot, options, system } = context;
      const reason = `${formatBytes(largeBytes(snapshot))} of free memory are in blocks of 2 MiB or more, which GPU allocations take`;
      if (options.dryRun) return { state: 'planned', reason, expectedBytes: 0 };
      await writeSysctl(system, { name: 'compact_memory' }, options.sudo);
      return { state: 'complete', reason };
    }),
};

export const STEPS: readonly FreeingStep[] = [EVICT, DROP_PAGE_CACHE, DROP_SLAB_AND_POOLS, COMPACT];

export function skippedStep({ action, level }: FreeingStep, reason: string): PrepareStep {
  return { action, level, state: 'skipped', reason, immediateBytes: null, gainedBytes: null, durationMs: null };
}

function pageCacheBytes({ plannedBytes, snapshot }: StepContext): number {
  return Math.max(0, droppable(snapshot.host) - plannedBytes);
}

function slabAndPoolBytes({ pool, snapshot }: StepContext): number {
  return slabAndPools(snapshot.host, pool);
}

/**
 * Enough memory is available, but only with the driver's pools, which no counter of the kernel contains. vLLM refused
 * to start with 66 of 122 GiB in that state (GB10), and freeing 100 GiB of pools took 0.66 s.
 */
function isHiddenInPools({ need, pool }: StepContext): boolean {
  return pool.pools >= MIN_GAIN && pool.immediate !== null && pool.immediate - pool.pools < need;
}

/** Driver pools consist of blocks of 2 MiB. Planned bytes of a dry run count as large blocks, too. */
function lacksLargeBlocks({ options, plannedBytes, pool, snapshot }: StepContext): boolean {
  const large = largeBytes(snapshot);
  return large !== null && large + pool.pools + plannedBytes < options.bytes;
}

/** Free memory in blocks of 2 MiB or more; null: not known, or no GPU shares the host's memory. */
function largeBytes(snapshot: Snapshot): number | null {
  const { contiguity, host } = snapshot;
  return contiguity === null || unifiedDevice(snapshot) === undefined ? null : blockUse(host, contiguity).large;
}

function dropLevel(context: StepContext, level: 1 | 2, expectedBytes: number, contents: string): Promise<StepResult> {
  return ifPermitted(context, { name: 'drop_caches', level }, async () => {
    const { system, options, snapshot } = context;
    const pressed = whyNotDrop(snapshot);
    if (pressed !== null)
      return {
        state: 'skipped',
        reason: `not under pressure (${pressed}): dropped pages would be read again at once`,
      };
    if (options.dryRun)
      return { state: 'planned', reason: `${contents}; about ${formatBoth(expectedBytes)}`, expectedBytes };
    const { signal, sudo } = options;
    const write = { sync: true, syncLimitMs: SYNC_LIMIT_MS, sudo, force: true, dryRun: false };
    const report = await dropNow(system, { level, ...write, signal });
    return { state: 'complete', reason: [contents, ...report.warnings].join('; ') };
  });
}

/** Runs a step that needs root. If it is not permitted, it is skipped with the command to run; others go on. */
async function ifPermitted(
  { system, options }: StepContext,
  sysctl: Sysctl,
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  try {
    await assertMayWrite(system, sysctl, options.sudo);
    return await run();
  } catch (error) {
    if (!(error instanceof UmaError)) throw error;
    const { code, message } = error;
    return code === 'ERR_UMA_PERMISSION'
      ? { state: 'skipped', reason: message, refused: message }
      : { state: 'failed', reason: message };
  }
}
