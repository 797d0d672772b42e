/** Memory that a launch took and gave back, from readings of the machine before, while and after. Pure. */

import { formatBytes, formatCount } from '../../base/format.ts';
import { CONTEXT_STEP } from '../../base/limits.ts';
import { PROGRAM_BYTES } from '../../core/memory/floor.ts';
import { PLATEAU_SHARE, stretches } from '../../core/memory/plateaus.ts';
import type {
  LaunchExpectation,
  LaunchFlags,
  LaunchPlateau,
  LaunchReading,
  LaunchReceipt,
  RecognisedCommand,
} from '../../types/index.ts';

export interface ReceiptInput {
  before: LaunchReceipt['before'];
  /** Readings while it ran, oldest first. */
  readings: readonly LaunchReading[];
  /** Time at which the load phase ended, ISO 8601; null: it was not told. */
  loadedAt: string | null;
  /** The least that was available, which may lie between two readings. */
  lowest: number;
  after: { available: number; free: number } | null;
  /** MemTotal. */
  total: number;
  floor: LaunchReceipt['floor'];
  own: LaunchReceipt['own'];
  gpus: Pick<LaunchReceipt, 'gpus' | 'gpuProblem'>;
  expected: LaunchExpectation | null;
  command: RecognisedCommand;
  /** The guard stopped it: all that it takes is not known. */
  isStopped: boolean;
  /** Flags that fit named before the start; null: it named none. */
  planned: LaunchFlags | null;
}

/** A plateau of a launch lasts this long. */
const PLATEAU_MS = 2000;

/** Weights as measured differ from those of the files by this share at most. */
const NEAR = 0.1;

export function receiptOf(input: ReceiptInput): LaunchReceipt {
  const { after, before, expected, floor, gpus, loadedAt, own, readings } = input;
  const lowest = Math.min(input.lowest, ...readings.map(({ available }) => available));
  const plateaus = plateausOf(input);
  const longest = plateaus.reduce<LaunchPlateau | null>(
    (best, plateau) => (best === null || spanOf(plateau) > spanOf(best) ? plateau : best),
    null,
  );
  const loaded = loadedAt === null ? undefined : readings.findLast(({ at }) => at <= loadedAt);
  return {
    before,
    took: {
      weights: expected === null || expected.host !== null ? null : weightsIn(plateaus, expected.weights),
      loaded: loaded === undefined ? null : before.available - loaded.available,
      peak: Math.max(0, before.available - lowest),
      plateau: longest?.taken ?? null,
      plateaus,
    },
    ...gpus,
    expected,
    own,
    headroom: lowest - floor.bytes,
    floor,
    after:
      after === null
        ? null
        : {
            ...after,
            returned: after.available - heldAtEnd(readings, lowest),
            missing: Math.max(0, before.available - after.available),
          },
    flags: flagsAfter(input, floor.bytes - lowest),
  };
}

/** Memory is given back while a process still ends: the last readings may have some of it. */
const ENDING_MS = 1000;

/** The least that was available in the last second. */
function heldAtEnd(readings: readonly LaunchReading[], lowest: number): number {
  const last = readings.at(-1);
  if (last === undefined) return lowest;
  const from = Date.parse(last.at) - ENDING_MS;
  return Math.min(...readings.slice(-100).flatMap(({ at, available }) => (Date.parse(at) < from ? [] : [available])));
}

function plateausOf({ before, readings, total }: ReceiptInput): LaunchPlateau[] {
  return stretches(
    readings.map(({ available }) => available),
    total * PLATEAU_SHARE,
  )
    .map(({ first, last, mean }) => ({
      from: readings[first]?.at ?? '',
      to: readings[last]?.at ?? '',
      taken: Math.round(before.available - mean),
    }))
    .filter((plateau) => spanOf(plateau) >= PLATEAU_MS);
}

function spanOf({ from, to }: LaunchPlateau): number {
  return Date.parse(to) - Date.parse(from);
}

/** The plateau that is the weights: with the other memory of a CUDA program, and nearest to the files' size. */
function weightsIn(plateaus: readonly LaunchPlateau[], weights: number): number | null {
  const near = plateaus
    .map(({ taken }) => taken)
    .filter((taken) => taken >= weights * (1 - NEAR) && taken <= weights * (1 + NEAR) + PROGRAM_BYTES)
    .sort((a, b) => Math.abs(a - weights) - Math.abs(b - weights));
  return near[0] ?? null;
}

/**
 * The flags that would have kept the floor: those of the command, less the missing amount.
 *
 * @param missing bytes of the floor that were taken; 0 or less: it was kept.
 */
function flagsAfter(input: ReceiptInput, missing: number): LaunchFlags | null {
  const { before, command, expected, gpus, isStopped, planned, total } = input;
  const { program, utilization } = command;
  // Flags of a GPU's own memory do not give the host any back.
  if (program === null || (expected !== null && expected.host !== null) || gpus.gpus.length > 0) return null;
  if (isStopped) return planned ?? { safe: null, from: 'The guard stopped it before it had all that it takes.' };
  if (missing <= 0)
    return { safe: null, from: `The floor was kept, with ${formatBytes(-missing)} to spare: its own flags are safe.` };
  const short = `It took ${formatBytes(missing)} of the floor`;
  const none = (why: string): LaunchFlags => ({ safe: null, from: `${short}, and ${why}.` });
  if (program === 'vllm' || program === 'sglang') {
    const [flag, whole] =
      program === 'vllm'
        ? (['--gpu-memory-utilization', total] as const)
        : (['--mem-fraction-static', before.available] as const);
    const share = Math.floor(((utilization ?? 0) - missing / whole) * 100 + 1e-9) / 100;
    if (share <= 0) return none('no share is small enough');
    return { safe: `${flag} ${share}`, from: `${short}; this share takes so much less than ${utilization}.` };
  }
  if (program !== 'llama.cpp' && program !== 'ollama') return null;
  if (expected === null || expected.kvBytesPerToken === null || expected.kvBytesPerToken <= 0) return null;
  const { context, kvBytesPerToken, sequences } = expected;
  const fewer = Math.ceil(missing / (kvBytesPerToken * sequences));
  const tokens = Math.floor((context - fewer) / CONTEXT_STEP) * CONTEXT_STEP;
  if (tokens < CONTEXT_STEP) return none('no context is short enough');
  const safe = program === 'ollama' ? `OLLAMA_CONTEXT_LENGTH=${tokens}` : `-c ${tokens * sequences}`;
  return { safe, from: `${short}; this context takes so much less than ${formatCount(context)} tokens.` };
}

/** Readings that are kept at most; a day then has one every 10 to 20 s. */
const MOST_READINGS = 8192;

/** Readings of a launch, thinned so that a launch of weeks keeps a few thousand. */
export class Series {
  #readings: LaunchReading[] = [];
  /** One of so many is kept. */
  #stride = 1;
  #count = 0;
  #last: LaunchReading | null = null;

  add(reading: LaunchReading): void {
    this.#last = reading;
    if (this.#count++ % this.#stride !== 0) return;
    this.#readings.push(reading);
    if (this.#readings.length < MOST_READINGS) return;
    this.#readings = this.#readings.filter((_, index) => index % 2 === 0);
    this.#stride *= 2;
  }

  /** Oldest first, with the last of all. */
  readings(): readonly LaunchReading[] {
    const last = this.#last;
    return last === null || this.#readings.at(-1) === last ? this.#readings : [...this.#readings, last];
  }
}
