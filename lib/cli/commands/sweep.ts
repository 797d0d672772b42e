import { LIMITS } from '../../base/limits.ts';
import { didYouMean } from '../../base/nearest.ts';
import { dataType } from '../../core/memory/dtypes.ts';
import { KINDS } from '../../core/memory/kinds.ts';
import { sweep } from '../../core/sweep/index.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { sweepPage, sweepStepLine } from '../../show/render/text/sweep.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import { DTYPES, type DType } from '../../types/dtypes.ts';
import type { SweepOptions } from '../../types/index.ts';
import type { Command, CommandOutcome, Context, OptionValues } from '../core/command.ts';
import { choice, count, elements, flag, isGiven, list, shapes, size, sizes, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';
import { FULL, kinds, OUTPUT_OPTIONS, probeOptions, SAFETY_OPTIONS } from './probe-options.ts';
import { runProbe, sweepExit } from './probe-run.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'sweep';

export const sweepCommand: Command = {
  name: NAME,
  usage: '[options]',
  description:
    'In a child process, allocates each size, has the GPU write every byte twice, and frees it. Shows the times and the bandwidth; with --full by how much each counter moved. ' +
    'A step that would take the host below its floor is refused, with the reason.\n' +
    'Sizes are a list, a range, tensors or a preset (default: quick). Ctrl-C stops the sweep and prints the results so far.',
  options: {
    kind: {
      type: 'string',
      list: true,
      placeholder: '<kind>',
      values: [...KINDS, 'all'],
      summary: `${KINDS.join(', ')}, separated by commas, or all (default device)`,
    },
    sizes: {
      type: 'string',
      list: true,
      placeholder: '<sizes>',
      summary: 'Such as 1GB,2GiB: GB is 10^9 bytes, GiB is 2^30',
    },
    from: { type: 'string', placeholder: '<size>', summary: 'First size of a range' },
    to: { type: 'string', placeholder: '<size>', summary: 'Last size of a range' },
    step: {
      type: 'string',
      placeholder: '<size>',
      summary: 'Increment of a range (default: each size doubles)',
    },
    preset: {
      type: 'string',
      placeholder: '<preset>',
      values: ['lab', 'quick'],
      summary: 'lab: 1 to 80 GB in twelve steps; quick (the default): 0.25 to 2 GB',
    },
    dtype: {
      type: 'string',
      list: true,
      placeholder: '<type>',
      values: DTYPES,
      summary: 'Element types of tensors, such as float32,bf16,int4',
    },
    shape: {
      type: 'string',
      list: true,
      placeholder: '<shapes>',
      summary: 'Shapes of tensors, such as 8192x8192,4096',
    },
    elements: { type: 'string', placeholder: '<n>', summary: 'Number of elements instead of shapes, such as 1e9' },
    repeat: {
      type: 'string',
      placeholder: '<n>',
      summary: `Repeats of each step: ${LIMITS.repeat.min} to ${LIMITS.repeat.max} (default 1)`,
    },
    oversubscribe: {
      type: 'boolean',
      summary: "Let managed memory exceed the device's memory (not on unified machines)",
    },
    full: { ...FULL, summary: 'Show the counters that moved and the pictures, too' },
    ...OUTPUT_OPTIONS,
    ...SAFETY_OPTIONS,
  },
  examples: [
    { command: 'umaprobe sweep', means: 'a few small sizes' },
    { command: 'umaprobe sweep --preset lab --sim gb10', means: 'twelve sizes, on a simulated machine' },
    { command: 'umaprobe sweep --kind all --sizes 1GB,4GB --html report.html', means: 'kinds side by side, as a page' },
    { command: 'umaprobe sweep --elements 1e9 --dtype float32,bf16,int8,int4', means: 'tensors' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'sizes', pattern: /^\d/ } },
  run,
};

async function run(context: Context): Promise<CommandOutcome> {
  const { values, json } = context;
  const reports = reportsOf(values, json, NAME);
  const options = sweepOptions(values);
  const { report, signalCode } = await runProbe(context, 'starting', ({ signal, prepared, live }) =>
    sweep({
      ...options,
      ...probeOptions(values, NAME),
      signal,
      onEvent(event) {
        if (event.type !== 'step') return prepared(event);
        const { done, total, etaMs } = event.progress;
        live.step(sweepStepLine(event.step, done, total), {
          share: done / total,
          etaMs,
          label: done < total ? `step ${done + 1} of ${total}` : `all ${total} steps done`,
        });
      },
    }),
  );
  const forms = {
    page: (options: RenderOptions) => sweepPage(report, options, { full: flag(values, 'full') }),
    csv: () => toCsv(report),
    html: () => toHtml(report),
  };
  return writeReports(reports, forms, report, sweepExit(report, signalCode), context);
}

function sweepOptions(values: OptionValues): SweepOptions {
  const requested = kinds(values, NAME);
  const repeat = count(values, 'repeat', LIMITS.repeat, NAME);
  return {
    ...sizeOptions(values),
    ...(requested === undefined ? {} : { kinds: requested }),
    ...(repeat === undefined ? {} : { repeat }),
    ...(flag(values, 'oversubscribe') ? { oversubscribe: true } : {}),
  };
}

/** The ways to give sizes, and the options of each. */
const SIZE_SOURCES = {
  sizes: ['sizes'],
  range: ['from', 'to', 'step'],
  tensors: ['dtype', 'shape', 'elements'],
  preset: ['preset'],
} as const;

function sizeOptions(values: OptionValues): Pick<SweepOptions, 'sizes' | 'range' | 'tensors' | 'preset'> {
  const typed = Object.values(SIZE_SOURCES).map((names) => names.filter((name) => isGiven(values, name)));
  const used = typed.filter((names) => names.length > 0);
  if (used.length > 1) {
    const [first = [], second = []] = used;
    throw new UsageError(`--${first[0]} and --${second[0]} both set the sizes: give one of them.`, NAME);
  }
  if (isGiven(values, 'sizes')) return { sizes: sizes(values, 'sizes', NAME) ?? [] };
  if (used.includes(typed[1] ?? [])) return { range: range(values) };
  if (used.includes(typed[2] ?? [])) return { tensors: tensors(values) };
  return { preset: choice(values, 'preset', ['lab', 'quick'] as const, 'quick', NAME) };
}

function range(values: OptionValues): NonNullable<SweepOptions['range']> {
  const from = size(values, 'from', NAME);
  const to = size(values, 'to', NAME);
  const step = size(values, 'step', NAME);
  if (from === undefined || to === undefined)
    throw new UsageError(
      `A range needs both --from and --to; --${from === undefined ? 'from' : 'to'} is missing.`,
      NAME,
    );
  if (to < from)
    throw new UsageError(`--to "${text(values, 'to')}" is less than --from "${text(values, 'from')}".`, NAME);
  return { from, to, ...(step === undefined ? {} : { step }) };
}

/** The element type with a name, in any case. */
function dtypeOf(word: string): DType {
  const type = dataType(word);
  if (type !== null) return type.name;
  const hint = didYouMean(word, DTYPES) || ` The types are ${DTYPES.join(', ')}.`;
  throw new UsageError(`--dtype "${word}" is not an element type.${hint}`, NAME);
}

function tensors(values: OptionValues): NonNullable<SweepOptions['tensors']> {
  const dtypes = list(values, 'dtype', NAME)?.map(dtypeOf);
  const dimensions = shapes(values, 'shape', NAME);
  const number = elements(values, 'elements', NAME);
  if (dtypes === undefined) throw new UsageError('Tensors need element types: --dtype float32,bf16.', NAME);
  if (dimensions === undefined && number === undefined)
    throw new UsageError('Tensors need --shape 8192x8192 or --elements 1e9.', NAME);
  if (dimensions !== undefined && number !== undefined)
    throw new UsageError('--shape and --elements both set the number of elements: give one of them.', NAME);
  return {
    dtypes,
    ...(dimensions === undefined ? {} : { shapes: dimensions }),
    ...(number === undefined ? {} : { elements: number }),
  };
}
