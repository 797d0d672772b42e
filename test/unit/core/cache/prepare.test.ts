/** `prepare`: which steps are made, in which order, and the verdict. Writes to no kernel. */
import { describe, expect, it } from 'vitest';
import { poolOf, slabAndPools } from '../../../../lib/core/cache/prepare/pool.ts';
import { prepareFor } from '../../../../lib/core/cache/prepare/run.ts';
import { unreachableReason } from '../../../../lib/core/cache/prepare/verdict.ts';
import { droppable } from '../../../../lib/core/memory/droppable.ts';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { type FakeOptions, fakeMachine } from '../../../support/fake-system.ts';
import { changed, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const machineOf = (host: NonNullable<MachineFixture['host']>, more: MachineFixture = {}): Snapshot =>
  snapshotOf({ simulated: 'gb10-cached', host: { mapped: 0, dirty: 0, ...host }, ...more });
const CACHED = machineOf({ free: 7 * GiB, available: 112 * GiB, cached: 106 * GiB });
const DROPPED = machineOf({ free: 111 * GiB, available: 112 * GiB, cached: 2 * GiB });
const OPTIONS = { bytes: 100 * GiB, dryRun: false, floorBytes: 8 * GiB, sudo: false };

const prepared = async (fake: FakeOptions, options: Partial<typeof OPTIONS> = {}) => {
  const { machine, done } = fakeMachine({ simulated: 'gb10-cached', ...fake });
  const report = await prepareFor(machine, { ...OPTIONS, ...options });
  return { report, done, states: report.steps.map(({ action, level, state }) => `${action}${level ?? ''} ${state}`) };
};

describe('prepare', () => {
  it('does nothing if enough is available', async () => {
    const { report, done, states } = await prepared({ looks: [DROPPED] });
    expect(report.verdict).toBe('enough');
    expect(done).toEqual([]);
    expect(states).toEqual(['measure complete', 'evict skipped', 'drop1 skipped', 'drop2 skipped', 'compact skipped']);
  });

  it('drops page cache and stops there', async () => {
    const { report, done } = await prepared({ looks: [CACHED, CACHED, DROPPED] });
    expect(report.verdict).toBe('enough');
    expect(done).toEqual(['sync', 'write /proc/sys/vm/drop_caches 1']);
    expect(report.sources).toEqual([
      { label: 'free', bytes: 7 * GiB },
      { label: 'page cache, dropped (level 1)', bytes: 104 * GiB },
    ]);
    expect(report.sources.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(report.after.immediate);
  });

  it('makes room for the floor, too', async () => {
    const almost = machineOf({ free: 104 * GiB, available: 112 * GiB, cached: 9 * GiB });
    const { done, report } = await prepared({ looks: [almost, almost, DROPPED] });
    expect(done).toContain('write /proc/sys/vm/drop_caches 1');
    expect(report.verdict).toBe('enough');
  });

  it('expects no more of a step than can become available', async () => {
    const pinned = machineOf({ free: 7 * GiB, available: 60 * GiB, cached: 106 * GiB });
    const { report } = await prepared({ looks: [pinned] }, { dryRun: true, bytes: 50 * GiB });
    expect(report.after.immediate).toBeLessThanOrEqual(60 * GiB);
    expect(report.after.immediate).toBeGreaterThan(58 * GiB);
  });

  it('counts half of the slab that may be reclaimed, and pools that cannot be read', () => {
    const pool = { ...poolOf(DROPPED, null), hidden: GiB };
    expect(slabAndPools({ ...DROPPED.host, sReclaimable: 4 * GiB }, pool)).toBe(3 * GiB);
    expect(slabAndPools({ ...DROPPED.host, sReclaimable: null }, pool)).toBe(GiB);
  });

  it('goes on to level 2 for pools that cannot be read', async () => {
    const pools = { parameter: 529, bytes: null };
    const hidden = machineOf({ free: 50 * GiB, available: 52 * GiB, cached: 2 * GiB }, { pools });
    const { done, report } = await prepared({ looks: [hidden, hidden, hidden, hidden, DROPPED] });
    expect(done).toEqual(['sync', 'write /proc/sys/vm/drop_caches 1', 'write /proc/sys/vm/drop_caches 2']);
    expect(report.verdict).toBe('enough');
  });

  it('a dry run reports its expectation, and changes nothing', async () => {
    const { report, done, states } = await prepared({ looks: [CACHED] }, { dryRun: true });
    expect(done).toEqual([]);
    expect(report.verdict).toBe('planned');
    expect(states).toContain('drop1 planned');
    expect(report.steps[2]?.gainedBytes).toBeGreaterThan(100 * GiB);
    expect(report.after.immediate).toBeGreaterThanOrEqual(108 * GiB);
  });

  it('a dry run plans nothing where all steps are skipped', async () => {
    const { report, states } = await prepared({ looks: [DROPPED] }, { dryRun: true });
    expect(states.filter((state) => state.endsWith(' planned'))).toEqual([]);
    expect(report.verdict).toBe('enough');
  });

  it('without permission it skips the step, gives the command, and says that the kernel would reclaim', async () => {
    const { report, done } = await prepared(
      { looks: [CACHED], mayWrite: 'EACCES', uid: 1000, simulated: null },
      { dryRun: false },
    );
    expect(done).toEqual([]);
    expect(report.verdict).toBe('after-reclaim');
    expect(report.reason).toMatch(/not permitted: .*sysctl vm\.drop_caches=1/);
  });

  it('does not drop under pressure', async () => {
    const { report, done } = await prepared({
      looks: [machineOf({ free: 7 * GiB, available: 112 * GiB, cached: 106 * GiB }, { some: 30 })],
    });
    expect(done).toEqual([]);
    expect(report.steps[2]?.reason).toMatch(/not under pressure/);
  });

  it('compacts memory that is fragmented, and says that only root sees how much of it can be joined', async () => {
    const pieces = machineOf({ free: 112 * GiB, available: 113 * GiB }, { largeShare: 0.01 });
    const { report, done } = await prepared({ looks: [pieces] });
    expect(done).toEqual(['write /proc/sys/vm/compact_memory 1']);
    expect(report).toMatchObject({
      verdict: 'not-enough',
      reason: expect.stringMatching(
        / can be loaded for certain \(free blocks of 2 MiB.*; up to 10\d.* may be, but .*only root/,
      ),
    });
    const helped = await prepared({ looks: [pieces, DROPPED] });
    expect(helped.report.verdict).toBe('enough');
  });

  it('does nothing where compaction cannot join enough of it', async () => {
    const stuck = machineOf({ free: 112 * GiB, available: 113 * GiB }, { largeShare: 0.5, movableShare: 0.5 });
    const { report, done } = await prepared({ looks: [stuck] });
    expect(done).toEqual([]);
    expect(report).toMatchObject({
      verdict: 'not-enough',
      reason: expect.stringMatching(
        /^100\.00 GiB .* are more than can be loaded: 8\d\.\d+ GiB .*\. Free memory is fragmented: .* compaction cannot join 28\.0/,
      ),
    });
  });

  it.each<[string, MachineFixture, RegExp]>([
    ['a stall', { full: 92 }, /^not now: No task could run .* this is how a freeze begins/],
    ['swap that is full', {}, /^not now: 16\.0 GiB .* swap/],
  ])('does nothing while the machine refuses every load: %s', async (_, more, reason) => {
    // Dropping page cache would make room.
    const host = { swapFree: 0, available: 38 * GiB, free: 5 * GiB, cached: 33 * GiB };
    const { report, states } = await prepared({ looks: [machineOf(host, more)] }, { bytes: 20 * GiB, dryRun: true });
    expect(states).toEqual(['measure complete', 'evict skipped', 'drop1 skipped', 'drop2 skipped', 'compact skipped']);
    expect(report.steps[2]?.reason).toBe('would not help: see the verdict');
    expect(report).toMatchObject({ verdict: 'not-enough', reason: expect.stringMatching(reason) });
  });

  it('does nothing in a spike, either, where enough is free', async () => {
    const { report } = await prepared({ looks: [machineOf({}, { full: 20 })] }, { bytes: 10 * GiB });
    expect(report).toMatchObject({ verdict: 'not-enough', reason: expect.stringMatching(/^not now: .* a spike/) });
  });

  it('refuses where no program can use the GPU, also one with memory of its own', async () => {
    const broken = changed(
      ({ libraries }) => {
        libraries.cuda = { ...libraries.cuda, state: 'missing', path: null, reason: 'not found' };
      },
      { model: 'discrete', simulated: 'x' },
    );
    expect(broken.judgement.mayLoad).toBe('not-now');
    const { report } = await prepared({ looks: [broken] }, { bytes: 10 * GiB });
    expect(report).toMatchObject({
      verdict: 'not-enough',
      reason: expect.stringMatching(/^not now: .*CUDA is not installed/),
    });
  });

  it('counts free pages in the lists of the processors, as a source of their own', async () => {
    const lists = machineOf({ free: 107 * GiB, available: 108 * GiB }, { kernel: { freeInCpuLists: 3 * GiB } });
    const { report } = await prepared({ looks: [lists] });
    expect(report).toMatchObject({ verdict: 'enough', before: { immediate: 110 * GiB } });
    expect(report.sources).toEqual([
      { label: 'free', bytes: 107 * GiB },
      { label: 'free pages in the processors’ lists', bytes: 3 * GiB },
    ]);
    const without = await prepared({ looks: [machineOf({ free: 107 * GiB, available: 108 * GiB })] });
    expect(without.report.verdict).not.toBe('enough');
  });

  it('refuses an impossible size at once, and does nothing', async () => {
    const { report, done, states } = await prepared({ looks: [CACHED] }, { bytes: 200 * GiB });
    expect(done).toEqual([]);
    expect(report).toMatchObject({
      verdict: 'not-enough',
      reason: expect.stringMatching(/more than this machine has at all/),
    });
    expect(states.slice(1).every((state) => state.endsWith('skipped'))).toBe(true);
    expect(unreachableReason(poolOf(CACHED, 8 * GiB), 108 * GiB, null)).toMatch(/without ending a program/);
    expect(unreachableReason(poolOf(CACHED, 8 * GiB), 100 * GiB, null)).toBeNull();
  });

  it('says that memory is fragmented only where that is what is missing', () => {
    const seen = 'Free memory is fragmented: most of it.';
    const pool = { ...poolOf(CACHED, 8 * GiB), safe: { low: GiB, high: GiB, from: '', between: null } };
    expect(unreachableReason(pool, 60 * GiB, seen)).toBe(
      `60.00 GiB (64.42 GB) are more than can be loaded: 1.00 GiB (1.07 GB). ${seen}`,
    );
    expect(unreachableReason(pool, 60 * GiB, null)).toMatch(/without ending a program/);
    expect(unreachableReason({ ...pool, afterReclaim: 60 * GiB }, 60 * GiB, seen)).toMatch(/without ending a program/);
  });

  it('with no GPU that shares it, it is about the memory of the host, and blocks do not matter', async () => {
    const host = machineOf({ free: 115 * GiB, available: 116 * GiB }, { model: 'discrete', largeShare: 0.01 });
    const { report, done } = await prepared({ looks: [host] });
    expect(done).toEqual([]);
    expect(report).toMatchObject({ pool: 'host', verdict: 'enough' });
    expect(report.steps[0]?.reason).toMatch(/no GPU here shares that memory/);
  });

  it('has a default floor for the machine', async () => {
    const { machine } = fakeMachine({ simulated: 'gb10-cached', looks: [DROPPED] });
    const report = await prepareFor(machine, { bytes: OPTIONS.bytes });
    expect(report.floor.bytes).toBeGreaterThan(8 * GiB);
    expect(report.floor.from).toMatch(/the larger of 8\.0 GiB and 7 % of MemTotal/);
  });
});

describe('droppable page cache', () => {
  it('is neither shared memory nor mapped nor dirty', () => {
    const host = machineOf({ cached: 100, shmem: 10, buffers: 5, mapped: 20, dirty: 3, writeback: 2 }).host;
    expect(droppable(host)).toBe(70);
    expect(droppable({ ...host, mapped: 1000 })).toBe(0);
  });
});
