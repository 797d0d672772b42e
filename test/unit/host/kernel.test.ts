/** The kernel's facts: which files are read how often, and the sources that are recorded. */

import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../lib/base/errors.ts';
import { Provenance } from '../../../lib/base/facts.ts';
import { readKernelFacts } from '../../../lib/host/kernel.ts';
import type { NativeBinding } from '../../../lib/native/contract.ts';
import { kernelFailure } from '../../support/failures.ts';

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

/** A kernel with these files; `reads` has every reading of a file. */
function kernel(files: Record<string, string>) {
  const reads: string[] = [];
  const read = (paths: string[], bytes = Number.POSITIVE_INFINITY): Fact<string>[] =>
    paths.map((path) => {
      reads.push(path);
      return files[path]?.slice(0, bytes) ?? kernelFailure('ENOENT', `read ${path}`);
    });
  const binding = {
    readFiles: (paths: string[]) => read(paths),
    rereadFiles: read,
    pageSize: () => 4096,
  } as unknown as NativeBinding;
  return { binding, files, timesRead: (path: string) => reads.filter((read) => read === path).length };
}

function facts({ binding }: { binding: NativeBinding }) {
  const provenance = new Provenance();
  return { ...readKernelFacts(binding, provenance), from: provenance.sources };
}

describe('counters of /proc/vmstat', () => {
  const counted = { allocstall: 3, pgmajfault: 3, oomKill: 8, compactSuccess: 1234 };

  it.each([
    ['all of them on the first page', `${vmstat()}thp_fault 1\n${'x 1\n'.repeat(2000)}`, 1],
    ['a line cut at the end of the page', `${'x 1\n'.repeat(960)}${vmstat()}`, 2],
    ['none on the first page', `${'x 1\n'.repeat(2000)}${vmstat()}`, 2],
    ['a zone that may continue on the next page', vmstat({ ...COUNTERS, allocstall_dma: 0, allocstall_device: 1 }), 2],
  ])('are complete with %s', (_, text, reads) => {
    const machine = kernel({ '/proc/vmstat': text });
    const { kernel: settings, from } = facts(machine);
    expect(settings).toMatchObject(counted);
    expect(machine.timesRead('/proc/vmstat')).toBe(reads);
    expect(from['kernel.vmstat']).toBe('/proc/vmstat');
  });

  it('of which one is missing are null for that one alone', () => {
    const { oom_kill: _, ...others } = COUNTERS;
    expect(facts(kernel({ '/proc/vmstat': vmstat(others) })).kernel).toMatchObject({ ...counted, oomKill: null });
  });

  it('that cannot be read are null, with the reason', () => {
    const { kernel: settings, from } = facts(kernel({}));
    expect(settings).toMatchObject({ allocstall: null, pgmajfault: null, oomKill: null, compactSuccess: null });
    expect(from['kernel.vmstat']).toMatch(/ENOENT/);
  });
});

describe('files that seldom change', () => {
  const boot = '/proc/sys/kernel/random/boot_id';
  const release = '/proc/sys/kernel/osrelease';
  const swappiness = '/proc/sys/vm/swappiness';

  it('are read once within a second, and every snapshot names their source', () => {
    const machine = kernel({ [swappiness]: '60\n' });
    for (let i = 0; i < 3; i++) {
      const { kernel: settings, from } = facts(machine);
      expect(settings.swappiness).toBe(60);
      expect(from['kernel.swappiness']).toBe(swappiness);
      expect(from['kernel.minFree']).toMatch(/ENOENT/);
    }
    expect(machine.timesRead(swappiness)).toBe(1);
  });

  it('are kept for ever only if all of them could be read', () => {
    const constant = kernel({ [boot]: 'b\n', [release]: '6.17\n' });
    const missing = kernel({ [boot]: 'b\n' });
    const clock = performance.now;
    try {
      for (const later of [0, 2_000]) {
        performance.now = () => clock.call(performance) + later;
        facts(constant);
        facts(missing);
      }
    } finally {
      performance.now = clock;
    }
    expect([constant.timesRead(boot), missing.timesRead(boot)]).toEqual([1, 2]);
  });
});
