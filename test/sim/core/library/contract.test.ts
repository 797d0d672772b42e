/** The contract of a snapshot on every machine: the real host, and all simulated ones. */

import { describe, expect, it } from 'vitest';
import { parsePagetypeinfo } from '../../../../lib/core/host/movable-blocks.ts';
import { parseBuddyinfo } from '../../../../lib/core/host/procfs.ts';
import { shippedNames } from '../../../../lib/sim/load.ts';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { printedOnMachine } from '../../../support/binary-on-machine.ts';
import { runUmaprobe, snapshotJson, umaprobe } from '../../../support/cli.ts';
import { expectContract } from '../../../support/contract.ts';
import { machineFile, machineWith } from '../../../support/machines.ts';
import { meminfoBytes } from '../../../support/meminfo.ts';
import { besideOthers, watchOthers } from '../../../support/other-programs.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GiB } from '../../../support/units.ts';

const seen = new Map<string, Snapshot>();

/** The snapshot of a shipped machine, which the program takes once. */
function snapshotOf(name: string): Snapshot {
  const snapshot = seen.get(name) ?? snapshotJson(['--sim', name, '--deadline', '1500ms']);
  seen.set(name, snapshot);
  return snapshot;
}

describe('a snapshot of', () => {
  it('the real host', async (context) => {
    const moves = 0.01 * meminfoBytes('MemTotal');
    await besideOthers(context, moves / 2, async () => {
      const moved = watchOthers(process.pid);
      const before = meminfoBytes('MemAvailable');
      const { stdout } = await umaprobe(['snapshot', '--json']);
      const after = meminfoBytes('MemAvailable');
      const snapshot = parseDocument(stdout) as unknown as Snapshot;
      expectContract(snapshot);
      expect(snapshot.simulated).toBeNull();
      expect(snapshot.host.total).toBe(meminfoBytes('MemTotal'));
      expect(snapshot.host.hugePageSize).toBe(meminfoBytes('Hugepagesize'));
      const check = (): void => {
        expect(snapshot.host.available).toBeGreaterThan(Math.min(before, after) - moves);
        expect(snapshot.host.available).toBeLessThan(Math.max(before, after) + moves);
      };
      return { others: moved(), check };
    });
  });

  it.each(shippedNames())('%s (simulated)', (name) => {
    const snapshot = snapshotOf(name);
    expectContract(snapshot);
    expect(snapshot.simulated).toBe(name);
  });
});

describe('what the kernel says of free pages', () => {
  it('free pages in lists of the processors are a field and a row, and no part of MemFree (simulated)', () => {
    const without = snapshotOf('gb10');
    const machine = machineFile('lists', { memory: { freeInCpuLists: 2 * GiB } });
    const { from, host, kernel, ledger } = snapshotJson(['--sim', machine]);
    expect([without.kernel.freeInCpuLists, kernel.freeInCpuLists]).toEqual([0, 2 * GiB]);
    expect(from['kernel.freeInCpuLists']).toBe('/proc/zoneinfo');
    expect(ledger.entries[1]).toEqual({ label: 'freeInCpuLists', bytes: 2 * GiB, from: '/proc/zoneinfo' });
    expect((without.host.free as number) - (host.free as number)).toBe(2 * GiB);
    expect(runUmaprobe(['--full', '--sim', machine]).stdout).toMatch(/free, in lists of the processors +2\.0/);
    expect(runUmaprobe(['cache', 'drop', '--sim', machine]).stdout).toMatch(/free in processors’ lists +2\.0 GiB/);
  });

  it('pagetypeinfo: half of the small pages of this machine move (simulated)', async () => {
    const half = machineWith('gb10', { contiguity: { share: 0.7, compactable: 0.5 } });
    const [buddyinfo, pagetypeinfo] = (await printedOnMachine(
      half,
      "for (const text of b.readFiles(['/proc/buddyinfo', '/proc/pagetypeinfo'])) print(text);",
    )) as [string, string | object];
    const free = parseBuddyinfo(buddyinfo, 4096)?.blocks ?? [];
    if (typeof pagetypeinfo !== 'string') return expect(pagetypeinfo).toMatchObject({ name: 'EACCES' });
    expect(pagetypeinfo).toContain('>100000');
    const counted = parsePagetypeinfo(pagetypeinfo, free) ?? [];
    const small = counted.filter(({ blockBytes }) => blockBytes < 2 * 2 ** 20);
    const bytes = (name: 'freeBlocks' | 'movableBlocks') =>
      small.reduce((sum, { blockBytes, [name]: count }) => sum + blockBytes * (count ?? 0), 0);
    // At least: the kernel stops to count at 100,000, and its own memory is in unmovable pageblocks too.
    expect(bytes('movableBlocks') / bytes('freeBlocks')).toBeGreaterThan(0.4);
    expect(bytes('movableBlocks') / bytes('freeBlocks')).toBeLessThan(0.5001);
    expect(counted.at(-1)?.movableBlocks).toBe(counted.at(-1)?.freeBlocks);
  });
});

describe('shipped machines', () => {
  it('gb10: unified, NVML says NOT_SUPPORTED, cudaMemGetInfo is MemFree', () => {
    const { devices, host, simulated } = snapshotJson(['--sim', 'gb10', '--memgetinfo', 'child']);
    const [device] = devices;
    expect(simulated).toBe('gb10');
    expect(device?.memoryModel).toBe('unified');
    expect(device?.nvml).toBeNull();
    expect(device?.from.nvml).toContain('NOT_SUPPORTED');
    expect(device?.cuda?.free).toBe(host.free);
    expect(device?.cuda?.total).toBe(host.total);
  });

  it('gb10-cached: the clean cache counts as reclaimable', () => {
    const { devices, host } = snapshotOf('gb10-cached');
    const [device] = devices;
    const gained = (device?.allocatable.afterReclaim ?? 0) - (device?.allocatable.immediate ?? 0);
    const cleanCache = (host.activeFile as number) + (host.inactiveFile as number) - (host.dirty as number);
    expect(cleanCache).toBeGreaterThan(60 * GiB);
    expect(gained).toBeGreaterThan(0.9 * cleanCache);
    expect(gained).toBeLessThan(1.1 * cleanCache);
  });

  it('gb10-hugepages: llama.cpp and the guidance collapse, what can be allocated does not', () => {
    const { devices } = snapshotOf('gb10-hugepages');
    const device = devices[0] as (typeof devices)[number];
    expect(device.views.nvidiaGuidance).toBe(GiB);
    expect(device.views.llamaCpp).toBe(GiB);
    expect(device.allocatable.afterReclaim).toBeGreaterThan(90 * GiB);
  });

  it('gb10-kho: the phantom is subtracted, and doctor warns of it', () => {
    const { devices, host } = snapshotOf('gb10-kho');
    expect(host.cmaFree).toBeGreaterThan(9 * GiB);
    expect(devices[0]?.allocatable.afterReclaim).toBe((host.available as number) - (host.cmaFree as number));
    const doctor = runUmaprobe(['doctor', '--sim', 'gb10-kho', '--only', 'cma.phantom', '--json']);
    expect(JSON.parse(doctor.stdout).checks[0]).toMatchObject({ id: 'cma.phantom', status: 'warn' });
  });

  it('no-driver: exit 0, the host complete, no devices, and why', () => {
    const snapshot = snapshotOf('no-driver');
    expect(snapshot.devices).toEqual([]);
    expect(snapshot.noDevices).toContain('ERR_UMA_LIBRARY_MISSING');
    expect(snapshot.host.available).toBeGreaterThan(0);
  });

  it.each(['h200', 'gh200', 'thor', 'orin'])('%s has the memory model of its kind', (name) => {
    const models: Record<string, string> = { h200: 'discrete', gh200: 'coherent', thor: 'unified', orin: 'unified' };
    expect(snapshotOf(name).devices[0]?.memoryModel).toBe(models[name]);
  });

  it('gb10-590-pools: without root the pools are unknown, not 0', () => {
    const { driver } = snapshotOf('gb10-590-pools');
    expect(driver.systemMemoryPools).toBe(529);
    if (process.getuid?.() === 0) expect(driver.poolBytes).toBeGreaterThan(0);
    else expect(driver.poolBytes).toBeNull();
  });
});
