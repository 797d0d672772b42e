/** What is said of machines on which a usual reading is wrong; test/agree compares the commands on them. All *simulated*. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FitReport, Snapshot } from '../../../../lib/types/index.ts';
import { runUmaprobe, snapshotJson } from '../../../support/cli.ts';
import { ROOT } from '../../../support/root.ts';
import { GiB } from '../../../support/units.ts';

const machine = (name: string) => ['--sim', join(ROOT, 'test/agree/machines', `${name}.json`)];
const snapshotOf = (name: string): Snapshot => snapshotJson(machine(name));
const finding = ({ judgement }: Snapshot, id: string) => judgement.findings.find((one) => one.id === id);

describe('two ranks that share GPU memory by CUDA IPC', () => {
  it('hold it once: what is free can be loaded', () => {
    const shared = snapshotOf('ipc-shared');
    const [device] = shared.devices;
    expect(device?.processes?.map(({ gpuBytes }) => gpuBytes)).toEqual([54 * GiB, 54 * GiB]);
    // 44.8 GiB are available, and 8.9 GiB stay for the host.
    expect(shared.judgement.safe.bytes).toBeGreaterThan(35 * GiB);
    expect(device?.others?.bytes).toBeLessThan(70 * GiB);
    expect(finding(shared, 'gpu.programs')?.summary).toMatch(/^69\.1 GiB of .* 2 GPU programs, some of it shared/);
  });

  it('give it back when both have ended: fit promises no more', () => {
    const { code, stdout } = runUmaprobe(['fit', '--bytes', '90GiB', '--json', ...machine('ipc-shared')]);
    expect(code).toBe(1);
    const { remedies } = JSON.parse(stdout) as FitReport;
    const gains = remedies.filter(({ text }) => text.includes('rank')).map(({ gains: bytes }) => bytes ?? 0);
    expect(gains).toHaveLength(2);
    expect(gains.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(70 * GiB);
  });
});

describe('zram', () => {
  it('has its own row: what is swapped to it is no GPU memory that nobody holds', () => {
    const zram = snapshotOf('zram-used');
    expect(zram.kernel.zram).toBe(18 * GiB);
    expect(zram.from['kernel.zram']).toBe('/sys/block/zram0/mm_stat');
    expect(zram.ledger.entries).toContainEqual({ label: 'zram', bytes: 18 * GiB, from: '/sys/block/zram*/mm_stat' });
    expect(zram.judgement.findings.map(({ id }) => id)).toEqual(['swap.used']);
  });
});

describe('huge pages of 1 GiB', () => {
  it('are said with their size, and with a command that releases them', () => {
    const huge = finding(snapshotOf('huge1g'), 'hugepages');
    expect(huge?.summary).toMatch(
      /^40\.0 GiB are reserved as huge pages, 40\.0 GiB of them of other sizes than 2\.0 MiB:/,
    );
    expect(huge?.remedy?.command).toBe('echo 0 | sudo tee /sys/kernel/mm/hugepages/hugepages-*/nr_hugepages');
  });
});

describe('a GH200 with page cache on its NUMA node', () => {
  it('can get it back: the node says how much', () => {
    const [device] = snapshotOf('gh200-hbmcache').devices;
    const { afterReclaim, immediate } = device?.allocatable ?? {};
    expect((afterReclaim ?? 0) - (immediate ?? 0)).toBe(90 * GiB);
    expect(device?.from.allocatable).toContain('/sys/devices/system/node/node1/meminfo');
    const cache = finding(snapshotOf('gh200-hbmcache'), 'page.cache');
    expect(cache?.summary).toMatch(/^90\.00 of 95\.58 GiB of GPU 0 look used but hold copies of files/);
    expect(cache?.remedy?.command).toContain('drop_caches');
  });
});

describe('a GB10 beside an H200', () => {
  const beside = machine('gb10-beside-h200');

  it('the GPU of the answer is named, and stress takes the same', () => {
    const headline = runUmaprobe(beside).stdout.split('\n')[1];
    const gpu = snapshotOf('gb10-beside-h200').devices.find(({ memoryModel }) => memoryModel === 'unified')?.index;
    expect(headline).toMatch(new RegExp(`^OK +\\S+ GiB .* can be loaded on GPU ${gpu}\\.$`));
    const { stdout } = runUmaprobe(['stress', '--max', '1GiB', ...beside]);
    expect(stdout).toContain(`GPU ${gpu}  NVIDIA GB10`);
  });
});
