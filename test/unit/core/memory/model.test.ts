import { describe, expect, it } from 'vitest';
import { type ModelFacts, memoryModel } from '../../../../lib/core/memory/model.ts';
import { nvmlFailure } from '../../../support/failures.ts';

const facts = (changes: Partial<ModelFacts>): ModelFacts => ({
  integrated: null,
  pageableMemoryAccessUsesHostPageTables: null,
  addressingMode: null,
  nvmlMemory: null,
  migMode: null,
  ...changes,
});
const model = (changes: Partial<ModelFacts>) => memoryModel(facts(changes)).model;

describe('memoryModel', () => {
  it('follows the integrated attribute alone, whatever NVML says', () => {
    expect(model({ integrated: 1 })).toBe('unified');
    expect(model({ integrated: 1, nvmlMemory: { total: 2 ** 37 } })).toBe('unified');
    expect(model({ integrated: 0, addressingMode: 'ATS', nvmlMemory: nvmlFailure('NOT_SUPPORTED', 3) })).toBe(
      'discrete',
    );
  });

  it('a GH200 is coherent: not integrated, but on the host’s page tables', () => {
    expect(
      model({
        integrated: 0,
        pageableMemoryAccessUsesHostPageTables: 1,
        addressingMode: 'ATS',
        nvmlMemory: { total: 2 ** 37 },
      }),
    ).toBe('coherent');
  });

  it('a MIG slice, a lost GPU and a broken driver are silent too, and are not taken for unified', () => {
    expect(model({ nvmlMemory: nvmlFailure('NOT_SUPPORTED', 3) })).toBe('unknown');
    expect(model({ nvmlMemory: nvmlFailure('GPU_IS_LOST', 15), addressingMode: 'ATS' })).toBe('unknown');
    expect(model({ nvmlMemory: nvmlFailure('UNKNOWN', 999) })).toBe('unknown');
    expect(model({ integrated: 0, nvmlMemory: nvmlFailure('NOT_SUPPORTED', 3) })).toBe('discrete');
  });

  it('a coherent GPU in MIG mode reports no memory either, so without CUDA it is unknown', () => {
    const ats = { addressingMode: 'ATS', nvmlMemory: nvmlFailure('NOT_SUPPORTED', 3) };
    expect(model({ ...ats, migMode: [1, 1] })).toBe('unknown');
    expect(model({ ...ats, migMode: nvmlFailure('UNKNOWN', 999) })).toBe('unknown');
    expect(model({ ...ats, migMode: [0, 1] })).toBe('unified');
    expect(model({ ...ats, migMode: nvmlFailure('NOT_SUPPORTED', 3) })).toBe('unified');
    expect(model({ ...ats, migMode: [1, 1], integrated: 1 })).toBe('unified');
  });

  it('without CUDA, ATS together with NOT_SUPPORTED stands in, and only both together', () => {
    expect(model({ addressingMode: 'ATS', nvmlMemory: nvmlFailure('NOT_SUPPORTED', 3) })).toBe('unified');
    expect(model({ addressingMode: 'ATS', nvmlMemory: { total: 1 } })).toBe('unknown');
    expect(model({ addressingMode: 'NONE', nvmlMemory: nvmlFailure('NOT_SUPPORTED', 3) })).toBe('unknown');
  });
});
