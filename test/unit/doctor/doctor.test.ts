import { describe, expect, it } from 'vitest';
import type { Check, CheckContext } from '../../../lib/doctor/check.ts';
import { CHECKS, matching } from '../../../lib/doctor/checks.ts';
import { runChecks } from '../../../lib/doctor/index.ts';
import type { Snapshot } from '../../../lib/types/index.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';
import { STORIES } from './stories.ts';

function contextOf(snapshot: Snapshot, overrides: Partial<CheckContext> = {}): CheckContext {
  return {
    snapshot,
    readKernelFile: () => null,
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
    expect(await check('contiguity', snapshot)).toMatchObject({
      status: 'pass',
      evidence: expect.stringContaining('200 × 32 MiB in blocks of 4.0 MiB'),
    });
    snapshot.contiguity = [{ order: 10, blockBytes: 4 * 2 ** 20, freeBlocks: 1599 }];
    expect((await check('contiguity', snapshot)).status).toBe('warn');
  });

  it('looks at the device nodes', async () => {
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

  it('asks the kernel which knobs are open, and not the user id', async () => {
    const listFiles = async () => ['nvidia0'];
    const readOnly = await check('permissions', snapshotOf(), {
      listFiles,
      mayUse: async (path) => !path.startsWith('/proc/sys'),
    });
    expect(readOnly).toMatchObject({
      status: 'pass',
      cause: expect.stringContaining('giving back cache takes root, and a /proc/sys that is not read-only'),
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

  it('says nothing of a reboot on a single silence, nor where a process may explain what is missing', async () => {
    const silences = STORIES.filter(([, story]) =>
      /silent|in time|managed|no process list|discrete|no GPU/.test(story),
    );
    expect(silences.length).toBeGreaterThan(6);
    for (const [id, , snapshot] of silences) expect((await check(id, snapshot)).remedy ?? '').not.toMatch(/reboot/i);
  });

  it('takes free CMA off the large blocks, and says so', async () => {
    const cma = { cmaTotal: 0, cmaFree: 9.3 * GiB };
    const few = await check('contiguity', snapshotOf({ largeShare: 0.09, host: cma }));
    expect(few.evidence).toContain('9.3 GiB of free CMA not counted');
    expect((await check('contiguity', snapshotOf({ host: cma }))).status).toBe('pass');
  });

  it('names the kernel’s own min_free_kbytes for this machine, and only where pages are 4 KiB', async () => {
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
    expect(await check('uvm.oversubscription', snapshotOf(), { readKernelFile: () => text })).toMatchObject({
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

  it('answers for a check that hangs and lets the others be', async () => {
    const hanging: Check = { id: 'hanging', title: 'hanging', needs: [], run: () => new Promise(() => undefined) };
    const started = performance.now();
    const results = await runChecks([hanging, quick], async () => contextOf(snapshotOf()), { limitMs: 50 });
    expect(performance.now() - started).toBeLessThan(1000);
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ['hanging', 'fail'],
      ['quick', 'pass'],
    ]);
    expect(results[0]?.cause).toContain('did not end within 50 ms');
  });

  it('counts the reading in the time of a check', async () => {
    const [late] = await runChecks([quick], async () => contextOf(snapshotOf()), { started: performance.now() - 700 });
    expect(late?.durationMs).toBeGreaterThanOrEqual(700);
    const never = new Promise<CheckContext>(() => undefined);
    const [cut] = await runChecks([quick], () => never, { started: performance.now() - 700, limitMs: 750 });
    expect(cut).toMatchObject({ status: 'fail', cause: expect.stringContaining('750 ms') });
  });

  it('answers for a check that throws', async () => {
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
  it('is no CUDA and no NVML for questions about the kernel alone', () => {
    const alone = CHECKS.filter(({ needs }) => needs.length === 0).map(({ id }) => id);
    expect(alone).toEqual(['permissions', 'uvm.oversubscription', 'swap', 'cma.phantom', 'watermarks', 'pressure']);
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

  it('names the one that is unknown; a dot is a dot', () => {
    expect(matching(['swap', 'nope']).unknown).toBe('nope');
    expect(matching(['libraryxcuda']).unknown).toBe('libraryxcuda');
    expect(matching(['(']).unknown).toBe('(');
  });
});
