/** Options that sweep, layout and stress share, and what they become for the library. */

import { LIMITS, type Range } from '../../base/limits.ts';
import { didYouMean } from '../../base/nearest.ts';
import { KINDS } from '../../core/memory/kinds.ts';
import type { AllocatorKind, ProbeOptions } from '../../types/index.ts';
import type { OptionSpec, OptionTable, OptionValues } from '../core/command.ts';
import { count, duration, durationRange, list, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';
import { floorOf, floorOptions } from './floor-option.ts';

/** The same options under a heading of the help. */
export function inSection(section: string, options: OptionTable): OptionTable {
  return Object.fromEntries(Object.entries(options).map(([name, spec]) => [name, { ...spec, section }]));
}

export const SAFETY_OPTIONS: OptionTable = inSection('Machine and safety', {
  device: {
    type: 'string',
    placeholder: '<n>',
    summary: 'CUDA device (default: the GPU that shares the host’s memory, else 0)',
  },
  ...floorOptions(', and start even under pressure, fragmented or swapping'),
  journal: {
    type: 'string',
    placeholder: '<file|none>',
    summary: 'Written to disk before each step (default: a file under ~/.local/state/umaprobe)',
  },
  timeout: { type: 'string', placeholder: '<time>', summary: `Time limit: ${durationRange(LIMITS.timeoutMs)}` },
  'step-timeout': {
    type: 'string',
    placeholder: '<time>',
    summary: `Time limit for one GPU call: ${durationRange(LIMITS.stepTimeoutMs)} (default: 1m and more, by kind and size)`,
  },
});

/** Option of a command that takes one kind. */
export const KIND_OPTION: OptionTable = {
  kind: {
    type: 'string',
    placeholder: '<kind>',
    values: KINDS,
    summary: `${KINDS.slice(0, -1).join(', ')} or ${KINDS.at(-1)} (default device)`,
  },
};

export const PAGE: OptionSpec = {
  type: 'string',
  placeholder: '<file>',
  summary: 'Write the report as one HTML file that works offline',
  section: 'Reports',
};

/** Option of a command whose page has more than fits a window. */
export const FULL: OptionSpec = {
  type: 'boolean',
  summary: 'Show every step and the pictures, too',
  section: 'Reports',
};

export const OUTPUT_OPTIONS: OptionTable = inSection('Reports', {
  csv: { type: 'string', placeholder: '<file|->', summary: 'Write one row per step as CSV; - for stdout' },
  html: PAGE,
});

/** The shared options, as given on the command line. */
export function probeOptions(values: OptionValues, command: string): ProbeOptions {
  const device = count(values, 'device', LIMITS.device, command);
  const journal = journalOption(values);
  return {
    ...(device === undefined ? {} : { device }),
    ...floorOf(values, command),
    ...given('journal', journal),
    ...given('stepTimeoutMs', time(values, 'step-timeout', LIMITS.stepTimeoutMs, command)),
    ...given('timeoutMs', time(values, 'timeout', LIMITS.timeoutMs, command)),
  };
}

/** `--journal`: none is no journal. */
export function journalOption(values: OptionValues): ProbeOptions['journal'] {
  const journal = text(values, 'journal');
  return journal === 'none' ? false : journal;
}

function given<Name extends string, T>(name: Name, value: T | undefined): { [K in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [K in Name]: T });
}

function time(values: OptionValues, name: string, range: Required<Range>, command: string): number | undefined {
  return text(values, name) === undefined ? undefined : duration(values, name, range, 0, command);
}

/** "device,managed" or "all". */
export function kinds(values: OptionValues, command: string): AllocatorKind[] | 'all' | undefined {
  const words = list(values, 'kind', command);
  if (words === undefined) return undefined;
  if (words.length === 1 && words[0] === 'all') return 'all';
  return [...new Set(words.map((word) => kindOf(word, [...KINDS, 'all'], command)))];
}

/** One kind. */
export function kind(values: OptionValues, command: string): AllocatorKind | undefined {
  const word = text(values, 'kind');
  if (word === 'all' || word?.includes(',') === true)
    throw new UsageError(`--kind "${word}": ${command} takes one kind; umaprobe sweep takes several.`, command);
  return word === undefined ? undefined : kindOf(word, KINDS, command);
}

function kindOf(word: string, choices: readonly string[], command: string): AllocatorKind {
  const found = KINDS.find((candidate) => candidate === word);
  if (found !== undefined) return found;
  if (choices.includes(word)) throw new UsageError(`--kind "${word}" cannot be combined with other kinds.`, command);
  throw new UsageError(`--kind "${word}" is not one of ${choices.join(', ')}.${didYouMean(word, choices)}`, command);
}
