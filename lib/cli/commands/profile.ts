import { clean, formatBytes } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { DEFAULT_STEP_COUNT, DEFAULT_WAIT_MS, profile } from '../../run/profile/index.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { settingsText } from '../../show/render/profile-facts.ts';
import { profilePage, trialLine } from '../../show/render/text/profile.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type {
  ProfileBisection,
  ProfileEvent,
  ProfileOptions,
  ProfileReport,
  ProfileStart,
  ProfileVariation,
} from '../../types/index.ts';
import { PROFILE_POOLS } from '../../types/profile.ts';
import type { Command, Context, Values } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { count, duration, durationRange, flag, sizeOf, text, texts } from '../core/options.ts';
import { openProgress, type Progress } from '../core/progress.ts';
import { optionTable } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { floorOf, floorOptions } from './floor-option.ts';
import { HTML, inSection, journalOption } from './probe-options.ts';
import { FOLDER, NO_RECORD } from './record.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'profile';

export const profileCommand: Command = {
  name: NAME,
  usage: '--vary <name=values> [options] -- <program> [arguments…]',
  description:
    'Runs the program again and again, one parameter larger at a time, in the order of --vary. {name} in an argument, in --env or in a template ' +
    'is the value. Each trial runs under the guard; its peak is predicted from the trials before, and what is predicted above the limit is ' +
    'not run. Between two trials the memory must be back.\n' +
    'Each trial is on disk before it starts: after a freeze the next run names the configuration that was fatal, and --resume goes on below it.\n' +
    'Exit code: 0 done, 1 the smallest configuration is not safe, 6 the memory did not come back, 130 Ctrl-C.',
  options: {
    vary: {
      type: 'string',
      list: true,
      placeholder: '<name=values>',
      summary: 'A parameter and its values, rising: batch_size=1,2,4,8. May be given more than once',
    },
    bisect: {
      type: 'string',
      placeholder: '<name=from..to>',
      summary: 'Instead: the largest safe value of one number, as context=1024..131072',
    },
    env: {
      type: 'string',
      list: true,
      placeholder: '<name=text>',
      summary: 'A variable of the program, with placeholders: BATCH={batch_size}',
    },
    templates: {
      type: 'string',
      placeholder: '<folder>',
      summary: 'Folder of configuration files with placeholders; {file:name} is the path of one, filled in',
    },
    ready: {
      type: 'string',
      placeholder: '<regex>',
      summary: 'A line of the output that says that it is ready, and ends the trial as a success (RE2)',
    },
    steps: { type: 'string', placeholder: '<regex>', summary: 'The same, after --step-count lines that match' },
    'step-count': {
      type: 'string',
      placeholder: '<n>',
      summary: `With --steps: how many (default ${DEFAULT_STEP_COUNT})`,
    },
    metric: {
      type: 'string',
      placeholder: '<regex>',
      summary: 'Throughput: the number in the first group of the last match, as "([0-9.]+) tokens/s"',
    },
    'trial-time': {
      type: 'string',
      placeholder: '<time>',
      summary: `Longest time of a trial: ${durationRange(LIMITS.timeoutMs)} (default: no limit)`,
    },
    output: { type: 'boolean', summary: "Show the program's output on stderr" },
    full: { type: 'boolean', summary: 'Show the picture of the peaks, too', section: 'Reports' },
    csv: { type: 'string', placeholder: '<file|->', summary: 'Write one row per trial as CSV', section: 'Reports' },
    markdown: {
      type: 'string',
      placeholder: '<file|->',
      summary: 'Write the table and the answer as Markdown',
      section: 'Reports',
    },
    ...optionTable(HTML),
    limit: {
      type: 'string',
      placeholder: '<size>',
      summary:
        'Largest memory in use of the host (default 100GB, or MemTotal less the floor), or of a GPU with memory of its own (default all of it); host=<size> and gpu=<size> say which',
      section: 'Machine and safety',
    },
    ...inSection('Machine and safety', floorOptions()),
    wait: {
      type: 'string',
      placeholder: '<time>',
      summary: `Time limit for memory to come back (default ${DEFAULT_WAIT_MS / 1000}s), and first for the GPU programs of others`,
      section: 'Machine and safety',
    },
    journal: {
      type: 'string',
      placeholder: '<file|none>',
      summary: 'Written to disk before each trial (default ~/.local/state/umaprobe/profile.jsonl)',
      section: 'Machine and safety',
    },
    resume: {
      type: 'boolean',
      summary: 'Go on with the trials of the last run, below a configuration that was fatal',
      section: 'Machine and safety',
    },
    ...inSection('Machine and safety', {
      folder: { ...FOLDER, summary: 'Folder of the recording of all trials (default beside the journal)' },
      'no-record': NO_RECORD,
    }),
  },
  examples: [
    {
      command: 'umaprobe profile --vary bs=1,2,4,8,16,32 --vary seq=1024,2048 -- python train.py --bs {bs} --seq {seq}',
      means: 'batch size first, then sequence length',
    },
    {
      command: "umaprobe profile --vary bs=2,4,8 --steps ^step --metric 'speed=([0-9.]+)' -- python train.py --bs {bs}",
      means: 'three steps of each, with their throughput',
    },
    {
      command: "umaprobe profile --bisect ctx=1024..131072 --ready 'listening' -- ./llama-server -m m.gguf -c {ctx}",
      means: 'the longest context that loads',
    },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: 'program', bareWord: { pattern: /^\w[\w-]*=\d/, option: 'vary' } },
  async run(context) {
    const { json, rest, values } = context;
    if (rest.length === 0)
      throw new UsageError('A program is missing after "--", such as -- python train.py --bs {bs}.', NAME);
    const reports = reportsOf(values, json, NAME);
    const options = optionsOf(values, rest);
    const { report, signalCode } = await runProfile(options, context);
    const forms = {
      page: (render: RenderOptions) => profilePage(report, render, { full: flag(values, 'full') }),
      csv: () => toCsv(report),
      html: () => toHtml(report),
      markdown: async () => (await import('../../show/render/profile-markdown.ts')).profileMarkdown(report),
    };
    return writeReports(reports, forms, report, exitCodeOf(report, signalCode), context);
  },
};

/** "100GB", "gpu=100GB", "host=64GiB". */
function limitOf(word: string | undefined): Pick<ProfileOptions, 'limitBytes' | 'limitPool'> {
  if (word === undefined) return {};
  const [, name, bytes = ''] = /^([^=]*)=(.*)$/.exec(word) ?? [];
  if (name === undefined) return { limitBytes: sizeOf(word, '--limit', NAME) };
  const limitPool = PROFILE_POOLS.find((pool) => pool === name);
  if (limitPool === undefined)
    throw new UsageError(
      `--limit "${word}" names no pool: write gpu=<size> or host=<size>, or the size alone for the one that the program competes for.`,
      NAME,
    );
  return { limitBytes: sizeOf(bytes, `--limit ${limitPool}=`, NAME), limitPool };
}

function optionsOf(values: Values, command: readonly string[]): ProfileOptions {
  const vary = texts(values, 'vary')?.map(variationOf);
  const bisect = bisectionOf(text(values, 'bisect'));
  if (vary === undefined && bisect === undefined)
    throw new UsageError('Say what varies: --vary batch_size=1,2,4,8, or --bisect context=1024..131072.', NAME);
  if (vary !== undefined && bisect !== undefined)
    throw new UsageError('--vary and --bisect exclude each other: give one of them.', NAME);
  const journal = journalOption(values);
  const given = {
    vary,
    bisect,
    env: envOf(texts(values, 'env')),
    templates: text(values, 'templates'),
    ...limitOf(text(values, 'limit')),
    ...floorOf(values, NAME),
    ready: text(values, 'ready'),
    steps: text(values, 'steps'),
    stepCount: count(values, 'step-count', LIMITS.stepCount, NAME),
    metric: text(values, 'metric'),
    trialTimeMs: time(values, 'trial-time', LIMITS.timeoutMs),
    waitMs: time(values, 'wait', LIMITS.holdMs),
    journal,
    folder: text(values, 'folder'),
    record: !flag(values, 'no-record'),
  };
  return {
    command,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    resume: flag(values, 'resume'),
  };
}

function time(values: Values, name: string, range: { min: number; max: number }): number | undefined {
  return text(values, name) === undefined ? undefined : duration(values, name, range, 0, NAME);
}

/** "batch_size=1,2,4". */
function variationOf(word: string): ProfileVariation {
  const [, name = '', list = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
  if (name === '')
    throw new UsageError(`--vary "${word}" is not a name and its values, such as batch_size=1,2,4,8.`, NAME);
  if (list.trim() === '') throw new UsageError(`--vary "${word}" has no values; write ${clean(name)}=1,2,4,8.`, NAME);
  return { name, values: list.split(',').map((value) => variedNumber(value, `--vary "${word}"`, clean(name))) };
}

function variedNumber(word: string, what: string, name: string): number {
  const typed = word.trim();
  if (/^\d{1,15}(\.\d{1,15})?$/.test(typed)) return Number(typed);
  throw new UsageError(
    `${what}: "${clean(typed)}" is not a number; write --vary ${name}=1,2,4,8, or for a range --bisect ${name}=1..8.`,
    NAME,
  );
}

/** "context=1024..131072". */
function bisectionOf(word: string | undefined): ProfileBisection | undefined {
  if (word === undefined) return undefined;
  const [, name, from, to] = /^([^=]+)=(\d{1,15})\.\.(\d{1,15})$/s.exec(word) ?? [];
  if (name !== undefined && Number(from) > 0 && Number(from) < Number(to))
    return { name, from: Number(from), to: Number(to) };
  const given = clean(/^([^=]+)=/.exec(word)?.[1] ?? 'context');
  throw new UsageError(
    `--bisect "${word}" is not a name and a range of whole numbers from small to large, such as ${given}=1024..131072.`,
    NAME,
  );
}

function envOf(words: readonly string[] | undefined): Record<string, string> | undefined {
  if (words === undefined) return undefined;
  return Object.fromEntries(
    words.map((word) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      if (name === '')
        throw new UsageError(`--env "${word}" is not a variable and its text, such as BATCH={bs}.`, NAME);
      return [name, value];
    }),
  );
}

async function runProfile(
  options: ProfileOptions,
  context: Context,
): Promise<{ report: ProfileReport; signalCode: number | null }> {
  const interrupt = onInterrupt(() =>
    live.print('Stopping: the trials so far follow. Press Ctrl-C again to end at once.'),
  );
  let reading = '';
  const live = openProgress(context, { share: null, etaMs: null, label: 'starting' }, () => reading);
  const onEvent = (event: ProfileEvent): void => {
    if (event.type === 'reading')
      reading = `available ${formatBytes(event.available)}, the program holds ${formatBytes(event.groupBytes)}`;
    else show(event, live, context);
  };
  try {
    return {
      report: await profile({ ...options, onEvent, signal: interrupt.signal }),
      signalCode: interrupt.exitCode(),
    };
  } finally {
    live.close();
    interrupt.close();
  }
}

function show(event: Exclude<ProfileEvent, { type: 'reading' }>, live: Progress, context: Context): void {
  if (event.type === 'started') showStart(event.report, live, context);
  else if (event.type === 'output') {
    if (flag(context.values, 'output')) context.stderr.write(`${clean(event.line)}\n`);
  } else if (event.type === 'trial') {
    const label = `after trial ${event.trial.number}`;
    live.step(trialLine(event.trial), { share: null, etaMs: null, label });
  } else if (context.stderr.isTty) {
    const expected = event.prediction === null ? '' : `, expected peak ${formatBytes(event.prediction.bytes)}`;
    live.print(`Trial ${event.number}: ${settingsText(event.params)}${expected}`);
  }
}

function showStart(
  { journalNotes, others, unfinished }: ProfileStart,
  live: Progress,
  { json, values }: Context,
): void {
  for (const note of journalNotes) live.print(`note: ${clean(note)}`);
  if (json) return;
  for (const { gpuBytes, name, pid } of others)
    live.print(
      `${clean(name ?? 'A program')} (${pid}) holds ${formatBytes(gpuBytes)} of GPU memory; it is left alone.`,
    );
  if (unfinished === null) return;
  live.print(clean(`An earlier run did not end: ${unfinished.sentence}.`));
  if (!flag(values, 'resume')) live.print('This run begins anew; --resume goes on with its trials.');
}

/** Without a signal an abort is as Ctrl-C. */
function exitCodeOf({ state }: ProfileReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      return EXIT.success;
    case 'failed':
      return EXIT.negative;
    case 'not-clean':
      return EXIT.stopped;
    case 'aborted':
      return signalCode ?? 130;
  }
}
