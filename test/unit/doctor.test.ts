import { describe, expect, it } from 'vitest';
import { CHECKS, matching } from '../../lib/doctor/checks.ts';
import type { Check, CheckContext } from '../../lib/doctor/types.ts';
import { runChecks } from '../../lib/doctor.ts';
import type { Snapshot } from '../../lib/types.ts';
import { GiB, snapshotOf } from './cli-fixtures.ts';
import { STORIES } from './doctor-stories.ts';

function contextOf(snapshot: Snapshot, overrides: Partial<CheckContext> = {}): CheckContext {
  return {
    snapshot,
    readKernelFile: () => null,
    listFiles: async () => [],
    mayUse: async () => true,
    isRoot: false,
    env: {},
    ...overrides,
  };
}

async function check(id: string, snapshot: Snapshot, overrides: Partial<CheckContext> = {}) {
  const found = CHECKS.filter((candidate) => candidate.id === id);
  const [result] = await runChecks(found, contextOf(snapshot, overrides));
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
      evidence: expect.stringContaining('/dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm; not root'),
    });
    expect((await check('permissions', snapshotOf(), { listFiles, isRoot: true })).evidence).toContain(
      'root: drop_caches',
    );
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
    run: () => ({ status: 'pass', cause: 'a', evidence: 'b', remedy: null }),
  };

  it('answers for a check that hangs and lets the others be', async () => {
    const hanging: Check = { id: 'hanging', title: 'hanging', run: () => new Promise(() => undefined) };
    const started = performance.now();
    const results = await runChecks([hanging, quick], contextOf(snapshotOf()), 50);
    expect(performance.now() - started).toBeLessThan(1000);
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ['hanging', 'fail'],
      ['quick', 'pass'],
    ]);
    expect(results[0]?.cause).toContain('did not end within 50 ms');
  });

  it('answers for a check that throws', async () => {
    const broken: Check = {
      id: 'broken',
      title: 'broken',
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
