/** The context of a loop: what is on disk when a step is made, and how long a step waits for pressure to fall. */

import { describe, expect, it } from 'vitest';
import { fileError } from '../../../../lib/core/journal/file.ts';
import type { NativeBinding } from '../../../../lib/core/native/contract.ts';
import { childContext } from '../../../../lib/core/probe/child-context.ts';
import type { RunLimits } from '../../../../lib/core/probe/context.ts';

const GiB = 2 ** 30;
const step = { kind: 'device', heldBytes: 0, targetBytes: GiB } as const;

/** A machine whose PSI full avg10 follows `pressures`, reading by reading; the last value stays. */
function contextOf(
  pressures: readonly number[],
  pressureFull: number | null = 10,
  timeScale = 10_000,
  record = () => undefined,
) {
  const written: string[] = [];
  let readings = 0;
  const limits: RunLimits = {
    device: 0,
    memoryModel: 'unified',
    hostTotal: 128 * GiB,
    stuck: null,
    floor: 8 * GiB,
    pressureFull,
    stepTimeoutMs: 1000,
    timeScale,
  };
  const line = (avg10: number) => `avg10=${avg10.toFixed(2)} avg60=0.00 avg300=0.00 total=0`;
  const binding = {
    guardRead: () => ({ trip: null }),
    readFiles() {
      const full = pressures[Math.min(readings++, pressures.length - 1)] ?? 0;
      return [`some ${line(full)}\nfull ${line(full)}\n`];
    },
  } as unknown as NativeBinding;
  const writer = {
    append: ({ type }: { type: string }) => void written.push(`append ${type}`),
    commit({ type }: { type: string }) {
      record();
      written.push(`commit ${type}`);
    },
  };
  const run = { run: 'a', bootId: null };
  const parts = { binding, allocator: {} as never, limits, run, writer, self: { pid: 1, startTicks: 1 } };
  return { ...childContext(parts), written, readings: () => readings };
}

describe('a step', () => {
  it('is on disk when `begin` returns, its result with what is committed next', () => {
    const { context, written } = contextOf([0]);
    context.begin(step);
    context.finish({ state: 'ok', heldBytes: GiB });
    expect(written).toEqual(['commit step', 'append result']);
  });

  it('does not wait without pressure, nor if pressure stops nothing', async () => {
    const calm = contextOf([4.9]);
    await calm.context.waitForLowPressure();
    expect(calm.readings()).toBe(1);
    const careless = contextOf([99], null);
    await careless.context.waitForLowPressure();
    expect(careless.readings()).toBe(0);
  });

  it('waits until pressure has fallen below half of the limit', async () => {
    const { context, readings } = contextOf([20, 12, 6, 4, 99], 10, 10);
    await context.waitForLowPressure();
    expect(readings()).toBe(4);
  });

  it('does not wait forever, nor before every step, on a machine that stays under pressure', async () => {
    const { context, readings } = contextOf([20]);
    for (let i = 0; i < 200; i++) await context.waitForLowPressure();
    const before = readings();
    await context.waitForLowPressure();
    expect(readings() - before).toBeLessThanOrEqual(1);
  });

  it('has the first reason to stop, and wakes from its pause for it', async () => {
    const { context, requestStop } = contextOf([0], 10, 1);
    const pause = context.pause(600_000);
    requestStop('timeout');
    requestStop('aborted');
    await pause;
    expect(context.stop()).toEqual({ cause: 'timeout', reason: 'the time limit was reached' });
  });

  it('that cannot be recorded is not made', () => {
    const { context, written } = contextOf([0], 10, 1, () => {
      throw fileError(
        '/j',
        Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', errno: -28 }),
        'no further step is run',
      );
    });
    expect(context.begin(step)).toMatchObject({ cause: 'journal', reason: expect.stringContaining('no space left') });
    expect(context.stop()).toMatchObject({ cause: 'journal' });
    expect(written).toEqual([]);
  });

  it('does not wait once there is a reason to stop', async () => {
    const { context, requestStop, readings } = contextOf([20]);
    requestStop('aborted');
    await context.waitForLowPressure();
    expect(readings()).toBe(0);
  });
});
