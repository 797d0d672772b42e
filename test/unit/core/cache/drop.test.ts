/** Drop, compact and reclaim: permissions, refusals before any change, receipts. Writes to no kernel. */
import { describe, expect, it } from 'vitest';
import { UmaError } from '../../../../lib/base/errors.ts';
import { compactMemory, verdict } from '../../../../lib/core/cache/compact.ts';
import { drop } from '../../../../lib/core/cache/drop.ts';
import { cgroupFolder, reclaimFrom } from '../../../../lib/core/cache/reclaim.ts';
import { findSysctl } from '../../../../lib/core/cache/sysctl.ts';
import { contiguityGate, readGate } from '../../../../lib/core/memory/contiguity.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { dropPage } from '../../../../lib/show/render/text/cache-actions.ts';
import { kernelFailure, timeout } from '../../../support/failures.ts';
import { fakeMachine } from '../../../support/fake-system.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const ALL = { level: 3, sync: true, syncLimitMs: 1000, sudo: false, force: false } as const;
const OPTIONS = { width: 100, cut: 100, paint: createPaint(0), unicode: true, exact: false, hostName: 'spark' };

async function refusal(promise: Promise<unknown>): Promise<UmaError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof UmaError) return error;
  throw error ?? new Error('it was not refused');
}

describe('drop', () => {
  it('syncs, writes the level, and gives before, after and change', async () => {
    const before = snapshotOf({ host: { free: 10 * GiB, cached: 90 * GiB, available: 100 * GiB } });
    const after = snapshotOf({ host: { free: 95 * GiB, cached: 5 * GiB, available: 101 * GiB } });
    const { machine, done } = fakeMachine({ looks: [before, after] });
    const report = await drop(machine, ALL);
    expect(done).toEqual(['sync', 'write /proc/sys/vm/drop_caches 3']);
    expect(report.receipt.change).toMatchObject({
      memFree: 85 * GiB,
      cached: -85 * GiB,
      memAvailable: GiB,
      cudaFree: 85 * GiB,
    });
    expect(report.receipt.from.cudaFree).toMatch(/^MemFree/);
    expect(report.nextAllocation).toEqual({ immediate: 85 * GiB, afterReclaim: GiB });
    expect(report).toMatchObject({ by: 'write', sync: { finished: true, durationMs: 5 }, dropMs: 2, warnings: [] });
  });

  it('shows what was freed where MemFree does not: in lists of the processors', async () => {
    const look = (freeInCpuLists: number | null) => snapshotOf({ kernel: { freeInCpuLists } });
    const { machine } = fakeMachine({ looks: [look(0.5 * GiB), look(1.5 * GiB)] });
    const report = await drop(machine, ALL);
    expect(report.receipt.change).toMatchObject({ memFree: 0, freeInCpuLists: GiB });
    expect(dropPage(report, OPTIONS).join('\n')).toMatch(
      /free +107\.6 GiB +108\.6 GiB +\+1\.0 GiB\nMemFree .* 0 B\nfree in processors’ lists +512\.0 MiB +1\.5 GiB +\+1\.0 GiB\n/,
    );
    const unknown = await drop(fakeMachine({ looks: [look(null), look(0)] }).machine, ALL);
    expect(unknown.receipt.change.freeInCpuLists).toBeNull();
    expect(dropPage(unknown, OPTIONS).join('\n')).not.toContain('lists');
  });

  it.each([
    [1, 80],
    [2, 1],
    [3, 81],
  ] as const)(
    'a dry run of level %i changes nothing, needs no permission, and says what would be freed',
    async (level, gib) => {
      const cache = { cached: 80 * GiB, shmem: 0, buffers: 0, mapped: 0, dirty: 0, writeback: 0 };
      const host = { free: 10 * GiB, available: 100 * GiB, sReclaimable: 2 * GiB, ...cache };
      const looks = [snapshotOf({ host })];
      const { machine, done } = fakeMachine({ looks, mayWrite: 'EACCES', uid: 1000 });
      const report = await drop(machine, { ...ALL, level, dryRun: true });
      expect(done).toEqual([]);
      expect(report).toMatchObject({ dryRun: true, by: null, sync: null, dropMs: null, nextAllocation: null });
      expect(Object.values(report.receipt.change).filter((change) => change !== null && change !== 0)).toEqual([]);
      expect(report.expectedBytes / GiB).toBe(gib);
      const [first] = dropPage(report, OPTIONS);
      expect(first).toMatch(/^PLAN {2}About [\d.]+ GiB \([\d.]+ GB\) would become free\. Nothing was changed\.$/);
    },
  );

  it('without a GPU that shares the memory there is no next allocation and no CUDA free', async () => {
    const { machine } = fakeMachine({ looks: [snapshotOf({ model: 'discrete' })] });
    const report = await drop(machine, ALL);
    expect(report.nextAllocation).toBeNull();
    expect(report.receipt.after.cudaFree).toBeNull();
  });

  it('level 2 frees no page cache, so nothing is synced for it', async () => {
    const { machine, done } = fakeMachine();
    expect((await drop(machine, { ...ALL, level: 2 })).sync).toBeNull();
    expect(done).toEqual(['write /proc/sys/vm/drop_caches 2']);
  });

  it('goes on when sync does not finish, with a warning', async () => {
    const { machine, done } = fakeMachine({ sync: timeout('sync') });
    const report = await drop(machine, ALL);
    expect(done).toEqual(['sync', 'write /proc/sys/vm/drop_caches 3']);
    expect(report.sync?.finished).toBe(false);
    expect(report.warnings.join()).toMatch(/sync did not finish within its limit of 1000 ms/);
  });

  it.each([
    ['EACCES', 1000, /only root may write it; nothing was changed\. Run: sync; sudo \S*sysctl vm\.drop_caches=3/],
    ['EROFS', 0, /read-only here, as in a container.*On the host run: sync; sudo \S*sysctl vm\.drop_caches=3/],
    ['EACCES', 0, /root of this container or user namespace is not root of the machine/],
  ])('%s for user %i: the exact command, and not even a sync before', async (mayWrite, uid, words) => {
    const { machine, done } = fakeMachine({ mayWrite, uid });
    const error = await refusal(drop(machine, ALL));
    expect(error.code).toBe('ERR_UMA_PERMISSION');
    expect(error.message).toMatch(words);
    expect(error.message).not.toContain('\n');
    expect(done).toEqual([]);
  });

  it('a kernel that refuses only the write itself has the same message', async () => {
    const { machine } = fakeMachine({ write: kernelFailure('EROFS') });
    expect((await refusal(drop(machine, ALL))).message).toMatch(/read-only here/);
  });

  it('refuses under pressure, unless forced', async () => {
    const looks = [snapshotOf({ some: 23 })];
    const { machine, done } = fakeMachine({ looks });
    const error = await refusal(drop(machine, ALL));
    expect(error.code).toBe('ERR_UMA_BUSY');
    expect(error.message).toMatch(/refused, nothing was changed: tasks waited for memory for 23\.0 % of the last 10 s/);
    expect(done).toEqual([]);
    const forced = fakeMachine({ looks });
    await drop(forced.machine, { ...ALL, force: true });
    expect(forced.done).toContain('write /proc/sys/vm/drop_caches 3');
  });
});

describe('drop through sudo', () => {
  it('runs one command with absolute paths, the level among its words, and asks before it syncs', async (context) => {
    if (findSysctl() === null) return context.skip('there is no sysctl here');
    const { machine, done } = fakeMachine({ uid: 1000, mayWrite: 'EACCES' });
    const report = await drop(machine, { ...ALL, level: 1, sudo: true });
    expect(done).toEqual([
      expect.stringMatching(/^run \/usr\/bin\/sudo -n -l \/\S+\/sysctl vm\.drop_caches=1$/),
      'sync',
      expect.stringMatching(/^run \/usr\/bin\/sudo -n \/\S+\/sysctl vm\.drop_caches=1$/),
    ]);
    expect(report.by).toBe('sudo');
  });

  it.each([
    ['', /: sudo does not permit it; nothing was changed\. umaprobe cache rule prints the sudoers line/],
    ['sudo: a password is required\n', /a password is required; nothing was changed\. umaprobe cache rule prints/],
  ])('not permitted (%j): nothing is written, not even by sync', async (stderr, words) => {
    const { machine, done } = fakeMachine({ uid: 1000, permitted: { code: 1, stderr, timedOut: false } });
    const error = await refusal(drop(machine, { ...ALL, sudo: true }));
    expect(error.code).toBe('ERR_UMA_PERMISSION');
    expect(error.message).toMatch(findSysctl() === null ? /sysctl is in none/ : words);
    expect(done.filter((what) => !what.includes(' -l '))).toEqual([]);
  });

  it('no sudo on this machine: an error, and nothing is run', async () => {
    const { machine, done } = fakeMachine({ uid: 1000 });
    const without = { ...machine, executable: () => false };
    const error = await refusal(drop(without, { ...ALL, sudo: true }));
    expect(error.code).toBe('ERR_UMA_NOT_SUPPORTED');
    expect(error.message).toMatch(/\/usr\/bin\/sudo is not installed|sysctl is in none/);
    expect(done).toEqual([]);
  });

  it('is not needed by root, and is refused on a simulated machine, because it would act on this computer', async () => {
    const root = fakeMachine({ uid: 0 });
    expect((await drop(root.machine, { ...ALL, sudo: true })).by).toBe('write');
    const simulated = fakeMachine({ uid: 1000, simulated: 'gb10' });
    await expect(drop(simulated.machine, { ...ALL, sudo: true })).rejects.toThrow(/sudo would act on this computer/);
    expect(simulated.done).toEqual([]);
  });
});

describe('compact', () => {
  const met = snapshotOf();
  const pieces = snapshotOf({ largeShare: 0.001 });

  it('does nothing if the gate is met, and needs no permission for that', async () => {
    const { machine, done } = fakeMachine({ looks: [met], mayWrite: 'EACCES', uid: 1000 });
    expect(await compactMemory(machine, {})).toMatchObject({ verdict: 'ok', compactMs: null, by: null });
    expect(done).toEqual([]);
  });

  it('is not ready where the judgement refuses any load, or finds less in blocks than the gate asks for', async () => {
    const reasonOf = async (look: typeof met, gate = {}) =>
      (await compactMemory(fakeMachine({ looks: [look, look] }).machine, { gate })).reason;
    const { done, machine } = fakeMachine({ looks: [snapshotOf({ full: 92, host: { swapFree: 0 } })] });
    const stalled = await compactMemory(machine, {});
    expect(stalled).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringMatching(/^No task could run/),
      by: null,
    });
    expect(done).toEqual([]);
    const fragmented = snapshotOf({ largeShare: 0.3 });
    expect(await reasonOf(fragmented)).toMatch(/^Free memory is fragmented: .*; 11\d\.\d GiB available/);
    // A gate of the caller's own stands for what the judgement says of fragmentation.
    expect(await reasonOf(fragmented, { blocks: 100 })).toMatch(/^already ready for a large launch/);
  });

  it.each([
    ['compacted', [pieces, met]],
    ['reboot-required', [pieces, pieces]],
  ] as const)('%s', async (word, looks) => {
    const { machine, done } = fakeMachine({ looks: [...looks] });
    const report = await compactMemory(machine, {});
    expect(report.verdict).toBe(word);
    expect(done).toEqual(['write /proc/sys/vm/compact_memory 1']);
    expect(report.orders.map(({ order }) => order)).toEqual([0, 9, 13]);
  });

  it('requires no reboot while programs or page cache hold the memory', () => {
    const judged = (snapshot: ReturnType<typeof snapshotOf>) => {
      const gate = contiguityGate(snapshot.host.total);
      return verdict(false, readGate(snapshot, snapshot.contiguity ?? [], gate), gate, null);
    };
    const loaded = snapshotOf({
      largeShare: 0,
      host: { free: 45 * GiB, available: 50 * GiB },
      processes: [{ pid: 7, name: 'vllm', gpuBytes: 60 * GiB }],
    });
    expect(judged(loaded)).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringMatching(/GPU processes hold 60/),
    });
    const cached = snapshotOf({ largeShare: 0, host: { free: 5 * GiB, available: 110 * GiB } });
    expect(judged(cached)).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringMatching(/page cache: drop it first/),
    });
    const short = snapshotOf({ largeShare: 0, host: { free: 50 * GiB, available: 60 * GiB } });
    expect(judged(short)).toMatchObject({
      verdict: 'not-ready',
      reason: expect.stringMatching(/programs hold the memory/),
    });
  });

  it('takes another gate', async () => {
    const { machine } = fakeMachine({ looks: [pieces] });
    expect((await compactMemory(machine, { gate: { blocks: 1, availableBytes: 0 } })).verdict).toBe('ok');
  });
});

it('nothing is dropped for a caller who has aborted meanwhile', async () => {
  const caller = new AbortController();
  const { done, machine } = fakeMachine();
  const sync = machine.binding.syncAll;
  machine.binding.syncAll = (limitMs) => {
    caller.abort(new Error('enough'));
    return sync(limitMs);
  };
  await expect(drop(machine, { ...ALL, signal: caller.signal })).rejects.toThrow('enough');
  expect(done).toEqual(['sync']);
});

describe('reclaim', () => {
  it('says how much less the cgroup uses', async () => {
    const usage = '/sys/fs/cgroup/x/memory.current';
    const files: Record<string, string> = { [usage]: '5000\n' };
    const { machine } = fakeMachine({ files });
    const write = machine.binding.writeFile;
    machine.binding.writeFile = (path, data, limitMs) => {
      files[usage] = '1800\n';
      return write(path, data, limitMs);
    };
    expect(await reclaimFrom(machine, { bytes: 4000, cgroup: '/x' })).toMatchObject({
      ...{ before: 5000, after: 1800, gotBytes: 3200, short: false },
    });
  });

  const files = {
    '/proc/self/cgroup': '0::/user.slice/x\n',
    '/sys/fs/cgroup/user.slice/x/memory.current': '1000000\n',
  };

  it.each([
    ['/user.slice/x', '/sys/fs/cgroup/user.slice/x'],
    ['/sys/fs/cgroup/user.slice/x/', '/sys/fs/cgroup/user.slice/x'],
  ])('%s is %s', (given, folder) => expect(cgroupFolder(given)).toBe(folder));

  it.each(['/', '/sys/fs/cgroup', 'user.slice', '/user.slice/../../../etc', '/a/./b', '/a\0b', ''])(
    '%j is no cgroup',
    (given) => expect(() => cgroupFolder(given)).toThrow(/expected a cgroup below the root/),
  );

  it('less than requested is a result', async () => {
    const asked = (write: ReturnType<typeof kernelFailure> | null) =>
      reclaimFrom(fakeMachine({ files, write }).machine, { bytes: 5 });
    expect(await asked(null)).toMatchObject({
      short: false,
      bytes: 5,
      gotBytes: 0,
      cgroup: '/sys/fs/cgroup/user.slice/x',
    });
    expect(await asked(kernelFailure('EAGAIN'))).toMatchObject({ short: true });
    expect(await refusal(asked(kernelFailure('EACCES')))).toMatchObject({
      code: 'ERR_UMA_PERMISSION',
      message: expect.stringMatching(/only the owner of the cgroup may/),
    });
    expect(await refusal(asked(kernelFailure('ENOENT')))).toMatchObject({
      code: 'ERR_UMA_NOT_SUPPORTED',
      message: expect.stringMatching(/exists since Linux 5\.19/),
    });
  });

  it('of a cgroup that does not exist names it, unless there are none at all', async () => {
    const gone = { bytes: 1, cgroup: '/user.slice/gone' };
    const v2 = fakeMachine({ files: { '/sys/fs/cgroup/cgroup.controllers': 'memory' } }).machine;
    expect(await refusal(reclaimFrom(v2, gone))).toMatchObject({
      code: 'ERR_UMA_NOT_FOUND',
      message: expect.stringContaining('there is no cgroup /sys/fs/cgroup/user.slice/gone'),
    });
    expect(await refusal(reclaimFrom(fakeMachine({ files: {} }).machine, gone))).toMatchObject({
      code: 'ERR_UMA_NOT_SUPPORTED',
    });
  });

  it.each([
    [{ '/proc/self/cgroup': '4:memory:/x\n' }, /cgroup v1 here, which has no memory\.reclaim/],
    [{ '/proc/self/cgroup': '0::/\n' }, /root cgroup, which has no memory\.reclaim/],
    [{ '/proc/self/cgroup': '0::/user.slice/x\n' }, /memory\.current cannot be read \(ENOENT\)/],
    [{}, /the cgroup of this process is not known/],
  ])('%j: an error with the reason, and nothing is written', async (texts, words) => {
    const { machine, done } = fakeMachine({ files: texts as Record<string, string> });
    const error = await refusal(reclaimFrom(machine, { bytes: 1 }));
    expect(error.code).toBe('ERR_UMA_NOT_SUPPORTED');
    expect(error.message).toMatch(words);
    expect(done).toEqual([]);
  });
});
