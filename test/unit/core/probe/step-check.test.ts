/** Whether a step may be made, to the byte. */

import { describe, expect, it } from 'vitest';
import { stepMargin } from '../../../../lib/core/memory/floor.ts';
import type { HostReading, PlannedStep, RunLimits } from '../../../../lib/core/probe/context.ts';
import { stepRefusal } from '../../../../lib/core/probe/step-check.ts';
import { GiB } from '../../../support/units.ts';

const FLOOR = 8 * GiB;
const LIMITS: Pick<RunLimits, 'floor' | 'memoryModel' | 'pressureFull'> = {
  floor: FLOOR,
  memoryModel: 'unified',
  pressureFull: 10,
};
const STEP: PlannedStep = { kind: 'device', heldBytes: 2 * GiB, targetBytes: 6 * GiB };
/** Just enough for the step. */
const ENOUGH = FLOOR + stepMargin(FLOOR) + 4 * GiB;

const cause = (reading: Partial<HostReading>, step: Partial<PlannedStep> = {}, limits: Partial<typeof LIMITS> = {}) => {
  const rest = {
    memFree: null,
    memAvailable: ENOUGH,
    unpinnable: 0,
    pressureFull: 0,
    inLargeBlocks: null,
    stuck: null,
  };
  return stepRefusal({ ...LIMITS, ...limits }, { ...rest, ...reading }, { ...STEP, ...step })?.cause ?? null;
};

describe('a step', () => {
  it('leaves the floor and its margin', () => {
    expect(cause({})).toBeNull();
    expect(cause({ memAvailable: ENOUGH - 1 })).toBe('floor');
    expect(cause({ memAvailable: ENOUGH + GiB, unpinnable: GiB })).toBeNull();
    expect(cause({ memAvailable: ENOUGH + GiB, unpinnable: GiB + 1 })).toBe('floor');
    expect(cause({}, { predictedCost: 4 * GiB + 1 })).toBe('floor');
    expect(cause({ memAvailable: null })).toBe('floor');
  });

  it('is not made at the limit of pressure', () => {
    expect(cause({ pressureFull: 9.99 })).toBeNull();
    expect(cause({ pressureFull: 10 })).toBe('pressure');
    expect(cause({ pressureFull: 99 }, {}, { pressureFull: null })).toBeNull();
  });

  it('that takes nothing of the host is made', () => {
    expect(cause({ memAvailable: 0, pressureFull: 99 }, {}, { floor: null })).toBeNull();
    expect(cause({ memAvailable: 0, pressureFull: 99 }, {}, { memoryModel: 'discrete' })).toBeNull();
  });
});
