/** Options that sweep, layout and stress share, and what they become for the library. */
import { GiB } from '../../base/format.ts';
import { DEFAULT_FLOOR_TEXT, MIN_FLOOR } from '../../memory/floor.ts';
import { KINDS } from '../../memory/kinds.ts';
import type { AllocatorKind, ProbeOptions } from '../../types/index.ts';
import type { OptionTable, Values } from '../core/command.ts';
import { count, duration, flag, list, size, text } from '../core/options.ts';
import { didYouMean, UsageError } from '../core/usage.ts';

export const SAFETY_OPTIONS: OptionTable = {
  device: { type: 'string', placeholder: '<n>', summary: 'CUDA device (default 0)' },
  floor: {
    type: 'string',
    placeholder: '<size>',
    summary: `Memory kept for the host (default: ${DEFAULT_FLOOR_TEXT}; at least ${MIN_FLOOR / GiB}GiB)`,
  },
  journal: {
    type: 'string',
    placeholder: '<file|none>',
    summary: 'Written to disk before each step (default: a file under ~/.local/state/umaprobe)',
  },
  timeout: { type: 'string', placeholder: '<time>', summary: 'Time limit: 100ms to 24h' },
  'step-timeout': {
    type: 'string',
    placeholder: '<time>',
    summary: 'Time limit for one GPU call: 100ms to 10m (default 1m)',
  },
  'i-accept-a-frozen-machine': {
    type: 'boolean',
    summary: `Accept a floor below ${MIN_FLOOR / GiB}GiB, and start even under pressure, fragmented or swapping`,
  },
};

/** For a command that takes one kind. */
export const KIND_OPTION: OptionTable = {
  kind: {
    type: 'string',
    placeholder: '<kind>',
    summary: `${KINDS.slice(0, -1).join(', ')} or ${KINDS.at(-1)} (default device)`,
  },
};

export const OUTPUT_OPTIONS: OptionTable = {
  csv: { type: 'string', placeholder: '<file|->', summary: 'Write one row per step as CSV; - for stdout' },
  html: { type: 'string', placeholder: '<file>', summary: 'Write the report as one HTML file that works offline' },
};

/** The shared options, as given on the command line. */
export function probeOptions(values: Values, command: string): ProbeOptions {
  const accept = flag(values, 'i-accept-a-frozen-machine');
  const device = count(values, 'device', 0, 255, command);
  const floor = floorOf(values, command, accept);
  const journal = text(values, 'journal');
  return {
    ...(device === undefined ? {} : { device }),
    ...(floor === undefined ? {} : { floor }),
    ...(accept ? { acceptAFrozenMachine: true } : {}),
    ...(journal === undefined ? {} : { journal: journal === 'none' ? false : journal }),
    ...given('stepDeadlineMs', time(values, 'step-timeout', 600_000, command)),
    ...given('timeoutMs', time(values, 'timeout', 86_400_000, command)),
  };
}

function given<Name extends string, T>(name: Name, value: T | undefined): { [K in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [K in Name]: T });
}

function time(values: Values, name: string, maxMs: number, command: string): number | undefined {
  return text(values, name) === undefined ? undefined : duration(values, name, 100, maxMs, 0, command);
}

function floorOf(values: Values, command: string, accept: boolean): number | undefined {
  const floor = size(values, 'floor', command, 0);
  if (floor === undefined || floor >= MIN_FLOOR || accept) return floor;
  throw new UsageError(
    `--floor "${text(values, 'floor')}" is below ${MIN_FLOOR / GiB}GiB: a host that runs out of memory freezes instead of failing. ` +
      'Give a larger floor, or add --i-accept-a-frozen-machine.',
    command,
  );
}

/** "device,managed" or "all". */
export function kinds(values: Values, command: string): AllocatorKind[] | 'all' | undefined {
  const words = list(values, 'kind', command);
  if (words === undefined) return undefined;
  if (words.length === 1 && words[0] === 'all') return 'all';
  return [...new Set(words.map((word) => kindOf(word, [...KINDS, 'all'], command)))];
}

/** One kind. */
export function kind(values: Values, command: string): AllocatorKind | undefined {
  const word = text(values, 'kind');
  return word === undefined ? undefined : kindOf(word, KINDS, command);
}

function kindOf(word: string, choices: readonly string[], command: string): AllocatorKind {
  const found = KINDS.find((candidate) => candidate === word);
  if (found !== undefined) return found;
  if (choices.includes(word)) throw new UsageError(`--kind "${word}" cannot be combined with other kinds.`, command);
  throw new UsageError(`--kind "${word}" is not one of ${choices.join(', ')}.${didYouMean(word, choices)}`, command);
}
