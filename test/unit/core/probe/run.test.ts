/** The parent of a probe: lines of the guard, and the reason why CUDA cannot be used. */

import { describe, expect, it } from 'vitest';
import { ChildState } from '../../../../lib/core/probe/child-state.ts';
import { unusableReason } from '../../../../lib/core/probe/preflight.ts';
import { pressureLimit } from '../../../../lib/core/probe/run.ts';
import { callFailure } from '../../../../lib/core/snapshot/failures.ts';
import { cudaFailure } from '../../../support/failures.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

describe('the lines of the guard', () => {
  const tripped = {
    reason: 'floor',
    available: 8e9,
    pressureFull: 0.5,
    stoppedAfterMs: null,
    freedAfterMs: null,
    atMs: 1,
  };

  it('supersede each other: the exit line has the final timings', () => {
    const state = new ChildState(
      () => undefined,
      () => undefined,
    );
    state.receiveGuardLine(JSON.stringify({ ...tripped, left: false }));
    expect(state.guard()).toEqual({
      reason: 'floor',
      memAvailable: 8e9,
      pressureFull: 0.5,
      stoppedAfterMs: null,
      freedAfterMs: null,
      left: false,
    });
    state.receiveGuardLine(JSON.stringify({ ...tripped, stoppedAfterMs: 3.5, freedAfterMs: 190, left: true }));
    expect(state.guard()).toMatchObject({ stoppedAfterMs: 3.5, freedAfterMs: 190, left: true });
  });

  it('that are truncated or not from the guard change nothing', () => {
    const state = new ChildState(
      () => undefined,
      () => undefined,
    );
    state.receiveGuardLine('{"reason":"floor","avail');
    state.receiveGuardLine('NVRM: something');
    state.receiveGuardLine('{}');
    expect(state.guard()).toBeNull();
  });
});

describe('the limit of pressure', () => {
  const floor = { bytes: 6 * GiB, from: 'a test' };

  it.each([
    [false, 0, 10],
    [false, 10, 10],
    [true, 0, 10],
    [true, 9.9, 10],
    [true, 10, null],
  ])('accepted: %s, at %d %% before the start, is %s', (acceptAFrozenMachine, full, limit) => {
    expect(pressureLimit({ floor, snapshot: snapshotOf({ full }) }, { acceptAFrozenMachine })).toBe(limit);
  });

  it('is none where no host memory is taken', () => {
    expect(pressureLimit({ floor: null, snapshot: snapshotOf() }, { acceptAFrozenMachine: false })).toBeNull();
  });
});

describe('an unusable CUDA', () => {
  it('is one short reason, without codes and paths', () => {
    const reason =
      'ERR_UMA_DRIVER_UNUSABLE: cudaGetDeviceCount answered cudaErrorInsufficientDriver (35): CUDA driver version is insufficient for CUDA runtime version; ERR_UMA_LIBRARY_MISSING: dlopen libcuda.so.1 answered LIBRARY_MISSING: cannot open';
    expect(unusableReason({ state: 'unusable', failure: null, reason })).toBe(
      'cudaGetDeviceCount answered cudaErrorInsufficientDriver (35): CUDA driver version is insufficient for CUDA runtime version',
    );
    expect(unusableReason({ state: 'missing', failure: null, reason })).not.toContain('dlopen');
    const failure = callFailure('cuda', cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuInit'));
    expect(unusableReason({ state: 'unusable', failure, reason })).toMatch(
      /^the driver gives no reason: a GPU may be lost, .* \(cuInit answered CUDA_ERROR_UNKNOWN, 999\)\. Look for Xid/,
    );
    expect(unusableReason({ state: 'timeout', failure: null, reason: null })).toBe('CUDA does not answer');
    expect(unusableReason({ state: 'unusable', failure: null, reason: null })).toBe('CUDA gives no reason');
  });
});
