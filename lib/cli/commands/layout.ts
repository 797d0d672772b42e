import { existsSync } from 'node:fs';
import { readNamedFile } from '../../base/named-path.ts';
import { isObject } from '../../base/objects.ts';
import { oneOf } from '../../base/options.ts';
import { layout } from '../../core/layout/index.ts';
import { LAYOUT } from '../../core/layout/options.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { layoutPage, layoutPartLine } from '../../show/render/text/layout.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type { Command, Context } from '../core/command.ts';
import { namedFiles } from '../core/files.ts';
import { sizeOf, text } from '../core/options.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { REPORTS } from './probe-options.ts';
import { exitOfState, runProbe } from './probe-run.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'layout';

/** Bytes of a parts file, far above a thousand parts: a larger file was given by mistake. */
const MAX_FILE = 1 << 20;

const OWN = {
  preset: oneOf(['13b'], {
    placeholder: '<preset>',
    help: '13b: parts of a model with 13 billion parameters, 25.5 GB',
  }),
};

export const layoutCommand: Command = {
  name: NAME,
  usage: '<file.json | name=size …> [options]',
  description:
    'Allocates the parts one after the other in a child process, has the GPU write every byte, and compares the expected sizes, the allocated sizes and the memory that the machine lost; then checks that all of it came back. ' +
    'Each part is checked against the floor before it is allocated.\n' +
    'Parts are given as weights=26GB, as a JSON file {"weights": "26GB", "kv-cache": 8000000000}, or as a preset.',
  options: optionTable(OWN, REPORTS, LAYOUT),
  examples: [
    { command: 'umaprobe layout --preset 13b', means: 'the parts of a model, held at once' },
    {
      command: 'umaprobe layout weights=26GB kv-cache=8GiB --sim gb10',
      means: 'your own parts, on a simulated machine',
    },
    { command: 'umaprobe layout model.json --json', means: 'from a file, for scripts' },
  ],
  arguments: { min: 0, max: 1000, afterDashes: false },
  async run(context) {
    const reports = reportsOf(context, NAME, namedFiles('the parts', context.positionals));
    const parts = partsOf(context);
    const options = typedOptions(context.values, LAYOUT, NAME);
    const { report, signalCode } = await runProbe(context, 'starting', ({ signal, prepared, live }) =>
      layout(parts, {
        ...options,
        signal,
        onEvent(event) {
          if (event.type !== 'part') return prepared(event);
          const { done, total } = event.progress;
          live.step(layoutPartLine(event.part, done, total), {
            share: done / total,
            etaMs: null,
            label: `${done} of ${total} parts held`,
          });
        },
      }),
    );
    const forms = {
      page: (options: RenderOptions) => layoutPage(report, options),
      csv: () => toCsv(report),
      html: () => toHtml(report),
    };
    return writeReports(reports, forms, report, exitOfState(report, signalCode), context);
  },
};

type Parts = Readonly<Record<string, number>>;

function partsOf({ values, positionals }: Context): Parts | '13b' {
  const preset = text(values, 'preset');
  if (preset !== undefined) {
    if (positionals.length > 0) throw new UsageError(`--preset cannot be combined with "${positionals[0]}".`);
    if (preset !== '13b') throw new UsageError(`--preset "${preset}" is not a preset: there is 13b.`);
    return preset;
  }
  const [first] = positionals;
  if (first === undefined) throw new UsageError('Parts are missing: give name=size, a JSON file, or --preset 13b.');
  if (positionals.length === 1 && !first.includes('=')) return partsOfFile(first);
  return unique(
    positionals.map((word) => {
      const at = word.lastIndexOf('=');
      if (at < 1) throw new UsageError(`"${word}" is not a part, such as weights=26GB.`);
      return [word.slice(0, at), sizeOf(word.slice(at + 1), `The part ${word.slice(0, at)}`, NAME)];
    }),
  );
}

function unique(pairs: readonly (readonly [string, number])[]): Parts {
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new UsageError(`The part "${twice[0]}" is given twice.`);
  return Object.fromEntries(pairs);
}

function partsOfFile(path: string): Parts {
  const parsed = parse(path, read(path));
  if (!isObject(parsed))
    throw new UsageError(`${path}: not an object of names and sizes, such as {"weights": "26GB"}.`);
  const pairs = Object.entries(parsed).map(([name, value]: [string, unknown]) => {
    const what = `${path}: the part ${name}`;
    if (typeof value === 'string') return [name, sizeOf(value, what, NAME)] as const;
    // A number is bytes, as in the library.
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return [name, value] as const;
    throw new UsageError(`${what} is ${JSON.stringify(value)}; expected a whole number of bytes or a size in quotes.`);
  });
  if (pairs.length === 0) throw new UsageError(`${path}: it has no parts.`);
  return Object.fromEntries(pairs);
}

function read(path: string): string {
  if (!path.includes('/') && !path.endsWith('.json') && !existsSync(path))
    throw new UsageError(`"${path}" is neither a part, such as weights=26GB, nor a file.`);
  return readNamedFile('the parts', path, MAX_FILE);
}

function parse(path: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UsageError(`${path}: not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
