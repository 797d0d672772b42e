import { SOME_BYTES } from '../../base/limits.ts';
import { didYouMean } from '../../base/nearest.ts';
import { defined } from '../../base/objects.ts';
import { bytes, type CheckedOf, flag } from '../../base/options.ts';
import { dataType } from '../../core/memory/dtypes.ts';
import { parseElements, parseShape } from '../../core/memory/tensors.ts';
import { sweep } from '../../core/sweep/index.ts';
import { SWEEP, type SweepOptions } from '../../core/sweep/options.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { sweepPage, sweepStepLine } from '../../show/render/text/sweep.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import { DTYPES, type DType } from '../../types/dtypes.ts';
import type { Command, CommandOutcome, Context, OptionValues } from '../core/command.ts';
import { isGiven, sizeOf, text } from '../core/options.ts';
import { optionTable, ownOptions, typedList, typedOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { REPORTS } from './probe-options.ts';
import { runProbe, sweepExit } from './probe-run.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'sweep';

/** Sizes, as they are typed. */
export const TYPED_SIZES = {
  sizes: typedList((words, name) => words.map((word) => sizeInList(word, name)), {
    placeholder: '<sizes>',
    help: 'Such as 1GB,2GiB: GB is 10^9 bytes, GiB is 2^30',
  }),
  from: bytes({ ...SOME_BYTES, help: 'First size of a range' }),
  to: bytes({ ...SOME_BYTES, help: 'Last size of a range' }),
  step: bytes({ ...SOME_BYTES, help: 'Increment of a range (default: each size doubles)' }),
  dtype: typedList((words) => words.map(dtypeOf), {
    placeholder: '<type>',
    words: DTYPES,
    help: 'Element types of tensors, such as float32,bf16,int4',
  }),
  shape: typedList((words, name) => words.map((word) => shapeOf(word, name)), {
    placeholder: '<shapes>',
    help: 'Shapes of tensors, such as 8192x8192,4096',
  }),
  elements: typedText(elementsOf, {
    placeholder: '<n>',
    help: 'Number of elements instead of shapes, such as 1e9',
  }),
  full: flag({ help: 'Show the counters that moved and the pictures, too', section: 'Reports' }),
};

export const sweepCommand: Command = {
  name: NAME,
  description:
    'In a child process, allocates each size, has the GPU write every byte twice, and frees it. Shows the times and the bandwidth; with --full by how much each counter moved. ' +
    'A step that would take the host below its floor is refused, with the reason.\n' +
    'Sizes are a list, a range, tensors or a preset (default: quick). Ctrl-C stops the sweep and prints the results so far.',
  options: optionTable(TYPED_SIZES, REPORTS, SWEEP),
  examples: [
    { command: 'umaprobe sweep', means: 'a few small sizes' },
    { command: 'umaprobe sweep --preset lab --sim gb10', means: 'twelve sizes, on a simulated machine' },
    { command: 'umaprobe sweep --kind all --sizes 1GB,4GB --html report.html', means: 'kinds side by side, as a page' },
    { command: 'umaprobe sweep --elements 1e9 --dtype float32,bf16,int8,int4', means: 'tensors' },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'sizes', pattern: /^\d/ } },
  run,
};

async function run(context: Context): Promise<CommandOutcome> {
  const { values } = context;
  const reports = reportsOf(context, NAME);
  const options = { ...typedOptions(values, SWEEP, NAME), ...sizesOf(values) };
  const { report, signalCode } = await runProbe(context, 'starting', ({ signal, prepared, live }) =>
    sweep({
      ...options,
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
    page: (options: RenderOptions) => sweepPage(report, options, { full: values.full === true }),
    csv: () => toCsv(report),
    html: () => toHtml(report),
  };
  return writeReports(reports, forms, report, sweepExit(report, signalCode), context);
}

/** The ways to give sizes, and the options of each. */
const SIZE_SOURCES = {
  sizes: ['sizes'],
  range: ['from', 'to', 'step'],
  tensors: ['dtype', 'shape', 'elements'],
  preset: ['preset'],
} as const;

function sizesOf(values: OptionValues): Pick<SweepOptions, 'sizes' | 'range' | 'tensors'> {
  const typed = Object.values(SIZE_SOURCES).map((names) => names.filter((name) => isGiven(values, name)));
  const [first, second] = typed.filter((names) => names.length > 0);
  if (second !== undefined)
    throw new UsageError(`--${first?.[0]} and --${second[0]} both set the sizes: give one of them.`);
  const own = ownOptions(values, TYPED_SIZES, NAME);
  if (own.sizes !== undefined) return { sizes: own.sizes };
  if (first === typed[1]) return { range: rangeOf(own, values) };
  return first === typed[2] ? { tensors: tensorsOf(own) } : {};
}

type Own = CheckedOf<typeof TYPED_SIZES>;

function rangeOf({ from, step, to }: Own, values: OptionValues): NonNullable<SweepOptions['range']> {
  if (from === undefined || to === undefined)
    throw new UsageError(`A range needs both --from and --to; --${from === undefined ? 'from' : 'to'} is missing.`);
  if (to < from) throw new UsageError(`--to "${text(values, 'to')}" is less than --from "${text(values, 'from')}".`);
  return { from, to, ...defined({ step }) };
}

function tensorsOf({ dtype: dtypes, elements, shape: shapes }: Own): NonNullable<SweepOptions['tensors']> {
  if (dtypes === undefined) throw new UsageError('Tensors need element types: --dtype float32,bf16.');
  if (shapes === undefined && elements === undefined)
    throw new UsageError('Tensors need --shape 8192x8192 or --elements 1e9.');
  if (shapes !== undefined && elements !== undefined)
    throw new UsageError('--shape and --elements both set the number of elements: give one of them.');
  return {
    dtypes,
    ...defined({ shapes, elements }),
  };
}

function sizeInList(word: string, name: string): number {
  if (!word.includes('..')) return sizeOf(word, name, NAME);
  throw new UsageError(`${name} "${word}" is no list, such as 1GB,4GB; a range is --from 1GB --to 4GB.`);
}

/** The element type with a name, in any case. */
function dtypeOf(word: string): DType {
  const type = dataType(word);
  if (type !== null) return type.name;
  const hint = didYouMean(word, DTYPES) || ` The types are ${DTYPES.join(', ')}.`;
  throw new UsageError(`--dtype "${word}" is not an element type.${hint}`);
}

/** "8192x8192" → [8192, 8192]. */
function shapeOf(word: string, name: string): number[] {
  const shape = parseShape(word);
  if (shape === null || !shape.every(Number.isSafeInteger))
    throw new UsageError(`${name} "${word}" is not a shape, such as 8192x8192 or 4096.`);
  if (shape.includes(0)) throw new UsageError(`${name} "${word}" has a dimension of 0, so it holds nothing.`);
  return shape;
}

/** "1e9", "1000000" → a whole number of elements. */
function elementsOf(word: string, name: string): number {
  const number = parseElements(word);
  if (number !== null) return number;
  throw new UsageError(`${name} "${word}" is not a whole number of elements, such as 1e9, from 1 to 2^53 − 1.`);
}
