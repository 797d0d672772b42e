/** CUDA_VISIBLE_DEVICES: an answer about the caller, never about the machine. */
import { describe, expect, it } from 'vitest';
import { health } from '../../../lib/memory/health.ts';
import { hidesAll, mayHideAll, misleadingEntry } from '../../../lib/memory/visibility.ts';
import { type MachineFixture, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

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

describe('the verdict where CUDA shows no GPU', () => {
  it('names the variable, not a machine without GPU', () => {
    const snapshot = snapshotOf({ visible: { variable: '-1', hidden: [0] } });
    expect(hidesAll(snapshot)).toBe(true);
    expect(health(snapshot)).toMatchObject({
      level: 'notice',
      text: 'CUDA_VISIBLE_DEVICES="-1" hides the GPU of this machine from programs that are started here.',
    });
  });

  it('is OK if one of two GPUs is hidden', () => {
    const snapshot = snapshotOf({ ...twoGpus, visible: { variable: '0', hidden: [1] } });
    expect(hidesAll(snapshot)).toBe(false);
    expect(health(snapshot).level).toBe('ok');
  });

  it('does not say "No GPU" if nothing else could tell', () => {
    const snapshot = snapshotOf({ gpu: false, visible: { variable: '', hidden: [] } });
    const reason = 'ERR_UMA_NO_DEVICE: cuInit answered CUDA_ERROR_NO_DEVICE (100)';
    snapshot.libraries.cuda = { ...snapshot.libraries.cuda, state: 'unusable', reason };
    expect(mayHideAll(snapshot)).toBe(true);
    expect(health(snapshot).text).toBe(
      'CUDA shows no GPU to programs that are started here, and CUDA_VISIBLE_DEVICES="" may hide some.',
    );
    snapshot.cudaVisibleDevices = null;
    expect(health(snapshot).text).toMatch(/^No GPU: /);
  });
});
