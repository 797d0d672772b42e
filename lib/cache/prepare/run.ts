/** The one call before a model is loaded: gives memory back step by step, and stops as soon as there is enough. */

import { formatBoth } from '../../base/format.ts';
import { fragmentation } from '../../memory/contiguity.ts';
import type { PrepareReport, PrepareStep, Snapshot } from '../../types/index.ts';
import { countedOf, difference, receipt } from '../receipt.ts';
import type { System } from '../system.ts';
import { immediateNow, type Pool, poolOf } from './pool.ts';
import { STEPS, type StepTools, skipped } from './steps.ts';
import { hopeless, verdictOf } from './verdict.ts';

export interface CheckedPrepare {
  bytes: number;
  paths: readonly string[] | undefined;
  dryRun: boolean;
  /** null: the default for this machine. */
  floor: number | null;
  sudo: boolean;
  signal: AbortSignal | undefined;
}

export async function prepareFor(machine: System, options: CheckedPrepare): Promise<PrepareReport> {
  const started = performance.now();
  const before = await machine.takeSnapshot();
  const { floorFor } = await import('../../memory/floor.ts');
  const pool = poolOf(before);
  // What is prepared is the host's memory, on every machine: the floor of what takes from it.
  const floor = floorFor(options.floor, { total: pool.total, model: 'unified' }, ['device']) ?? { bytes: 0, from: '' };
  const run = new Preparation(machine, options, before, options.bytes + floor.bytes);
  const never = hopeless(pool, options.bytes, floor.bytes);
  for (const step of STEPS) {
    options.signal?.throwIfAborted();
    if (never !== null) run.add(skipped(step, 'would not help: see the verdict'));
    else if (!step.needed(run)) run.add(skipped(step, step.otherwise(run)));
    else await run.take(step);
  }
  const after = run.now;
  return {
    schema: 'umaprobe/prepare/1',
    at: before.at,
    simulated: machine.simulated,
    dryRun: options.dryRun,
    askedBytes: options.bytes,
    ...verdictOf({
      never,
      dryRun: options.dryRun,
      bytes: options.bytes,
      floor: floor.bytes,
      pool: run.pool,
      fragmentation: fragmentation(after),
      refused: run.refused,
    }),
    pool: pool.kind,
    sources: run.sources,
    steps: run.steps,
    before: { immediate: pool.immediate, afterReclaim: pool.afterReclaim },
    after: { immediate: run.pool.immediate, afterReclaim: run.pool.afterReclaim },
    floor,
    receipt: receipt(countedOf(before), countedOf(after)),
    durationMs: performance.now() - started,
  };
}

/** Where a preparation stands: the last reading, or in a dry run what is expected. */
export class Preparation implements StepTools {
  readonly machine: System;
  readonly options: CheckedPrepare;
  readonly need: number;
  readonly steps: PrepareStep[];
  readonly sources: PrepareReport['sources'] = [];
  now: Snapshot;
  pool: Pool;
  /** Dry run: page cache that is spoken for by an earlier step. */
  plannedBytes = 0;
  /** What the first step that was not allowed said. */
  refused: string | null = null;

  constructor(machine: System, options: CheckedPrepare, before: Snapshot, need: number) {
    this.machine = machine;
    this.options = options;
    this.need = need;
    this.now = before;
    this.pool = poolOf(before);
    const { immediate, pools } = this.pool;
    this.steps = [
      {
        action: 'measure',
        level: null,
        state: 'done',
        reason:
          this.pool.kind === 'unified'
            ? `${formatBoth(immediate)} can be had at once of the one pool that CPU and GPU share`
            : `${formatBoth(immediate)} of the host are free; no GPU here shares that memory, so page cache takes nothing from one`,
        immediateBytes: immediate,
        gainedBytes: null,
        durationMs: before.durationMs,
      },
    ];
    if (immediate === null || immediate < pools) return;
    this.sources.push({ label: 'free', bytes: immediate - pools });
    if (pools > 0) this.sources.push({ label: 'driver pools, which the next CUDA program has first', bytes: pools });
  }

  enough(): boolean {
    return this.pool.immediate !== null && this.pool.immediate >= this.need;
  }

  /** Asked in the middle of an eviction, of a fresh /proc/meminfo. */
  enoughNow(): boolean {
    const immediate = immediateNow(this.pool.kind, this.pool.pools, this.machine.host());
    return immediate !== null && immediate >= this.need;
  }

  add(step: PrepareStep): void {
    this.steps.push(step);
  }

  async take(step: (typeof STEPS)[number]): Promise<void> {
    const started = performance.now();
    const { state, reason, expected, refused } = await step.run(this);
    this.refused ??= refused ?? null;
    const then = this.pool.immediate;
    if (state === 'planned') this.#expect(expected ?? 0);
    else if (state !== 'skipped') {
      this.now = await this.machine.takeSnapshot();
      this.pool = poolOf(this.now);
    }
    const gained = state === 'skipped' ? null : difference(then, this.pool.immediate);
    if (gained !== null && gained > 0) this.sources.push({ label: step.source, bytes: gained });
    this.add({
      action: step.action,
      level: step.level,
      state,
      reason,
      immediateBytes: state === 'skipped' ? null : this.pool.immediate,
      gainedBytes: gained,
      durationMs: state === 'planned' || state === 'skipped' ? null : performance.now() - started,
    });
  }

  #expect(bytes: number): void {
    const { immediate, afterReclaim, hidden } = this.pool;
    if (immediate === null) return;
    // Nothing gives more than the kernel itself holds to be available.
    const most = Math.max(immediate, (afterReclaim ?? immediate + bytes) + hidden);
    this.pool = { ...this.pool, immediate: Math.min(immediate + bytes, most) };
    this.plannedBytes += bytes;
  }
}
