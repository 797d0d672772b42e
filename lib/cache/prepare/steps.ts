/** The steps of `prepare`, the gentlest first: each says whether it is needed, and does it or tells what it would do. */
import { UmaError } from '../../base/errors.ts';
import { formatBoth, formatBytes, MiB } from '../../base/format.ts';
import { fragmentation } from '../../memory/contiguity.ts';
import { waitingPercent, waitingText } from '../../memory/pressure.ts';
import type { PrepareStep, Snapshot } from '../../types/index.ts';
import { drop } from '../drop.ts';
import { evictUntil } from '../evict.ts';
import { mustBeAllowed, writeSysctl } from '../sysctl.ts';
import type { System } from '../system.ts';
import { findEvictable } from './evictable.ts';
import { droppable, type Pool, slabAndPools } from './pool.ts';

const SYNC_LIMIT_MS = 60_000;
/** Less than this is not worth what it disturbs. */
const WORTH = 64 * MiB;

/** What a step may look at and use. */
export interface StepTools {
  readonly machine: System;
  readonly options: {
    bytes: number;
    paths: readonly string[] | undefined;
    dryRun: boolean;
    sudo: boolean;
    signal: AbortSignal | undefined;
  };
  readonly now: Snapshot;
  readonly pool: Pool;
  readonly need: number;
  readonly plannedBytes: number;
  enough(): boolean;
  enoughNow(): boolean;
}

export interface StepEnd {
  state: PrepareStep['state'];
  reason: string;
  /** Dry run: bytes that it is expected to give. */
  expected?: number;
  /** This process may not: how the step can be had all the same. */
  refused?: string;
}

export interface Step {
  action: PrepareStep['action'];
  level: PrepareStep['level'];
  /** What its gain is called among the sources. */
  source: string;
  needed(tools: StepTools): boolean;
  /** Why it is not. */
  otherwise(tools: StepTools): string;
  run(tools: StepTools): Promise<StepEnd>;
}

const THERE = 'not needed: there is enough';

const EVICT: Step = {
  action: 'evict',
  level: null,
  source: 'model files that nobody uses, evicted from the page cache',
  needed: (tools) => !tools.enough() && tools.machine.simulated === null,
  otherwise: (tools) =>
    tools.enough() ? THERE : 'a simulated machine has a page cache but no files that could be evicted one by one',
  async run(tools) {
    const { machine, options } = tools;
    const { signal } = options;
    const { bytes, mappedBytes, mappedFiles, paths } = await findEvictable(machine, options.paths, { signal });
    signal?.throwIfAborted();
    const inUse = mappedFiles === 0 ? '' : `; ${mappedFiles} files (${formatBytes(mappedBytes)}) are in use and stay`;
    if (paths.length === 0) return { state: 'skipped', reason: `no model file that nobody uses is cached${inUse}` };
    const words = `${paths.length} model files that nobody uses, ${formatBoth(bytes)} cached and clean${inUse}`;
    if (options.dryRun) return { state: 'planned', reason: words, expected: bytes };
    const evictedBytes = await evictUntil(machine, paths, { signal, enough: () => tools.enoughNow() });
    return { state: 'done', reason: `${words}; ${formatBoth(evictedBytes)} evicted` };
  },
};

const PAGE_CACHE: Step = {
  action: 'drop',
  level: 1,
  source: 'page cache, dropped (level 1)',
  needed: (tools) => !tools.enough() && pageCache(tools) >= WORTH,
  otherwise: (tools) =>
    tools.enough() ? THERE : `no more than ${formatBytes(pageCache(tools))} of page cache are left to drop`,
  run: (tools) => dropIf(tools, 1, pageCache(tools), 'clean page cache that nobody has mapped'),
};

const SLAB_AND_POOLS: Step = {
  action: 'drop',
  level: 2,
  source: 'slab and driver pools, dropped (level 2)',
  needed: (tools) => unseen(tools) || (!tools.enough() && slabAndPools(tools.now.host, tools.pool) >= WORTH),
  otherwise: (tools) =>
    tools.enough()
      ? THERE
      : `no more than ${formatBytes(slabAndPools(tools.now.host, tools.pool))} of slab and driver pools are to be expected`,
  run(tools) {
    const { now, pool } = tools;
    const words = unseen(tools)
      ? `${formatBoth(pool.pools)} in the driver’s pools: a CUDA program can have them, but checks before a start ask the kernel, which does not count them`
      : 'slab, and pools of the driver that cannot be read';
    return dropIf(tools, 2, slabAndPools(now.host, pool), words);
  },
};

function pageCache({ now, plannedBytes }: StepTools): number {
  return Math.max(0, droppable(now.host) - plannedBytes);
}

/**
 * Enough is there, but for whom asks the kernel it is not: pools are in none of its counters. vLLM refused to start with
 * 66 of 122 GiB in that state (gb10-facts), and giving 100 GiB back took 0.66 s.
 */
function unseen({ need, pool }: StepTools): boolean {
  return pool.pools >= WORTH && pool.immediate !== null && pool.immediate - pool.pools < need;
}

function dropIf(tools: StepTools, level: 1 | 2, expected: number, words: string): Promise<StepEnd> {
  return allowed(tools, { name: 'drop_caches', level }, async () => {
    const { machine, options, now } = tools;
    const percent = waitingPercent(now.pressure);
    if (percent !== null)
      return {
        state: 'skipped',
        reason: `not under pressure (${waitingText(percent)}): what is dropped now is read again at once`,
      };
    if (options.dryRun) return { state: 'planned', reason: `${words}; about ${formatBoth(expected)}`, expected };
    const { sudo } = options;
    const report = await drop(machine, { level, sync: true, syncLimitMs: SYNC_LIMIT_MS, sudo, force: true });
    return { state: 'done', reason: [words, ...report.warnings].join('; ') };
  });
}

const COMPACT: Step = {
  action: 'compact',
  level: null,
  source: 'free memory put together',
  needed: (tools) => tools.enough() && fewLargeBlocks(tools),
  otherwise: (tools) =>
    !tools.enough()
      ? 'of no use while there is not enough that is free'
      : fragmentation(tools.now) === null
        ? 'how free memory lies matters for a GPU that shares it only'
        : 'not needed: free memory lies in large enough blocks',
  run: (tools) =>
    allowed(tools, { name: 'compact_memory' }, async () => {
      const words = `${formatBytes(fragmentation(tools.now)?.large ?? null)} of free memory lie in blocks of 2 MiB or more, which GPU allocations take`;
      if (tools.options.dryRun) return { state: 'planned', reason: words, expected: 0 };
      await writeSysctl(tools.machine, { name: 'compact_memory' }, tools.options.sudo);
      return { state: 'done', reason: words };
    }),
};

/** Pools are blocks of 2 MiB, too. In a dry run nothing has been dropped yet: how it will lie afterwards nobody knows. */
function fewLargeBlocks({ now, options, pool, plannedBytes }: StepTools): boolean {
  const found = fragmentation(now);
  return found !== null && found.large + pool.pools + plannedBytes < options.bytes;
}

export const STEPS: readonly Step[] = [EVICT, PAGE_CACHE, SLAB_AND_POOLS, COMPACT];

export function skipped({ action, level }: Step, reason: string): PrepareStep {
  return { action, level, state: 'skipped', reason, immediateBytes: null, gainedBytes: null, durationMs: null };
}

/** A step that takes root: who may not is told what to type, and the other steps go on. */
async function allowed(
  { machine, options }: StepTools,
  knob: Parameters<typeof mustBeAllowed>[1],
  run: () => Promise<StepEnd>,
): Promise<StepEnd> {
  try {
    await mustBeAllowed(machine, knob, options.sudo);
    return await run();
  } catch (error) {
    if (!(error instanceof UmaError)) throw error;
    const { code, message } = error;
    return code === 'ERR_UMA_PERMISSION'
      ? { state: 'skipped', reason: message, refused: message }
      : { state: 'failed', reason: message };
  }
}
