import { describe, expect, it } from 'vitest';
import { CHECKS, matching } from '../../lib/doctor/checks.ts';
import type { Check, CheckContext, CheckStatus } from '../../lib/doctor/types.ts';
import { runChecks } from '../../lib/doctor.ts';
import type { Snapshot } from '../../lib/types.ts';
import { GiB, type MachineFixture, snapshotOf } from './cli-fixtures.ts';

function contextOf(snapshot: Snapshot, overrides: Partial<CheckContext> = {}): CheckContext {
  return {
    snapshot, readKernelFile: () => null, listFiles: async () => [], mayUse: async () => true, isRoot: false, env: {}, ...overrides,
  };
}

async function check(id: string, snapshot: Snapshot, overrides: Partial<CheckContext> = {}) {
  const found = CHECKS.filter((candidate) => candidate.id === id);
  const [result] = await runChecks(found, contextOf(snapshot, overrides));
  if (result === undefined) throw new Error(`no check ${id}`);
  return result;
}

function changed(change: (snapshot: Snapshot) => void, fixture: MachineFixture = {}): Snapshot {
  const snapshot = snapshotOf(fixture);
  change(snapshot);
  return snapshot;
}

const LOADED = { processes: [{ pid: 7, name: 'vllm', gpuBytes: 60 * GiB }] };

const STORIES: [string, string, Snapshot, CheckStatus, RegExp][] = [
  ['library.cuda', 'loaded', snapshotOf(), 'pass', /answers/],
  ['library.cuda', 'missing', snapshotOf({ gpu: false }), 'fail', /not found/],
  ['library.cuda', 'unusable', changed((s) => { s.libraries.cuda = { ...s.libraries.cuda, state: 'unusable', reason: '35' }; }), 'fail', /cannot be used/],
  ['library.cuda', 'no context', changed((s) => { Object.assign(s.devices[0] ?? {}, { cuda: null, from: { cuda: 'ERR_UMA_OUT_OF_MEMORY: x' } }); }), 'warn', /no context/],
  ['library.cuda', 'context hangs', changed((s) => { Object.assign(s.devices[0] ?? {}, { cuda: null, from: { cuda: 'ERR_UMA_TIMEOUT: x' } }); }), 'fail', /hangs/],
  ['library.cuda', 'not asked', changed((s) => { Object.assign(s.devices[0] ?? {}, { cuda: null, from: { cuda: 'not read' } }); }), 'pass', /answers/],
  ['library.nvml', 'loaded', snapshotOf(), 'pass', /answers/],
  ['library.nvml', 'hangs', changed((s) => { s.libraries.nvml = { ...s.libraries.nvml, state: 'timeout', reason: 'x' }; }), 'fail', /hangs/],
  ['library.nvml', 'missing beside CUDA', changed((s) => { s.libraries.nvml = { ...s.libraries.nvml, state: 'missing', reason: 'x' }; }), 'warn', /though the GPU was/],
  ['driver.match', 'fits', snapshotOf(), 'pass', /supports/],
  ['driver.match', 'newer runtime', changed((s) => { s.libraries.cuda.version = '14.0'; }), 'fail', /newer than the driver/],
  ['driver.match', 'updated without reboot', changed((s) => { s.driver.version = '580.173.02'; }), 'fail', /without a reboot/],
  ['driver.match', 'nothing to compare', snapshotOf({ gpu: false }), 'skip', /no two versions/],
  ['permissions', 'no GPU', snapshotOf({ gpu: false }), 'skip', /no GPU/],
  ['permissions', 'simulated', snapshotOf({ simulated: 'gb10' }), 'pass', /simulated machine/],
  ['container', 'none', snapshotOf(), 'pass', /No memory limit/],
  ['container', 'limit', changed((s) => { if (s.cgroup) s.cgroup.limit = 8 * GiB; }), 'warn', /not charged/],
  ['container', 'foreign pids', snapshotOf({ processes: [{ pid: 9, name: null, gpuBytes: GiB }] }), 'warn', /PID namespace/],
  ['container', 'unreadable', changed((s) => { s.cgroup = null; }), 'skip', /cannot be read/],
  ['hugepages', 'none', snapshotOf(), 'pass', /None/],
  ['hugepages', 'reserved', snapshotOf({ host: { hugePagesTotal: 1024, hugePagesFree: 512, hugetlb: 2 * GiB } }), 'warn', /guidance 1\.0 GiB, llama\.cpp 1\.0 GiB/],
  ['hugepages', 'no such line', snapshotOf({ host: { hugePagesTotal: null } }), 'skip', /no huge pages/],
  ['swap', 'room', snapshotOf(), 'pass', /room/],
  ['swap', 'full', snapshotOf({ host: { swapFree: GiB / 2 } }), 'warn', /full/],
  ['swap', 'none', snapshotOf({ host: { swapTotal: 0, swapFree: 0 } }), 'pass', /none/],
  ['cma.phantom', 'none', snapshotOf({ host: { cmaTotal: GiB, cmaFree: GiB } }), 'pass', /does not exceed/],
  ['cma.phantom', 'kexec-handover', snapshotOf({ host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }), 'warn', /9\.3 GiB/],
  ['cma.phantom', 'no such line', snapshotOf({ host: { cmaTotal: null, cmaFree: null } }), 'skip', /does not say/],
  ['driver.pools', 'off', snapshotOf(), 'pass', /at once/],
  ['driver.pools', 'full, seen by root', snapshotOf({ host: { free: 50 * GiB, available: 52 * GiB }, pools: { parameter: 529, bytes: 60 * GiB } }), 'warn', /60\.0 GiB/],
  ['driver.pools', 'full, guessed', snapshotOf({ host: { free: 50 * GiB, available: 52 * GiB }, pools: { parameter: 529, bytes: null } }), 'warn', /up to 5\d\.\d GiB/],
  ['driver.pools', 'empty', snapshotOf({ pools: { parameter: 529, bytes: 0 } }), 'pass', /next to none/],
  ['driver.pools', 'discrete', snapshotOf({ model: 'discrete' }), 'skip', /shares the memory/],
  ['memory.unattributed', 'little', snapshotOf(), 'pass', /usually/],
  ['memory.unattributed', 'much', snapshotOf({ host: { free: 50 * GiB } }), 'fail', /no listed process/],
  ['memory.unattributed', 'pools', snapshotOf({ host: { free: 50 * GiB }, pools: { parameter: 529, bytes: null } }), 'warn', /driver keeps it/],
  ['memory.unattributed', 'a listed process', snapshotOf({ host: { free: 47 * GiB }, ...LOADED }), 'pass', /usually/],
  ['memory.unattributed', 'counted twice', snapshotOf({ host: { free: 118 * GiB } }), 'warn', /twice/],
  ['watermarks', 'default', snapshotOf(), 'pass', /little/],
  ['watermarks', 'raised', snapshotOf({ kernel: { minFree: 4 * GiB } }), 'warn', /lower by about 6\.0 GiB/],
  ['watermarks', 'unreadable', snapshotOf({ kernel: { minFree: null } }), 'skip', /cannot be read/],
  ['contiguity', 'ready', snapshotOf(), 'pass', /Ready/],
  ['contiguity', 'in pieces', snapshotOf({ largeShare: 0.04 }), 'warn', /in pieces/],
  ['contiguity', 'cached', snapshotOf({ host: { free: 3 * GiB, cached: 104 * GiB } }), 'warn', /page cache/],
  ['contiguity', 'too little', snapshotOf({ host: { available: 80 * GiB } }), 'warn', /Too little/],
  ['contiguity', 'loaded', snapshotOf({ host: { free: 47 * GiB, available: 50 * GiB }, ...LOADED }), 'skip', /idle machine/],
  ['pressure', 'none', snapshotOf(), 'pass', /Nobody/],
  ['pressure', 'some', snapshotOf({ some: 12 }), 'warn', /Tasks wait/],
  ['pressure', 'full', snapshotOf({ full: 11 }), 'fail', /freeze/],
  ['pressure', 'unreadable', changed((s) => { s.pressure = null; }), 'skip', /does not say/],
];

describe('checks', () => {
  it.each(STORIES)('%s: %s', async (id, _, snapshot, status, cause) => {
    const result = await check(id, snapshot);
    expect(result).toMatchObject({ status, cause: expect.stringMatching(cause) });
    expect(result.evidence).not.toBe('');
    if (status === 'pass') expect(result.remedy).toBeNull();
  });

  it('has a story for every check but the one that only reads a file', () => {
    const told = new Set(STORIES.map(([id]) => id));
    expect(CHECKS.map(({ id }) => id).filter((id) => !told.has(id))).toEqual(['uvm.oversubscription']);
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });

  it('tells the smallest machine by the same shares', async () => {
    const orin = { host: { total: 62 * GiB, free: 56 * GiB, available: 57 * GiB } };
    expect((await check('contiguity', snapshotOf(orin))).status).toBe('pass');
    expect((await check('contiguity', snapshotOf({ host: { total: 8 * GiB } }))).status).toBe('skip');
  });

  it('counts large blocks of a kernel whose orders end at 4 MiB', async () => {
    const snapshot = snapshotOf();
    snapshot.contiguity = [{ order: 10, blockBytes: 4 * 2 ** 20, freeBlocks: 1600 }];
    expect(await check('contiguity', snapshot)).toMatchObject({ status: 'pass', evidence: expect.stringContaining('200 × 32 MiB in blocks of 4.0 MiB') });
    snapshot.contiguity = [{ order: 10, blockBytes: 4 * 2 ** 20, freeBlocks: 1599 }];
    expect((await check('contiguity', snapshot)).status).toBe('warn');
  });

  it('looks at the device nodes', async () => {
    const listFiles = async () => ['null', 'nvidia0', 'nvidiactl', 'nvidia-uvm', 'nvidia-caps'];
    const closed = await check('permissions', snapshotOf(), { listFiles, mayUse: async (path) => path !== '/dev/nvidia-uvm' });
    expect(closed).toMatchObject({ status: 'fail', evidence: '/dev/nvidia-uvm' });
    const open = await check('permissions', snapshotOf(), { listFiles });
    expect(open).toMatchObject({ status: 'pass', evidence: expect.stringContaining('/dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm; not root') });
    expect((await check('permissions', snapshotOf(), { listFiles, isRoot: true })).evidence).toContain('root: drop_caches');
  });

  it.each([['1\n', /default/], ['0\n', /OOM killer/]])('reads uvm_global_oversubscription %j', async (text, cause) => {
    expect(await check('uvm.oversubscription', snapshotOf(), { readKernelFile: () => text })).toMatchObject({ status: 'pass', cause: expect.stringMatching(cause) });
    expect((await check('uvm.oversubscription', snapshotOf())).status).toBe('skip');
  });
});

describe('running', () => {
  const quick: Check = { id: 'quick', title: 'quick', run: () => ({ status: 'pass', cause: 'a', evidence: 'b', remedy: null }) };

  it('answers for a check that hangs and lets the others be', async () => {
    const hanging: Check = { id: 'hanging', title: 'hanging', run: () => new Promise(() => undefined) };
    const started = performance.now();
    const results = await runChecks([hanging, quick], contextOf(snapshotOf()), 50);
    expect(performance.now() - started).toBeLessThan(1000);
    expect(results.map(({ id, status }) => [id, status])).toEqual([['hanging', 'fail'], ['quick', 'pass']]);
    expect(results[0]?.cause).toContain('did not end within 50 ms');
  });

  it('answers for a check that throws', async () => {
    const broken: Check = {
      id: 'broken', title: 'broken',
      run: () => {
        throw new Error('boom');
      },
    };
    const results = await runChecks([broken, quick], contextOf(snapshotOf()));
    expect(results[0]).toMatchObject({ status: 'fail', evidence: 'boom' });
    expect(results[1]?.status).toBe('pass');
  });
});

describe('naming checks', () => {
  it('takes ids and patterns', () => {
    expect([...matching(['library.*', 'swap']).ids]).toEqual(['library.cuda', 'library.nvml', 'swap']);
    expect(matching(['*']).ids.size).toBe(CHECKS.length);
  });

  it('names the one that is unknown; a dot is a dot', () => {
    expect(matching(['swap', 'nope']).unknown).toBe('nope');
    expect(matching(['libraryxcuda']).unknown).toBe('libraryxcuda');
    expect(matching(['(']).unknown).toBe('(');
  });
});
