import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AllocatableFacts, allocatable } from '../../../../lib/core/memory/allocatable.ts';
import { cmaPhantom } from '../../../../lib/core/memory/cma.ts';
import { GiB, MiB } from '../../../support/units.ts';
import { hostWith } from '../../../support/unknown-facts.ts';

const facts = (changes: Partial<AllocatableFacts>): AllocatableFacts => ({
  model: 'unified',
  host: hostWith({ free: 10 * GiB, available: 100 * GiB }),
  kernel: { freeInCpuLists: null },
  poolBytes: null,
  // All free memory is in large blocks.
  contiguity: [{ order: 10, blockBytes: 4 * MiB, freeBlocks: 64 * 1024, movableBlocks: null }],
  others: null,
  cuda: null,
  nvml: null,
  mig: false,
  cudaTotal: null,
  held: null,
  ...changes,
});

describe('allocatable of a unified device', () => {
  it('is MemFree now and MemAvailable after reclaim', () => {
    expect(allocatable(facts({})).bytes).toMatchObject({ immediate: 10 * GiB, afterReclaim: 100 * GiB });
  });

  it('leaves the kernel its watermarks: free pages below them cannot be allocated', () => {
    const host = hostWith({ free: 107 * GiB, available: 104 * GiB });
    expect(allocatable(facts({ host })).bytes).toMatchObject({ immediate: 104 * GiB, afterReclaim: 104 * GiB });
  });

  it('after reclaim excludes all of CMA, including page cache in it', () => {
    const host = hostWith({ free: 10 * GiB, available: 100 * GiB, cmaTotal: 2 * GiB, cmaFree: GiB });
    expect(allocatable(facts({ host })).bytes).toMatchObject({ immediate: 9 * GiB, afterReclaim: 98 * GiB });
  });

  it('subtracts what cannot be pinned and adds known pools', () => {
    const host = hostWith({ free: 20 * GiB, available: 100 * GiB, cmaTotal: 0, cmaFree: 9 * GiB });
    expect(allocatable(facts({ host, poolBytes: 40 * GiB })).bytes).toMatchObject({
      immediate: 51 * GiB,
      afterReclaim: 131 * GiB,
    });
  });

  it('does not look at swap or huge pages', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 20), fc.nat(2 ** 20), (swapFree, hugePagesFree) => {
        const host = hostWith({
          free: GiB,
          available: 2 * GiB,
          swapFree,
          hugePagesTotal: hugePagesFree,
          hugePagesFree,
          hugePageSize: 2 ** 21,
        });
        expect(allocatable(facts({ host })).bytes).toMatchObject({ immediate: GiB, afterReclaim: 2 * GiB });
      }),
    );
  });

  it('is unknown where the kernel’s number is, and never negative', () => {
    expect(allocatable(facts({ host: hostWith({}) })).bytes).toMatchObject({ immediate: null, afterReclaim: null });
    expect(
      allocatable(facts({ host: hostWith({ free: GiB, available: 8 * GiB, cmaFree: 9 * GiB, cmaTotal: 0 }) })).bytes,
    ).toMatchObject({ immediate: 0, afterReclaim: 0 });
  });

  it('ignores NVML, which may report a carve-out', () => {
    expect(
      allocatable(facts({ nvml: { total: 8 * GiB, free: 7 * GiB, used: GiB, reserved: 0 } })).bytes.afterReclaim,
    ).toBe(100 * GiB);
  });
});

describe('allocatable of a unified device with a limit of its own', () => {
  // N1X: CUDA's total is 46,477 MiB on 54.2 GiB; NVML reports a carve-out of 8,128 MiB.
  const cudaTotal = 46_477 * 2 ** 20;
  const host = hostWith({ total: 54.2 * GiB, free: 20 * GiB, available: 50 * GiB });
  const nvml = { total: 8128 * 2 ** 20, free: 7929 * 2 ** 20, used: 0, reserved: 0 };

  it('is never more than CUDA’s total less what processes hold', () => {
    expect(allocatable(facts({ host, cudaTotal, nvml, held: 0 })).bytes).toMatchObject({
      immediate: 20 * GiB,
      afterReclaim: cudaTotal,
    });
    const { bytes, from } = allocatable(facts({ host, cudaTotal, nvml, held: 40 * GiB }));
    expect(bytes).toMatchObject({ immediate: cudaTotal - 40 * GiB, afterReclaim: cudaTotal - 40 * GiB });
    expect(from).toMatch(/at most CUDA's own total of 45\.4 GiB less 40\.0 GiB that processes hold$/);
    expect(allocatable(facts({ host, cudaTotal, held: null })).from).toMatch(/what processes hold of it is not known$/);
    expect(allocatable(facts({ host, cudaTotal, held: 60 * GiB })).bytes.immediate).toBe(0);
    expect(allocatable(facts({ host, cudaTotal, held: 0, cuda: { free: GiB, total: cudaTotal } })).bytes).toMatchObject(
      {
        immediate: GiB,
        afterReclaim: cudaTotal,
      },
    );
  });

  it('does not matter where CUDA’s total is MemTotal', () => {
    const whole = facts({ cudaTotal: hostWith({}).total, held: 0 });
    expect(allocatable(whole)).toMatchObject(allocatable(facts({})));
  });
});

describe('cmaPhantom', () => {
  it('is CmaFree above CmaTotal, which real CMA cannot be', () => {
    expect(cmaPhantom(hostWith({ cmaTotal: 0, cmaFree: 9 * GiB }))).toBe(9 * GiB);
    expect(cmaPhantom(hostWith({ cmaTotal: GiB, cmaFree: GiB }))).toBe(0);
    expect(cmaPhantom(hostWith({}))).toBe(0);
  });
});

describe('allocatable of other devices', () => {
  const nvml = { total: 140 * GiB, free: 139 * GiB, used: 0, reserved: GiB };
  const cuda = { free: 138 * GiB, total: 139.7 * GiB };
  it('comes from NVML and CUDA, the smaller of both', () => {
    expect(allocatable(facts({ model: 'discrete', nvml })).bytes.immediate).toBe(139 * GiB);
    expect(allocatable(facts({ model: 'discrete', nvml, cuda })).bytes.immediate).toBe(138 * GiB);
    expect(allocatable(facts({ model: 'discrete' })).bytes.immediate).toBeNull();
  });
  it('is CUDA’s alone for a MIG slice', () => {
    expect(
      allocatable(facts({ model: 'discrete', nvml, cuda: { free: 9 * GiB, total: 10 * GiB }, mig: true })).bytes
        .immediate,
    ).toBe(9 * GiB);
    expect(allocatable(facts({ model: 'discrete', nvml, mig: true })).bytes.immediate).toBeNull();
  });
  it('is never NVML’s number where the model is unknown: it may be of a carve-out', () => {
    const { bytes, from } = allocatable(facts({ model: 'unknown', nvml }));
    expect(bytes).toMatchObject({ immediate: null, afterReclaim: null });
    expect(from).toMatch(/139\.0 GiB may be of a carve-out/);
    expect(allocatable(facts({ model: 'unknown', nvml, cuda })).bytes).toMatchObject({
      immediate: cuda.free,
      afterReclaim: null,
    });
  });
  it('leaves afterReclaim of a coherent device unknown', () => {
    expect(allocatable(facts({ model: 'coherent', nvml })).bytes).toMatchObject({
      immediate: 139 * GiB,
      afterReclaim: null,
    });
  });
});

describe('what is safe to load', () => {
  const SPARK = 128_518_619_136;
  const spark = (changes: Parameters<typeof hostWith>[0] = {}) =>
    hostWith({ total: SPARK, free: 100 * GiB, available: 110 * GiB, ...changes });
  /** The floor of a Spark, 7 % of MemTotal, with the margin of a step and what a program takes besides its data. */
  const RESERVE = Math.ceil(SPARK * 0.07) + 64 * MiB + 512 * MiB;
  const safe = (changes: Partial<AllocatableFacts>) => allocatable(facts({ host: spark(), ...changes })).bytes.safe;
  const userOf = (bytes: number) => ({
    processes: [{ pid: 7, name: 'vllm', gpuBytes: bytes }],
    bytes,
    from: 'sum of NVML processes',
  });

  it('leaves the host its floor and the program its start, and says so', () => {
    const { bytes, safe: rule } = allocatable(facts({ host: spark() }));
    expect(bytes).toMatchObject({ safe: 110 * GiB - RESERVE, safeHigh: 110 * GiB - RESERVE });
    expect(rule.between).toBeNull();
    expect(rule.from).toBe(
      'MemAvailable less 8.4 GiB for the host (the larger of 8.0 GiB and 7 % of MemTotal, 119.69 GiB (128.52 GB)), 64.0 MiB of margin and 512.0 MiB for the program itself',
    );
  });

  it('is unknown where the sizes of the free blocks are, and at most what the floor leaves', () => {
    for (const contiguity of [null, []]) {
      const { bytes, safe: rule } = allocatable(facts({ host: spark(), contiguity }));
      expect(bytes).toMatchObject({ safe: null, safeHigh: 110 * GiB - RESERVE });
      expect(rule.from).toMatch(/^whether free memory comes in blocks of 2 MiB, .*, is not known$/);
    }
    // Below the floor no block helps.
    expect(safe({ host: spark({ available: RESERVE }), contiguity: null })).toBe(0);
  });

  it('is nothing below the floor, and unknown without MemAvailable', () => {
    expect(safe({ host: spark({ available: RESERVE }) })).toBe(0);
    expect(safe({ host: spark({ available: RESERVE + 1 }) })).toBe(1);
    expect(safe({ host: spark({ available: null }) })).toBeNull();
  });

  it('excludes all of CMA, adds known pools, and is never above what CUDA calls total', () => {
    expect(safe({ host: spark({ cmaTotal: 0, cmaFree: 9 * GiB }) })).toBe(101 * GiB - RESERVE);
    expect(safe({ poolBytes: 5 * GiB })).toBe(115 * GiB - RESERVE);
    expect(safe({ cudaTotal: 40 * GiB, held: 10 * GiB })).toBe(30 * GiB);
  });

  it('leaves other users 10 % of what they hold, where that is more than the floor', () => {
    expect(safe({ others: userOf(60 * GiB) })).toBe(110 * GiB - RESERVE);
    expect(safe({ others: userOf(100 * GiB) })).toBe(110 * GiB - 10 * GiB - 576 * MiB);
    expect(safe({ ...OWN, others: userOf(40 * GiB) })).toBe(96 * GiB);
    expect(safe({ ...OWN, others: userOf(GiB) })).toBe(99 * GiB);
  });

  it('is a range where free memory is fragmented: what is in blocks, and what compaction may join', () => {
    const contiguity = (large: number, movable: number | null = null) => {
      const small = (100 * GiB - large) / 4096;
      return [
        { order: 0, blockBytes: 4096, freeBlocks: small, movableBlocks: movable === null ? null : small * movable },
        { order: 9, blockBytes: 2 * MiB, freeBlocks: large / (2 * MiB), movableBlocks: large / (2 * MiB) },
      ];
    };
    const range = (large: number, movable: number | null = null) => {
      const { high, low } = allocatable(facts({ host: spark(), contiguity: contiguity(large, movable) })).safe;
      return [low, high];
    };
    // 10 GiB of reclaimable cache come in blocks at the share that free memory has.
    expect(range(25 * GiB)).toEqual([25 * GiB + 2.5 * GiB - 512 * MiB, 110 * GiB - RESERVE]);
    expect(range(24 * GiB)).toEqual([24 * GiB + 2.4 * GiB - 512 * MiB, 110 * GiB - RESERVE].map(Math.floor));
    // Root knows which pages move: nothing is left open.
    expect(range(20 * GiB, 0.5)).toEqual([60 * GiB + 10 * GiB - 512 * MiB, 60 * GiB + 10 * GiB - 512 * MiB]);
    expect(range(20 * GiB, 1)).toEqual([110 * GiB - RESERVE, 110 * GiB - RESERVE]);
  });

  it('counts the free pages in the lists of the processors', () => {
    const kernel = { freeInCpuLists: 2 * GiB };
    expect(allocatable(facts({ kernel })).bytes).toMatchObject({ immediate: 10 * GiB, afterReclaim: 102 * GiB });
    const listed = allocatable(facts({ host: spark(), kernel }));
    expect(listed.bytes).toMatchObject({ safe: 112 * GiB - RESERVE, safeHigh: 112 * GiB - RESERVE });
    expect(listed.from).toMatch(/MemAvailable \+ free pages in the processors’ lists/);
    expect(listed.safe.from).toMatch(/^MemAvailable \+ free pages in the processors’ lists less 8\.4 GiB/);
    expect(safe({ kernel: { freeInCpuLists: null } })).toBe(110 * GiB - RESERVE);
  });

  it('of a device with memory of its own is what is free, less the context where NVML alone was read', () => {
    expect(safe(OWN)).toBe(100 * GiB);
    expect(safe({ ...OWN, cuda: null })).toBe(100 * GiB - 512 * MiB);
    expect(safe({ ...OWN, model: 'coherent' })).toBe(100 * GiB);
    expect(safe({ ...OWN, model: 'unknown' })).toBeNull();
  });
});

/** A GPU with 140 GiB of its own, 100 of them free. */
const OWN: Partial<AllocatableFacts> = {
  model: 'discrete',
  cuda: { free: 100 * GiB, total: 140 * GiB },
  nvml: { free: 100 * GiB, total: 140 * GiB, used: 40 * GiB, reserved: null },
};
