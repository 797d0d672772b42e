/** Dropping caches, with a receipt. */
import { toUmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { unifiedDevice } from '../memory/headroom.ts';
import { refuseUnderPressure } from '../memory/pressure.ts';
import type { DropOptions, DropReport, Snapshot } from '../types/index.ts';
import { serverWarnings } from './mapped-models.ts';
import { countedOf, difference, receipt } from './receipt.ts';
import { mustBeAllowed, writeSysctl } from './sysctl.ts';
import type { System } from './system.ts';

export const MEANING: Readonly<Record<1 | 2 | 3, string>> = {
  1: 'page cache: clean pages of files that nobody has mapped. MemFree rises, MemAvailable hardly moves',
  2: "slab and every shrinker (inodes, directory entries, and from driver 590 on the GPU driver's pools of freed memory); no page cache",
  3: "page cache, slab and every shrinker, hence from driver 590 on also the GPU driver's pools of freed memory",
};

export type CheckedDrop = Required<DropOptions>;

export async function drop(machine: System, options: CheckedDrop): Promise<DropReport> {
  const { level, force, sudo } = options;
  const started = performance.now();
  const knob = { name: 'drop_caches', level } as const;
  await mustBeAllowed(machine, knob, sudo);
  const before = await machine.takeSnapshot();
  if (!force) refuseUnderPressure(before, 'cache drop');
  // Level 2 leaves the page cache alone, and with it what servers have mapped.
  const warnings = level === 2 ? [] : await serverWarnings(machine);
  const sync = options.sync && level !== 2 ? await syncAll(machine, options.syncLimitMs) : null;
  if (sync?.finished === false)
    warnings.push(
      `sync had not finished after its limit of ${options.syncLimitMs} ms: what was still dirty stays; nothing is lost`,
    );
  const { by, durationMs: dropMs } = await writeSysctl(machine, knob, sudo);
  const after = await machine.takeSnapshot();
  return {
    schema: 'umaprobe/cache-drop/1',
    at: before.at,
    simulated: machine.simulated,
    level,
    meaning: MEANING[level],
    by,
    sync,
    dropMs,
    receipt: receipt(countedOf(before), countedOf(after)),
    nextAllocation: gain(before, after),
    warnings,
    durationMs: performance.now() - started,
  };
}

/** Dirty pages cannot be dropped; sync writes them. It has no bound of its own, so it gets one: what is late stays cached. */
async function syncAll(machine: System, limitMs: number): Promise<NonNullable<DropReport['sync']>> {
  const started = performance.now();
  const done = await machine.binding.syncAll(limitMs);
  if (!isFailure(done)) return { durationMs: done.durationMs, finished: true };
  if (done.name !== 'TIMEOUT') throw toUmaError(done);
  return { durationMs: performance.now() - started, finished: false };
}

/** What a next allocation on the GPU can have now more than before. */
function gain(before: Snapshot, after: Snapshot): DropReport['nextAllocation'] {
  const [then, now] = [unifiedDevice(before)?.allocatable, unifiedDevice(after)?.allocatable];
  if (then === undefined || now === undefined) return null;
  return {
    immediate: difference(then.immediate, now.immediate),
    afterReclaim: difference(then.afterReclaim, now.afterReclaim),
  };
}
