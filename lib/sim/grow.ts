/** A program whose memory follows a curve, on the simulated machine of this process. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Fact, toUmaError } from '../base/errors.ts';
import { isFailure } from '../base/facts.ts';
import { MiB } from '../base/format.ts';
import { native } from '../core/native/binding.ts';
import { bytesOfCurve, type CurvePoint, endOfCurve } from './curve.ts';

/** Memory is taken and given back in such pieces: a machine has 8,192 allocations at most. */
const PIECE_BYTES = 32 * MiB;
/** Real milliseconds between two pieces, at least. */
const TICK_MS = 5;
/** An allocation waits as long as a machine without memory lets it wait. */
const DEADLINE_MS = 600_000;

export interface Growth {
  curve: readonly CurvePoint[];
  /** True: GPU memory, through CUDA, in place of the memory of the process. */
  gpu: boolean;
  /** Keeps the last amount for this long, in milliseconds of the machine. */
  holdMs: number;
  /** The bytes held, after each change, and the machine's milliseconds since the beginning. */
  onChange(bytes: number, afterMs: number): void;
}

export function isOnSimulatedMachine(): boolean {
  const machine = native().simulatedMachine();
  return machine !== null && typeof checked<string>(machine) === 'string';
}

/** Ends when the curve does. Waits where the machine has no memory; the wait has no end once it is wedged. */
export async function grow({ curve, gpu, holdMs, onChange }: Growth): Promise<void> {
  const hold = gpu ? await gpuHolder() : holdHost;
  const scale = native().timeScale();
  const beganMs = performance.now();
  const now = (): number => (performance.now() - beganMs) * scale;
  const end = endOfCurve(curve);
  let held = 0;
  const follow = async (bytes: number): Promise<void> => {
    if (bytes === held) return;
    await hold(bytes);
    held = bytes;
    onChange(bytes, now());
  };
  for (let ms = 0; ms < end.afterMs; ms = now()) {
    const bytes = bytesOfCurve(curve, ms);
    await follow(bytes - (bytes % PIECE_BYTES));
    await sleep(TICK_MS);
  }
  await follow(end.bytes);
  await sleep(holdMs / scale);
}

type Hold = (bytes: number) => Promise<void>;

async function holdHost(bytes: number): Promise<void> {
  const failure = native().simHold(bytes);
  if (failure !== null) throw toUmaError(failure);
}

/** cudaMalloc and cudaFree on the first device. */
async function gpuHolder(): Promise<Hold> {
  checked(await native().allocOpen(0, DEADLINE_MS));
  const blocks: { block: number; bytes: number }[] = [];
  let held = 0;
  return async (bytes) => {
    for (let newest = blocks.at(-1); newest !== undefined && held > bytes; newest = blocks.at(-1)) {
      checked(await native().freeBlock(newest.block, DEADLINE_MS));
      blocks.pop();
      held -= newest.bytes;
    }
    if (held >= bytes) return;
    const { block } = checked(await native().allocBlock('device', bytes - held, DEADLINE_MS));
    blocks.push({ block, bytes: bytes - held });
    held = bytes;
  };
}

function checked<T>(fact: Fact<T>): T {
  if (isFailure(fact)) throw toUmaError(fact);
  return fact;
}
