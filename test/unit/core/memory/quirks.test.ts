import { describe, expect, it } from 'vitest';
import { QUIRKS, type QuirkFacts, quirkNotes } from '../../../../lib/core/memory/quirks.ts';
import { DEVICE_ATTRIBUTES } from '../../../../lib/types/device.ts';
import type { DeviceAttribute } from '../../../../lib/types/index.ts';
import { GiB } from '../../../support/units.ts';
import { hostWith, NO_DRIVER, NO_KERNEL } from '../../../support/unknown-facts.ts';

const attributes = Object.fromEntries(DEVICE_ATTRIBUTES.map((name) => [name, null])) as Record<
  DeviceAttribute,
  number | null
>;
const plain: QuirkFacts = {
  host: hostWith({ cmaTotal: 0, cmaFree: 0, hugePagesTotal: 0 }),
  kernel: NO_KERNEL,
  driver: NO_DRIVER,
  device: {
    memoryModel: 'unified',
    nvml: null,
    cuda: null,
    migMode: null,
    attributes: { ...attributes, concurrentManagedAccess: 1 },
    addressingMode: 'ATS',
  },
  nvmlRefusal: null,
};
const ids = (facts: QuirkFacts) => QUIRKS.filter((quirk) => quirk.applies(facts)).map((quirk) => quirk.id);
const memory = { total: 2 ** 37, free: 2 ** 36, used: 2 ** 36, reserved: 0 };

describe('quirks', () => {
  it('says nothing about an ordinary device', () => {
    expect(ids(plain)).toEqual([]);
    expect(ids({ ...plain, device: { ...plain.device, memoryModel: 'discrete', nvml: memory } })).toEqual([]);
  });

  it.each<[string, QuirkFacts]>([
    ['zero-framebuffer', { ...plain, nvmlRefusal: 'NOT_SUPPORTED' }],
    ['unified-nvml-answers', { ...plain, device: { ...plain.device, nvml: memory } }],
    [
      'mig-slice',
      { ...plain, device: { ...plain.device, memoryModel: 'discrete', migMode: { current: true, pending: true } } },
    ],
    ['coherent-numa-memory', { ...plain, device: { ...plain.device, memoryModel: 'coherent' } }],
    [
      'no-concurrent-managed-access',
      { ...plain, device: { ...plain.device, attributes: { ...attributes, concurrentManagedAccess: 0 } } },
    ],
    ['cma-phantom', { ...plain, host: hostWith({ cmaTotal: 0, cmaFree: 9.3 * GiB }) }],
    ['driver-pools', { ...plain, driver: { ...NO_DRIVER, systemMemoryPools: 529 } }],
    ['huge-pages-mislead', { ...plain, host: hostWith({ hugePagesTotal: 1024 }) }],
  ])('%s is known by its facts, and by nothing else', (id, facts) => {
    expect(ids(facts)).toEqual([id]);
    expect(quirkNotes(facts)).toHaveLength(1);
  });

  it('does not call other refusals normal: a lost GPU is not a zero framebuffer', () => {
    expect(ids({ ...plain, nvmlRefusal: 'GPU_IS_LOST' })).toEqual([]);
    expect(
      ids({ ...plain, nvmlRefusal: 'NOT_SUPPORTED', device: { ...plain.device, memoryModel: 'discrete' } }),
    ).toEqual([]);
  });

  it('every row has its evidence', () => {
    for (const quirk of QUIRKS) expect(quirk.evidence, quirk.id).toMatch(/\d/);
    expect(new Set(QUIRKS.map((quirk) => quirk.id)).size).toBe(QUIRKS.length);
  });

  it('gives pool bytes where root could read them', () => {
    expect(
      quirkNotes({ ...plain, driver: { version: null, systemMemoryPools: 529, poolBytes: 64 * GiB } })[0],
    ).toContain('64.00 GiB');
  });
});
