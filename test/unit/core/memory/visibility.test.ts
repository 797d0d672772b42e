/** CUDA_VISIBLE_DEVICES: which entry hides more than was meant, and when the variable hides all. */
import { describe, expect, it } from 'vitest';
import { hidesAll, mayHideAll, misleadingEntry } from '../../../../lib/core/memory/visibility.ts';
import { changed, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const twoGpus: MachineFixture = { model: 'discrete', ownFree: [100 * GiB, 100 * GiB] };

describe('the entry that hides more than was meant', () => {
  it.each<[string, RegExp | null]>([
    ['', null],
    ['0', null],
    ['1,0', null],
    ['0,-1', null],
    ['-1', null],
    ['MIG-0a1b', null],
    ['GPU-1a2b', null],
    ['GPU-2a2b3c4d,GPU-1', null],
    ['0,9,1', /^"9" names no GPU of this machine: CUDA ignores it and every entry after it$/],
    ['NoDevFiles', /^"NoDevFiles" names no GPU/],
    ['gpu-1a2b', /^"gpu-1a2b" names no GPU/],
    ['GPU-', /^"GPU-" names 2 GPUs of this machine/],
    ['0,0', /^"0" names a GPU that the list has already: CUDA then shows none$/],
    ['0,\u001b[31m', /^"[ -~�]*" names no GPU/],
  ])('%j', (variable, expected) => {
    const entry = misleadingEntry(snapshotOf({ ...twoGpus, visible: { variable, hidden: [] } }));
    if (expected === null) expect(entry).toBeNull();
    else expect(entry).toMatch(expected);
  });
});

describe('where CUDA shows no GPU', () => {
  it('hides all only if no GPU is left', () => {
    expect(hidesAll(snapshotOf({ visible: { variable: '-1', hidden: [0] } }))).toBe(true);
    expect(hidesAll(snapshotOf({ ...twoGpus, visible: { variable: '0', hidden: [1] } }))).toBe(false);
    expect(hidesAll(snapshotOf({ gpu: false, visible: { variable: '-1', hidden: [] } }))).toBe(false);
  });

  it('may hide all if nothing else could tell', () => {
    const hidden = (variable: string | null) =>
      changed(
        (reading) => {
          const reason = 'ERR_UMA_NO_DEVICE: cuInit answered CUDA_ERROR_NO_DEVICE (100)';
          reading.libraries.cuda = { ...reading.libraries.cuda, state: 'unusable', reason };
          reading.cudaVisibleDevices = variable;
        },
        { gpu: false },
      );
    expect(mayHideAll(hidden(''))).toBe(true);
    expect(hidden('').judgement.because).toMatch(/^CUDA shows no GPU .* CUDA_VISIBLE_DEVICES="" may hide some\.$/);
    expect(mayHideAll(hidden(null))).toBe(false);
    expect(hidden(null).judgement.because).toMatch(/^No GPU: /);
  });
});
