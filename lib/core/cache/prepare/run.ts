/** `prepare`: frees memory step by step before a model is loaded, and stops as soon as enough is available. */

import { formatBoth } from '../../../base/format.ts';
import { checkOptions } from '../../../base/options.ts';
import type { PrepareReport, PrepareStep, Snapshot } from '../../../types/index.ts';
import { checkBelowTotal } from '../../memory/floor.ts';
import { NOT_NOW, refusalOf } from '../../memory/judge.ts';
import { type CheckedPrepareOptions, PREPARE, type PrepareOptions } from '../options.ts';
import { difference, receipt, snapshotCounters } from '../receipt.ts';
import type { System } from '../system.ts';
import { immediateNow, type Pool, poolOf } from './pool.ts';
import { type FreeingStep, STEPS, type StepContext, skippedStep } from './steps.ts';
import { unreachableReason, verdictOf } from './verdict.ts';

export async function prepareFor(system: System, given: PrepareOptions): Promise<PrepareReport> {
  const options = checkOptions('prepare()', given, PREPARE);
  const started = performance.now();
  // The start of a program is tried if nothing of the trial stays.
  const before = await system.takeSnapshot('needed');
  checkBelowTotal('floorBytes (--floor)', options.floorBytes, before.host.total);
  const pool = poolOf(before, options.floorBytes);
  const preparation = new Preparation(system, options, before, pool);
  const fragmented = before.judgement.findings.find(({ id }) => id === 'fragmentation')?.summary ?? null;
  const refused = whyRefused(before) ?? unreachableReason(pool, options.bytes, fragmented);
  for (const step of STEPS) {
    options.signal?.throwIfAborted();
    if (refused !== null) preparation.add(skippedStep(step, 'would not help: see the verdict'));
    else if (!step.isNeeded(preparation)) preparation.add(skippedStep(step, step.skipReason(preparation)));
    else await preparation.run(step);
  }
  const after = preparation.snapshot;
  return {
    schema: 'umaprobe/prepare/1',
    at: before.at,
    simulated: system.simulated,
    dryRun: options.dryRun,
    bytes: options.bytes,
    ...verdictOf({
      refused: refused ?? whyRefused(after),
      planned: preparation.steps.some(({ state }) => state === 'planned'),
      bytes: options.bytes,
      pool: preparation.pool,
      notPermitted: preparation.refused,
    }),
    pool: pool.kind,
    sources: preparation.sources,
    steps: preparation.steps,
    before: { immediate: pool.immediate, afterReclaim: pool.afterReclaim },
    after: { immediate: preparation.pool.immediate, afterReclaim: preparation.pool.afterReclaim },
    floor: pool.reserve.floor,
    reserveBytes: pool.reserve.bytes,
    receipt: receipt(snapshotCounters(before), snapshotCounters(after)),
    durationMs: performance.now() - started,
  };
}

/** Returns why nothing should be loaded now, whatever is free; null: something may be. */
function whyRefused({ judgement }: Snapshot): string | null {
  const refusal = refusalOf(judgement);
  return refusal === undefined ? null : `${NOT_NOW}${refusal.summary}`;
}

/** The state of a preparation, and the steps made so far. */
class Preparation implements StepContext {
  readonly system: System;
  readonly options: CheckedPrepareOptions;
  readonly need: number;
  readonly steps: PrepareStep[];
  readonly sources: PrepareReport['sources'] = [];
  snapshot: Snapshot;
  pool: Pool;
  plannedBytes = 0;
  /** The message of the first step that was not permitted. */
  refused: string | null = null;

  constructor(system: System, options: CheckedPrepareOptions, before: Snapshot, pool: Pool) {
    this.system = system;
    this.options = options;
    this.need = options.bytes + pool.reserve.bytes;
    this.snapshot = before;
    this.pool = pool;
    const { immediate, kind, lists, pools } = pool;
    this.steps = [
      {
        action: 'measure',
        level: null,
        state: 'complete',
        reason:
          kind === 'unified'
            ? `${formatBoth(immediate)} are available at once in the pool that CPU and GPU share`
            : `${formatBoth(immediate)} of the host are free; no GPU here shares that memory, so page cache takes nothing from a GPU`,
        immediateBytes: immediate,
        gainedBytes: null,
        durationMs: before.durationMs,
      },
    ];
    if (immediate === null) return;
    this.sources.push({ label: 'free', bytes: immediate - pools - lists });
    if (lists > 0) this.sources.push({ label: 'free pages in the processors’ lists', bytes: lists });
    if (pools > 0) this.sources.push({ label: 'driver pools, which the next CUDA program uses first', bytes: pools });
  }

  isEnough(): boolean {
    return this.pool.immediate !== null && this.pool.immediate >= this.need;
  }

  async isEnoughNow(): Promise<boolean> {
    const { kind, lists, pools } = this.pool;
    const free = immediateNow(kind, await this.system.host());
    return free !== null && free + lists + pools >= this.need;
  }

  add(step: PrepareStep): void {
    this.steps.push(step);
  }

  async run(step: FreeingStep): Promise<void> {
    const started = performance.now();
    const { state, reason, expectedBytes, refused } = await step.run(this);
    this.refused ??= refused ?? null;
    if (state === 'skipped') {
      this.add(skippedStep(step, reason));
      return;
    }
    const immediateBefore = this.pool.immediate;
    if (state === 'planned') this.#predict(expectedBytes ?? 0);
    else {
      this.snapshot = await this.system.takeSnapshot();
      this.pool = poolOf(this.snapshot, this.options.floorBytes);
    }
    const gainedBytes = difference(immediateBefore, this.pool.immediate);
    if (gainedBytes !== null && gainedBytes > 0) this.sources.push({ label: step.source, bytes: gainedBytes });
    this.add({
      action: step.action,
      level: step.level,
      state,
      reason,
      immediateBytes: this.pool.immediate,
      gainedBytes,
      durationMs: state === 'planned' ? null : performance.now() - started,
    });
  }

  /** Dry run: adds the expected bytes to the pool, up to the most that can become available. */
  #predict(bytes: number): void {
    const { afterReclaim, hidden, immediate } = this.pool;
    if (immediate === null) return;
    const maximum = Math.max(immediate, (afterReclaim ?? immediate + bytes) + hidden);
    this.pool = { ...this.pool, immediate: Math.min(immediate + bytes, maximum) };
    this.plannedBytes += bytes;
  }
}
