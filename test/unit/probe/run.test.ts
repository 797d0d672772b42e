/** What the parent of a probe makes of what it hears and finds. */

import { describe, expect, it } from 'vitest';
import { ChildState } from '../../../lib/probe/child-state.ts';
import { unusableReason } from '../../../lib/probe/preflight.ts';

describe('the lines of the guard', () => {
  const tripped = {
    reason: 'floor',
    available: 8e9,
    pressureFull: 0.5,
    stoppedAfterMs: null,
    freedAfterMs: null,
    atMs: 1,
  };

  it('are taken as they come: the later one knows what was stopped and freed meanwhile', () => {
    const heard = new ChildState(() => undefined);
    heard.guardLine(JSON.stringify({ ...tripped, left: false }));
    expect(heard.guard()).toEqual({
      reason: 'floor',
      memAvailable: 8e9,
      pressureFull: 0.5,
      stoppedAfterMs: null,
      freedAfterMs: null,
      left: false,
    });
    heard.guardLine(JSON.stringify({ ...tripped, stoppedAfterMs: 3.5, freedAfterMs: 190, left: true }));
    expect(heard.guard()).toMatchObject({ stoppedAfterMs: 3.5, freedAfterMs: 190, left: true });
  });

  it('that are cut off or somebody else’s change nothing', () => {
    const heard = new ChildState(() => undefined);
    heard.guardLine('{"reason":"floor","avail');
    heard.guardLine('NVRM: something');
    heard.guardLine('{}');
    expect(heard.guard()).toBeNull();
  });
});

describe('CUDA that cannot be used', () => {
  it('is one short reason, without codes and paths', () => {
    const reason =
      'ERR_UMA_DRIVER_UNUSABLE: cudaGetDeviceCount answered cudaErrorInsufficientDriver (35): CUDA driver version is insufficient for CUDA runtime version; ERR_UMA_LIBRARY_MISSING: dlopen libcuda.so.1 answered LIBRARY_MISSING: cannot open';
    expect(unusableReason({ state: 'unusable', reason })).toBe(
      'cudaGetDeviceCount answered cudaErrorInsufficientDriver (35): CUDA driver version is insufficient for CUDA runtime version',
    );
    expect(unusableReason({ state: 'missing', reason })).not.toContain('dlopen');
    expect(unusableReason({ state: 'timeout', reason: null })).toBe('CUDA does not answer');
    expect(unusableReason({ state: 'unusable', reason: null })).toBe('CUDA gives no reason');
  });
});
