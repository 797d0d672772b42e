import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOST_MEMORY_FIELDS } from '../../../../lib/core/host/meminfo.ts';
import { ledger, ledgerBytes } from '../../../../lib/core/memory/ledger.ts';
import type { HostMemory } from '../../../../lib/types/index.ts';
import { hostOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';
import { hostWith } from '../../../support/unknown-facts.ts';

const nothing = { gpuProcesses: null, driverPools: null, freeInCpuLists: null, zram: null };
const bytes = fc.oneof(
  fc.constant(null),
  fc.constant(0),
  fc.integer({ min: 0, max: 2 ** 36 }).map((kB) => kB * 1024),
);
/** Meminfo of any kernel: each line present or not, up to 64 TiB per line, huge pages of an existing size. */
const anyHost = fc
  .tuple(
    fc.integer({ min: 0, max: 2 ** 36 }),
    fc.array(bytes, { minLength: HOST_MEMORY_FIELDS.length, maxLength: HOST_MEMORY_FIELDS.length }),
    fc.option(fc.nat(2 ** 20)),
    fc.constantFrom(null, 2 ** 21, 2 ** 25, 2 ** 29),
  )
  .map(([total, values, hugePagesTotal, hugePageSize]) => {
    const host = Object.fromEntries(
      HOST_MEMORY_FIELDS.map((field, at) => [field, values[at]]),
    ) as unknown as HostMemory;
    return { ...host, total: total * 1024, hugePagesTotal, hugePageSize };
  });

describe('ledger', () => {
  it('sums to MemTotal to the byte, whatever the kernel wrote', () => {
    fc.assert(
      fc.property(anyHost, bytes, bytes, bytes, (host, gpuProcesses, driverPools, freeInCpuLists) => {
        const { total, entries } = ledger(host, {
          gpuProcesses: gpuProcesses === null ? null : { bytes: gpuProcesses, incomplete: null },
          driverPools,
          freeInCpuLists,
          zram: null,
        });
        expect(entries.reduce((sum, entry) => sum + entry.bytes, 0)).toBe(host.total);
        expect(total).toBe(host.total);
        expect(new Set(entries.map((entry) => entry.label)).size).toBe(entries.length);
      }),
      { numRuns: 1000 },
    );
  });

  it('has no row of GPU processes above what can be there, and no negative remainder because of one', () => {
    fc.assert(
      fc.property(anyHost, bytes, fc.constantFrom(null, 'some are missing'), (host, listed, incomplete) => {
        const without = ledgerBytes(ledger(host, nothing), 'unattributed');
        const book = ledger(host, { ...nothing, gpuProcesses: { bytes: listed ?? 0, incomplete } });
        expect(ledgerBytes(book, 'gpuProcesses')).toBeLessThanOrEqual(Math.max(0, without));
        expect(ledgerBytes(book, 'unattributed')).toBeGreaterThanOrEqual(Math.min(0, without));
      }),
    );
  });

  it('says what is a bound: a sum with shared memory in it, and a part of a sum', () => {
    const host = hostWith({ total: 120 * GiB, free: 50 * GiB });
    const rows = (bytes: number, incomplete: string | null) =>
      ledger(host, { ...nothing, gpuProcesses: { bytes, incomplete } }).entries.slice(1);
    expect(rows(60 * GiB, null)).toMatchObject([{ bytes: 60 * GiB }, { bytes: 10 * GiB }]);
    expect(rows(60 * GiB, null)[0]).not.toHaveProperty('bound');
    expect(rows(140 * GiB, null)).toMatchObject([
      { bytes: 70 * GiB, bound: 'atMost', from: expect.stringMatching(/add up to 140.*but only 70.*CUDA IPC/) },
      { bytes: 0, bound: 'atLeast' },
    ]);
    expect(rows(20 * GiB, 'NVML lists a part')).toMatchObject([
      { bytes: 20 * GiB, bound: 'atLeast', from: expect.stringMatching(/a part of them: NVML lists a part/) },
      { bytes: 50 * GiB, bound: 'atMost' },
    ]);
  });

  it('lists known counters only, and always the remainder', () => {
    const { entries } = ledger(hostWith({ free: GiB }), nothing);
    expect(entries.map((entry) => entry.label)).toEqual(['free', 'unattributed']);
  });

  it('counts shared memory once: it is inside Cached', () => {
    const book = ledger(hostWith({ cached: 10 * GiB, shmem: 4 * GiB }), nothing);
    expect(ledgerBytes(book, 'pageCache')).toBe(6 * GiB);
    expect(ledgerBytes(book, 'shmem')).toBe(4 * GiB);
  });

  it('takes GPU processes, pools and lists of the processors out of the remainder', () => {
    const host = hostWith({ total: 100 * GiB, free: 20 * GiB });
    expect(ledgerBytes(ledger(host, nothing), 'unattributed')).toBe(80 * GiB);
    const gpuProcesses = { bytes: 60 * GiB, incomplete: null };
    const book = ledger(host, { gpuProcesses, driverPools: 5 * GiB, freeInCpuLists: 2 * GiB, zram: null });
    expect(ledgerBytes(book, 'unattributed')).toBe(13 * GiB);
    expect(book.entries[1]).toEqual({ label: 'freeInCpuLists', bytes: 2 * GiB, from: '/proc/zoneinfo' });
  });

  it('says what it could not split, and calls no page cache negative', () => {
    const whole = ledger(hostOf(), nothing);
    expect(whole.notSplit).toEqual([]);
    expect(whole.entries.at(-1)?.from).toBe('MemTotal − all of the above');
    const book = ledger(hostOf({ cached: null }), nothing);
    expect(book.notSplit).toEqual(['Cached is missing: page cache is in no counter']);
    expect(book.entries.at(-1)?.from).toBe(
      'MemTotal − all of the above; Cached is missing: page cache is in no counter',
    );
    expect(ledger(hostOf({ shmem: null }), nothing).notSplit).toEqual([
      'Shmem is missing: shared memory is in pageCache',
    ]);
    expect(ledger(hostOf({ kReclaimable: null }), nothing).notSplit).toEqual([]);
    // The two counters are not read at the same instant.
    expect(ledgerBytes(ledger(hostWith({ cached: GiB, shmem: 2 * GiB }), nothing), 'pageCache')).toBe(0);
  });

  it('takes lines for granted that only some kernels have', () => {
    const absent = { secPageTables: null, percpu: null, zswap: null, hardwareCorrupted: null, hugetlb: null };
    expect(ledger(hostOf({ ...absent, kReclaimable: null, swapCached: null }), nothing).notSplit).toEqual([]);
  });

  it('counts huge pages of every size where the kernel has Hugetlb, else pages × size', () => {
    expect(
      ledgerBytes(
        ledger(hostWith({ hugetlb: 3 * GiB, hugePagesTotal: 1024, hugePageSize: 2 ** 21 }), nothing),
        'hugePages',
      ),
    ).toBe(3 * GiB);
    expect(ledgerBytes(ledger(hostWith({ hugePagesTotal: 1024, hugePageSize: 2 ** 21 }), nothing), 'hugePages')).toBe(
      2 * GiB,
    );
  });
});
