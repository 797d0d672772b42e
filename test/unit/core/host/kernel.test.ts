/** The kernel's facts: which files are read how often, and the sources that are recorded. */

import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../../lib/base/errors.ts';
import { Provenance } from '../../../../lib/base/facts.ts';
import type { KernelFiles } from '../../../../lib/core/host/files.ts';
import { beginKernel } from '../../../../lib/core/host/kernel.ts';
import { timeout } from '../../../support/failures.ts';
import { kernelFilesOf, textsOf } from '../../../support/kernel-files.ts';

const COUNTERS = {
  allocstall_dma: 1,
  allocstall_normal: 2,
  pgmajfault: 3,
  pgsteal_kswapd: 4,
  pgsteal_direct: 5,
  pgscan_kswapd: 6,
  pgscan_direct: 7,
  oom_kill: 8,
  compact_stall: 9,
  compact_fail: 10,
  compact_success: 1234,
};
const vmstat = (counters: object = COUNTERS) =>
  Object.entries(counters)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('');

/** A kernel with these files; `reads` has every reading of a file. `hung` never answer. */
function kernel(texts: Record<string, string>, hung: readonly string[] = []) {
  const reads: string[] = [];
  const files = kernelFilesOf((paths) => {
    reads.push(...paths);
    return textsOf(texts)(paths).map((text, index) => {
      const path = paths[index] ?? '';
      return hung.includes(path) ? timeout(`read ${path}`) : text;
    });
  });
  return { files, timesRead: (path: string) => reads.filter((read) => read === path).length };
}

async function facts({ files }: { files: KernelFiles }, cpuLists: Fact<number> = Number.NaN) {
  const provenance = new Provenance();
  const reading = await beginKernel(files);
  const texts = await files.reread(reading.paths, reading.bytes);
  const facts = await reading.finish(texts, Promise.resolve([cpuLists]), provenance);
  return { ...facts, from: provenance.sources };
}

it('settings are in bytes, whatever the kernel counts in', async () => {
  const { from, kernel: found } = await facts(kernel({ '/proc/sys/vm/min_free_kbytes': '67584\n' }), 7 * 65_536);
  expect(found).toMatchObject({ minFree: 67_584 * 1024, freeInCpuLists: 7 * 65_536 });
  expect(from['kernel.freeInCpuLists']).toBe('/proc/zoneinfo');
  const huge = await facts(kernel({ '/proc/sys/vm/min_free_kbytes': `${2 ** 52}\n` }));
  expect(huge.kernel).toMatchObject({ minFree: null, freeInCpuLists: null });
  expect(huge.from['kernel.freeInCpuLists']).toBe('/proc/zoneinfo: the text is not in the kernel’s format');
});

describe('a file that does not answer', () => {
  const texts = {
    '/proc/vmstat': vmstat(),
    '/proc/pressure/memory':
      'some avg10=1.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n',
    '/proc/buddyinfo': 'Node 0, zone   Normal 1 2 3\n',
    '/proc/sys/vm/swappiness': '60\n',
    '/proc/self/cgroup': '0::/a\n',
    '/sys/fs/cgroup/a/memory.current': '100\n',
    '/proc/driver/nvidia/version': 'NVRM version: NVIDIA UNIX  580.95.05  Release Build\n',
  };
  const read = async (...hung: string[]) => {
    const cpuLists = hung.includes('/proc/zoneinfo') ? timeout('read /proc/zoneinfo') : 4096;
    const found = await facts(kernel(texts, hung), cpuLists);
    const { cgroup, contiguity, driver, kernel: counted, pressure, from } = found;
    const values = {
      'kernel.vmstat': counted.oomKill,
      pressure: pressure?.some.avg10,
      contiguity: contiguity?.length,
      'kernel.freeInCpuLists': counted.freeInCpuLists,
      'kernel.swappiness': counted.swappiness,
      cgroup: cgroup?.path,
      'cgroup.current': cgroup?.current,
      'driver.version': driver.version,
    };
    return { values, from };
  };

  it.each([
    ['/proc/vmstat', ['kernel.vmstat']],
    ['/proc/pressure/memory', ['pressure']],
    ['/proc/buddyinfo', ['contiguity']],
    ['/proc/zoneinfo', ['kernel.freeInCpuLists']],
    ['/proc/sys/vm/swappiness', ['kernel.swappiness']],
    ['/proc/self/cgroup', ['cgroup', 'cgroup.current']],
    ['/sys/fs/cgroup/a/memory.current', ['cgroup.current']],
    ['/proc/driver/nvidia/version', ['driver.version']],
  ])('%s leaves null what it has, with the reason, and nothing else', async (path, missing) => {
    const whole = await read();
    const { from, values } = await read(path);
    for (const [name, value] of Object.entries(whole.values)) {
      if (missing.includes(name)) expect(values[name as keyof typeof values] ?? null, name).toBeNull();
      else expect(values[name as keyof typeof values], name).toBe(value);
    }
    expect(from[missing[0] as string]).toBe(`ERR_UMA_TIMEOUT: read ${path} answered TIMEOUT: no answer within 2000 ms`);
  });
});

describe('counters of /proc/vmstat', () => {
  const counted = { allocstall: 3, pgmajfault: 3, oomKill: 8, compactSuccess: 1234 };

  it('are found anywhere in the file, and summed over zones', async () => {
    const { kernel: settings, from } = await facts(kernel({ '/proc/vmstat': `${'x 1\n'.repeat(2000)}${vmstat()}` }));
    expect(settings).toMatchObject(counted);
    expect(from['kernel.vmstat']).toBe('/proc/vmstat');
  });

  it('of which one is missing are null for that one alone', async () => {
    const { oom_kill: _, ...others } = COUNTERS;
    expect((await facts(kernel({ '/proc/vmstat': vmstat(others) }))).kernel).toMatchObject({
      ...counted,
      oomKill: null,
    });
  });

  it('that cannot be read are null, with the reason', async () => {
    const { kernel: settings, from } = await facts(kernel({}));
    expect(settings).toMatchObject({ allocstall: null, pgmajfault: null, oomKill: null, compactSuccess: null });
    expect(from['kernel.vmstat']).toMatch(/ENOENT/);
  });
});

describe('files that seldom change', () => {
  const boot = '/proc/sys/kernel/random/boot_id';
  const release = '/proc/sys/kernel/osrelease';
  const swappiness = '/proc/sys/vm/swappiness';

  it('are read once within a second, and every snapshot names their source', async () => {
    const machine = kernel({ [swappiness]: '60\n' });
    for (let i = 0; i < 3; i++) {
      const { kernel: settings, from } = await facts(machine);
      expect(settings.swappiness).toBe(60);
      expect(from['kernel.swappiness']).toBe(swappiness);
      expect(from['kernel.minFree']).toMatch(/ENOENT/);
    }
    expect(machine.timesRead(swappiness)).toBe(1);
  });

  it('are kept for ever only if all of them could be read', async () => {
    const constant = kernel({ [boot]: 'b\n', [release]: '6.17\n' });
    const missing = kernel({ [boot]: 'b\n' });
    const clock = performance.now;
    try {
      for (const later of [0, 2_000]) {
        performance.now = () => clock.call(performance) + later;
        await facts(constant);
        await facts(missing);
      }
    } finally {
      performance.now = clock;
    }
    expect([constant.timesRead(boot), missing.timesRead(boot)]).toEqual([1, 2]);
  });
});
