import { describe, expect, it } from 'vitest';
import type { Check, CheckContext } from '../../../lib/doctor/check.ts';
import { CHECKS, matching } from '../../../lib/doctor/checks.ts';
import { runChecks } from '../../../lib/doctor/index.ts';
import type { Snapshot } from '../../../lib/types/index.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';
import { CASES } from './cases.ts';

function contextOf(snapshot: Snapshot, overrides: Partial<CheckContext> = {}): CheckContext {
  return {
    snapshot,
    readKernelFile: async () => null,
    processNames: async () => new Set(['systemd', 'bash']),
    listFiles: async () => [],
    readLink: async () => 'pid:[4026531836]',
    mayUse: async () => true,
    ...overrides,
  };
}

async function check(id: string, snapshot: Snapshot, overrides: Partial<CheckContext> = {}) {
  const found = CHECKS.filter((candidate) => candidate.id === id);
  const [result] = await runChecks(found, async () => contextOf(snapshot, overrides));
  if (result === undefined) throw new Error(`no check ${id}`);
  return result;
}

describe('checks', () => {
  it.each(CASES)('%s: %s', async (id, _, snapshot, status, cause) => {
    const result = await check(id, snapshot);
    expect(result).toMatchObject({ status, cause: expect.stringMatching(cause) });
    expect(result.evidence).not.toBe('');
    if (status === 'pass') expect(result.remedy).toBeNull();
  });

  it('has a case for every check except the one that only reads a file', () => {
    const covered = new Set(CASES.map(([id]) => id));
    expect(CHECKS.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual(['uvm.oversubscription']);
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });

  it('applies the same shares to a smaller machine', async () => {
    const orin = { host: { total: 62 * GiB, free: 56 * GiB, available: 57 * GiB } };
    expect((await check('contiguity', snapshotOf(orin))).status).toBe('pass');
    expect((await check('contiguity', snapshotOf({ host: { total: 8 * GiB } }))).status).toBe('skip');
  });

  it('counts large blocks of a kernel whose orders end at 4 MiB', async () => {
    const snapshot = snapshotOf();
    snapshot.contiguity = [{ order: 10, blockBytes: 4 * 2 ** 20, freeBlocks: 1600 }];
    expect(await check('contiguity', snapshot)).toMatchObject({
      status: 'pass',
      evidence: expect.stringContaining('200 × 32 MiB in blocks of 4.0 MiB'),
    });
    snapshot.contiguity = [{ order: 10, blockBytes: 4 * 2 ** 20, freeBlocks: 1599 }];
    expect((await check('contiguity', snapshot)).status).toBe('warn');
  });

  it('checks the device nodes', async () => {
    const listFiles = async () => ['null', 'nvidia0', 'nvidiactl', 'nvidia-uvm', 'nvidia-caps'];
    const closed = await check('permissions', snapshotOf(), {
      listFiles,
      mayUse: async (path) => path !== '/dev/nvidia-uvm',
    });
    expect(closed).toMatchObject({ status: 'fail', evidence: '/dev/nvidia-uvm' });
    const open = await check('permissions', snapshotOf(), { listFiles });
    expect(open).toMatchObject({
      status: 'pass',
      evidence: expect.stringContaining('/dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm; drop_caches open'),
    });
  });

  it('tests access to kernel files, not the user id', async () => {
    const listFiles = async () => ['nvidia0'];
    const readOnly = await check('permissions', snapshotOf(), {
      listFiles,
      mayUse: async (path) => !path.startsWith('/proc/sys'),
    });
    expect(readOnly).toMatchObject({
      status: 'pass',
      cause: expect.stringContaining('dropping caches needs root and a writable /proc/sys'),
      evidence: '/dev/nvidia0; drop_caches closed, compact_memory closed, driver pool sizes (debugfs) open',
    });
  });

  it('warns of a PID namespace by its inode, where there is a GPU', async () => {
    const readLink = async () => 'pid:[4026532471]';
    const apart = await check('container', snapshotOf(), { readLink });
    expect(apart).toMatchObject({ status: 'warn', evidence: expect.stringContaining('4026532471') });
    expect((await check('container', snapshotOf({ gpu: false }), { readLink })).status).toBe('pass');
    expect((await check('container', snapshotOf({ simulated: 'gb10' }), { readLink })).status).toBe('pass');
    expect((await check('container', snapshotOf(), { readLink: async () => null })).status).toBe('pass');
    const limited = snapshotOf();
    if (limited.cgroup !== null) limited.cgroup.limit = 8 * GiB;
    expect((await check('container', limited, { readLink })).cause).toMatch(/PID namespace.*memory limit/);
  });

  it('warns of a program whose rule misfires here and that runs, with the numbers of this machine', async () => {
    const rests = snapshotOf({ host: { available: 4.9 * GiB } });
    const running = (...names: string[]) => ({ processNames: async () => new Set(names) });
    expect(await check('tools.thresholds', rests, running('raylet', 'earlyoom'))).toMatchObject({
      status: 'warn',
      cause: expect.stringMatching(/^Ray’s memory monitor kills workers below 6\.0 GiB available: 4\.9 GiB are\. CUDA/),
      evidence: expect.stringMatching(/running: raylet, earlyoom$/),
      remedy: 'Start Ray with RAY_memory_monitor_refresh_ms=0.',
    });
    const noSwap = snapshotOf({ host: { available: 4.9 * GiB, swapFree: GiB, swapTotal: 16 * GiB } });
    expect(await check('tools.thresholds', noSwap, running('earlyoom', 'systemd-oomd'))).toMatchObject({
      status: 'warn',
      cause: expect.stringMatching(/^earlyoom kills.*systemd-oomd kills/),
    });
    const rich = await check('tools.thresholds', snapshotOf(), running('raylet'));
    expect(rich).toMatchObject({ status: 'pass', evidence: expect.stringMatching(/running: raylet$/) });
    const unreadable = await check('tools.thresholds', rests, { processNames: async () => null });
    expect(unreadable).toMatchObject({ status: 'pass', evidence: expect.stringMatching(/cannot be read$/) });
  });

  it('suggests no reboot after a single timeout, nor if a process may hold the missing memory', async () => {
    const cases = CASES.filter(([, title]) => /silent|in time|managed|no process list|discrete|no GPU/.test(title));
    expect(cases.length).toBeGreaterThan(6);
    for (const [id, , snapshot] of cases) expect((await check(id, snapshot)).remedy ?? '').not.toMatch(/reboot/i);
  });

  it('does not count free CMA among the large blocks, and says so', async () => {
    const cma = { cmaTotal: 0, cmaFree: 9.3 * GiB };
    const few = await check('contiguity', snapshotOf({ largeShare: 0.09, host: cma }));
    expect(few.evidence).toContain('9.3 GiB of free CMA not counted');
    expect((await check('contiguity', snapshotOf({ host: cma }))).status).toBe('pass');
  });

  it('names the kernel’s own min_free_kbytes for this machine, with 4 KiB pages only', async () => {
    const remedy = async (total: number, pageSize: number) => {
      const snapshot = snapshotOf({ host: { total }, kernel: { minFree: 4 * GiB } });
      snapshot.contiguity = [{ order: 0, blockBytes: pageSize, freeBlocks: 1 }];
      return (await check('watermarks', snapshot)).remedy ?? '';
    };
    // The root of 16 × kB. 45,167 was read on Sparks, which have 125.5 or 127.6 million kB.
    expect(await remedy(127_600_748 * 1024, 4096)).toContain('echo 45184 |');
    expect(await remedy(62 * GiB, 4096)).toContain('echo 32251 |');
    expect(await remedy(2 ** 50, 4096)).toContain('echo 262144 |');
    for (const text of [await remedy(128 * GiB, 65_536), await remedy(128 * GiB, 4096)]) {
      expect(text).toContain('128 kB to 256 MiB');
    }
    expect(await remedy(128 * GiB, 65_536)).not.toMatch(/\d{5}/);
  });

  it.each([
    ['1\n', /default/],
    ['0\n', /OOM killer/],
  ])('reads uvm_global_oversubscription %j', async (text, cause) => {
    expect(await check('uvm.oversubscription', snapshotOf(), { readKernelFile: async () => text })).toMatchObject({
      status: 'pass',
      cause: expect.stringMatching(cause),
    });
    expect((await check('uvm.oversubscription', snapshotOf())).status).toBe('skip');
  });
});

describe('running', () => {
  const quick: Check = {
    id: 'quick',
    title: 'quick',
    needs: [],
    run: () => ({ status: 'pass', cause: 'a', evidence: 'b', remedy: null }),
  };

  it('reports a check that hangs and does not delay the others', async () => {
    const hanging: Check = { id: 'hanging', title: 'hanging', needs: [], run: () => new Promise(() => undefined) };
    const started = performance.now();
    const results = await runChecks([hanging, quick], async () => contextOf(snapshotOf()), { limitMs: 50 });
    expect(performance.now() - started).toBeLessThan(1000);
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ['hanging', 'fail'],
      ['quick', 'pass'],
    ]);
    expect(results[0]?.cause).toContain('did not finish within 50 ms');
  });

  it('counts the reading in the duration of a check', async () => {
    const [late] = await runChecks([quick], async () => contextOf(snapshotOf()), { started: performance.now() - 700 });
    expect(late?.durationMs).toBeGreaterThanOrEqual(700);
    const never = new Promise<CheckContext>(() => undefined);
    const [cut] = await runChecks([quick], () => never, { started: performance.now() - 700, limitMs: 750 });
    expect(cut).toMatchObject({ status: 'fail', cause: expect.stringContaining('750 ms') });
  });

  it('reports a check that throws', async () => {
    const broken: Check = {
      id: 'broken',
      title: 'broken',
      needs: [],
      run: () => {
        throw new Error('boom');
      },
    };
    const results = await runChecks([broken, quick], async () => contextOf(snapshotOf()));
    expect(results[0]).toMatchObject({ status: 'fail', evidence: 'boom' });
    expect(results[1]?.status).toBe('pass');
  });
});

describe('what a check needs', () => {
  it('is neither CUDA nor NVML for checks of the kernel alone', () => {
    const alone = CHECKS.filter(({ needs }) => needs.length === 0).map(({ id }) => id);
    expect(alone).toEqual(
      expect.arrayContaining(['permissions', 'uvm.oversubscription', 'swap', 'cma.phantom', 'watermarks', 'pressure']),
    );
    for (const { id, run } of CHECKS.filter(({ needs }) => needs.length === 0)) {
      const blind = snapshotOf();
      Object.defineProperty(blind, 'devices', { get: () => expect.fail(`${id} looks at devices`) });
      Object.defineProperty(blind, 'libraries', { get: () => expect.fail(`${id} looks at libraries`) });
      run(contextOf(blind));
    }
  });

  it('is a context only for cudaMemGetInfo itself', () => {
    expect(CHECKS.filter(({ needs }) => needs.includes('context')).map(({ id }) => id)).toEqual(['library.cuda']);
  });
});

describe('naming checks', () => {
  it('takes ids and patterns', () => {
    expect([...matching(['library.*', 'swap']).ids]).toEqual(['library.cuda', 'library.nvml', 'swap']);
    expect(matching(['*']).ids.size).toBe(CHECKS.length);
  });

  it('names the unknown pattern; a dot matches a dot only', () => {
    expect(matching(['swap', 'nope']).unknown).toBe('nope');
    expect(matching(['libraryxcuda']).unknown).toBe('libraryxcuda');
    expect(matching(['(']).unknown).toBe('(');
  });
});
