import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AllocatableFacts, allocatable, cmaPhantom } from '../../../lib/memory/allocatable.ts';
import { GiB } from '../../support/units.ts';
import { hostWith } from '../../support/unknown-facts.ts';

const facts = (changes: Partial<AllocatableFacts>): AllocatableFacts => ({
  model: 'unified',
  host: hostWith({ free: 10 * GiB, available: 100 * GiB }),
  poolBytes: null,
  cuda: null,
  nvml: null,
  mig: false,
  cudaTotal: null,
  held: null,
  ...changes,
});

describe('allocatable of a unified device', () => {
  it('is MemFree now and MemAvailable after reclaim', () => {
    expect(allocatable(facts({})).bytes).toEqual({ immediate: 10 * GiB, afterReclaim: 100 * GiB });
  });

  it('leaves the kernel its watermarks: free pages below them cannot be allocated', () => {
    const host = hostWith({ free: 107 * GiB, available: 104 * GiB });
    expect(allocatable(facts({ host })).bytes).toEqual({ immediate: 104 * GiB, afterReclaim: 104 * GiB });
  });

  it('after reclaim excludes all of CMA, including page cache in it', () => {
    const host = hostWith({ free: 10 * GiB, available: 100 * GiB, cmaTotal: 2 * GiB, cmaFree: GiB });
    expect(allocatable(facts({ host })).bytes).toEqual({ immediate: 9 * GiB, afterReclaim: 98 * GiB });
  });

  it('subtracts what cannot be pinned and adds known pools', () => {
    const host = hostWith({ free: 20 * GiB, available: 100 * GiB, cmaTotal: 0, cmaFree: 9 * GiB });
    expect(allocatable(facts({ host, poolBytes: 40 * GiB })).bytes).toEqual({
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
        expect(allocatable(facts({ host })).bytes).toEqual({ immediate: GiB, afterReclaim: 2 * GiB });
      }),
    );
  });

  it('is unknown where the kernel’s number is, and never negative', () => {
    expect(allocatable(facts({ host: hostWith({}) })).bytes).toEqual({ immediate: null, afterReclaim: null });
    expect(
      allocatable(facts({ host: hostWith({ free: GiB, available: 8 * GiB, cmaFree: 9 * GiB, cmaTotal: 0 }) })).bytes,
    ).toEqual({ immediate: 0, afterReclaim: 0 });
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
    expect(allocatable(facts({ host, cudaTotal, nvml, held: 0 })).bytes).toEqual({
      immediate: 20 * GiB,
      afterReclaim: cudaTotal,
    });
    const { bytes, from } = allocatable(facts({ host, cudaTotal, nvml, held: 40 * GiB }));
    expect(bytes).toEqual({ immediate: cudaTotal - 40 * GiB, afterReclaim: cudaTotal - 40 * GiB });
    expect(from).toMatch(/at most CUDA's own total of 45\.4 GiB less 40\.0 GiB that processes hold$/);
    expect(allocatable(facts({ host, cudaTotal, held: null })).from).toMatch(/what processes hold of it is not known$/);
    expect(allocatable(facts({ host, cudaTotal, held: 60 * GiB })).bytes.immediate).toBe(0);
    expect(allocatable(facts({ host, cudaTotal, held: 0, cuda: { free: GiB, total: cudaTotal } })).bytes).toEqual({
      immediate: GiB,
      afterReclaim: cudaTotal,
    });
  });

  it('does not matter where CUDA’s total is MemTotal', () => {
    const whole = facts({ cudaTotal: hostWith({}).total, held: 0 });
    expect(allocatable(whole)).toEqual(allocatable(facts({})));
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
    expect(bytes).toEqual({ immediate: null, afterReclaim: null });
    expect(from).toMatch(/139\.0 GiB may be of a carve-out/);
    expect(allocatable(facts({ model: 'unknown', nvml, cuda })).bytes).toEqual({
      immediate: cuda.free,
      afterReclaim: null,
    });
  });
  it('leaves afterReclaim of a coherent device unknown', () => {
    expect(allocatable(facts({ model: 'coherent', nvml })).bytes).toEqual({ immediate: 139 * GiB, afterReclaim: null });
  });
});
