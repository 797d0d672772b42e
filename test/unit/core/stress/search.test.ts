/** The search on a modelled machine: nothing here allocates, reads a clock or sleeps. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Bounds,
  type Headroom,
  initialState,
  type Move,
  next,
  type SearchEnd,
  update,
} from '../../../../lib/core/stress/search.ts';

const MiB = 2 ** 20;
const GiB = 2 ** 30;

interface ModelMachine {
  /** Host memory above the floor; null: no such limit. */
  host: number | null;
  blocks: number | null;
  device: { bytes: number; hard: boolean } | null;
  /** The allocator refuses beyond this total or block, whatever the counters say. */
  refusesAbove: number;
  costPerByte: number;
}

interface Searched {
  end: SearchEnd;
  best: number;
  tries: number;
  allocated: number;
  steps: { bytes: number; predictedCost: number; headroom: Headroom }[];
}

/** Runs a search to its end; other programs take `lose(step)` bytes before each step. */
function search(bounds: Bounds, machine: ModelMachine, lose: (step: number) => number = () => 0): Searched {
  let state = initialState(bounds);
  let others = 0;
  const steps: Searched['steps'] = [];
  for (let step = 0; step < 500; step++) {
    others += lose(step);
    const held = state.heldBytes;
    const headroom: Headroom = {
      host: machine.host === null ? null : Math.max(0, machine.host - others - held * machine.costPerByte),
      blocks: machine.blocks === null ? null : Math.max(0, machine.blocks - held),
      device: machine.device === null ? null : { ...machine.device, bytes: Math.max(0, machine.device.bytes - held) },
    };
    const move: Move = next(state, bounds, headroom);
    if ('end' in move) {
      return { end: move.end, best: state.bestBytes, tries: step, allocated: sum(steps), steps };
    }
    steps.push({ ...move, headroom });
    const total = held + move.bytes;
    const ok = total <= machine.refusesAbove;
    state = update(state, bounds, move.bytes, {
      state: ok ? 'ok' : 'out-of-memory',
      cost: machine.host === null || !ok ? null : move.bytes * machine.costPerByte,
      headroom,
    });
  }
  throw new Error('the search does not end');
}

const sum = (steps: { bytes: number }[]) => steps.reduce((all, { bytes }) => all + bytes, 0);

const unified: Bounds = {
  mode: 'total',
  firstBytes: 256 * MiB,
  chunkBytes: 4 * GiB,
  resolutionBytes: 64 * MiB,
  ceilingBytes: null,
};
const discrete: Bounds = { ...unified, chunkBytes: 32 * GiB, resolutionBytes: 2 * MiB };
const nothing = { host: null, blocks: null, device: null, costPerByte: 1, refusesAbove: Number.MAX_SAFE_INTEGER };

const bytes = (most: number) => fc.integer({ min: 0, max: most / MiB }).map((n) => n * MiB);
const mode = fc.constantFrom('total' as const, 'single' as const);

describe('on memory shared with the host', () => {
  it('starts small, doubles to the chunk, and halves towards the floor', () => {
    const { best, end, steps } = search(unified, { ...nothing, host: 20 * GiB });
    expect(steps.slice(0, 5).map((step) => step.bytes / MiB)).toEqual([256, 512, 1024, 2048, 4096]);
    expect(end).toBe('floor');
    expect(20 * GiB - best).toBeLessThan(64 * MiB);
    const large = search(unified, { ...nothing, host: 100 * GiB });
    expect(Math.max(...large.steps.map((step) => step.bytes))).toBe(4 * GiB);
  });

  it('never plans a step whose predicted cost exceeds the headroom, whatever others take meanwhile', () => {
    fc.assert(
      fc.property(
        mode,
        bytes(200 * GiB),
        fc.double({ min: 0.5, max: 3, noNaN: true }),
        fc.array(bytes(8 * GiB), { maxLength: 40 }),
        (which, host, costPerByte, losses) => {
          const bounds = { ...unified, mode: which };
          const { steps } = search(bounds, { ...nothing, host, costPerByte }, (at) => losses[at] ?? 0);
          for (const step of steps) expect(step.predictedCost).toBeLessThanOrEqual(step.headroom.host as number);
        },
      ),
    );
  });

  it('reaches the floor to within the resolution when no other program interferes', () => {
    fc.assert(
      fc.property(mode, bytes(200 * GiB), fc.double({ min: 1, max: 1.2, noNaN: true }), (which, host, costPerByte) => {
        const { best, end } = search({ ...unified, mode: which }, { ...nothing, host, costPerByte });
        expect(end).toBe('floor');
        expect(host / costPerByte - best).toBeLessThanOrEqual(64 * MiB * 1.2 + 1);
      }),
    );
  });

  it('learns what a byte costs: half as much fits where it costs double', () => {
    const { best, steps } = search(unified, { ...nothing, host: 20 * GiB, costPerByte: 2 });
    expect(steps[1]?.predictedCost).toBe((steps[1]?.bytes ?? 0) * 2);
    expect(10 * GiB - best).toBeLessThan(64 * MiB);
  });

  it('assumes a cost of at least the size: freed blocks in driver pools cost 0 until they are used up', () => {
    const { steps } = search(unified, { ...nothing, host: 20 * GiB, costPerByte: 0, refusesAbove: 12 * GiB });
    for (const step of steps) expect(step.predictedCost).toBeGreaterThanOrEqual(step.bytes);
  });

  it('ends for lack of large blocks while memory is left', () => {
    const { best, end } = search(unified, { ...nothing, host: 100 * GiB, blocks: 10 * GiB });
    expect(end).toBe('contiguity');
    expect(10 * GiB - best).toBeLessThan(64 * MiB);
  });

  it('has nothing to do without headroom', () => {
    expect(search(unified, { ...nothing, host: 63 * MiB })).toMatchObject({ end: 'floor', tries: 0, best: 0 });
  });
});

describe('on a device with memory of its own', () => {
  const machine = (free: number, given: number) => ({
    ...nothing,
    device: { bytes: free, hard: false },
    refusesAbove: given,
  });

  it('finds the same edge as plain bisection, but allocates each byte once', () => {
    // What an H200 answers: cudaMemGetInfo free, and what cudaMalloc then gives in all.
    const { allocated, best, end, tries } = search(discrete, machine(149_556_297_728, 149_556_297_728));
    expect(end).toBe('out-of-memory');
    expect(149_556_297_728 - best).toBeLessThan(2 * MiB);
    expect(allocated - best).toBeLessThan(2 * MiB + 1); // the one refusal at the end
    expect(tries).toBeLessThan(20);
  });

  it('finds the edge wherever the allocator has it, and never needs many tries', () => {
    fc.assert(
      fc.property(mode, bytes(200 * GiB), bytes(200 * GiB), (which, free, given) => {
        const { best, end, tries } = search({ ...discrete, mode: which }, machine(free, given));
        expect(best).toBeLessThanOrEqual(given);
        expect(given - best).toBeLessThanOrEqual(2 * MiB);
        expect(end).toBe('out-of-memory');
        expect(tries).toBeLessThan(64);
      }),
      { numRuns: 200 },
    );
  });

  it('never asks lazy memory for more than is free there', () => {
    fc.assert(
      fc.property(mode, bytes(200 * GiB), (which, free) => {
        const machineOfLazy = { ...nothing, device: { bytes: free, hard: true } };
        const { best, end, steps } = search({ ...discrete, mode: which }, machineOfLazy);
        expect(end).toBe('device');
        for (const step of steps) expect(step.bytes).toBeLessThanOrEqual(step.headroom.device?.bytes ?? 0);
        expect(free - best).toBeLessThan(2 * MiB);
      }),
    );
  });

  it('takes a single block in three tries where the prediction holds', () => {
    const { best, end, tries } = search({ ...discrete, mode: 'single' }, machine(139 * GiB, 139 * GiB));
    expect(tries).toBe(4); // 256 MiB, a chunk, all of it, and one more that is refused
    expect(end).toBe('out-of-memory');
    expect(best).toBe(139 * GiB);
  });
});

describe('a ceiling', () => {
  it('is reached exactly, to the byte, and not passed', () => {
    fc.assert(
      fc.property(mode, fc.integer({ min: 1, max: 50 * GiB }), (which, ceilingBytes) => {
        const { best, end } = search({ ...unified, mode: which, ceilingBytes }, { ...nothing, host: 80 * GiB });
        expect(end).toBe('limit');
        expect(best).toBe(ceilingBytes);
      }),
    );
  });

  it('does not override the floor', () => {
    const { best, end } = search({ ...unified, ceilingBytes: 80 * GiB }, { ...nothing, host: 10 * GiB });
    expect(end).toBe('floor');
    expect(best).toBeLessThanOrEqual(10 * GiB);
  });
});
