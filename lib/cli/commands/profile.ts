import { clean, formatBytes } from '../../base/format.ts';
import { flag, path } from '../../base/options.ts';
import { profile } from '../../run/profile/index.ts';
import { PROFILE, type ProfileOptions } from '../../run/profile/options.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { settingsText } from '../../show/render/profile-facts.ts';
import { profilePage, trialLine } from '../../show/render/text/profile.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type { ProfileEvent, ProfilePool, ProfileReport, ProfileStart } from '../../types/index.ts';
import { PROFILE_POOLS } from '../../types/profile.ts';
import type { Command, Context, OptionValues } from '../core/command.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { flag as isOn, sizeOf } from '../core/options.ts';
import { openProgress, type Progress } from '../core/progress.ts';
import { optionTable, ownOptions, typedOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { HTML } from './probe-options.ts';
import { exitOfState } from './probe-run.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'profile';

const OWN = {
  output: flag({ help: "Show the program's output on stderr" }),
  full: flag({ help: 'Show the picture of the peaks, too', section: 'Reports' }),
  csv: path({ placeholder: '<file|->', help: 'Write one row per trial as CSV', section: 'Reports' }),
  markdown: path({
    placeholder: '<file|->',
    help: 'Write the table and the answer as Markdown',
    section: 'Reports',
  }),
  ...HTML,
  limit: typedText(limitOf, {
    default: {},
    placeholder: '<size>',
    help: 'Largest memory in use of the host (default 100GB, or MemTotal less the floor), or of a GPU with memory of its own (default all of it); host=<size> and gpu=<size> say which',
    section: 'Machine and safety',
  }),
};

export const profileCommand: Command = {
  name: NAME,
  usage: '--vary <name=values> [options] -- <program> [arguments…]',
  description:
    'Runs the program again and again, one parameter larger at a time, in the order of --vary. {name} in an argument, in --env or in a template ' +
    'is the value. Each trial runs under the guard; its peak is predicted from the trials before, and what is predicted above the limit is ' +
    'not run. Between two trials the memory must be back.\n' +
    'Each trial is on disk before it starts: after a freeze the next run names the configuration that was fatal, and --resume goes on below it.\n' +
    'Exit code: 0 done, 1 the smallest configuration is not safe, 6 the memory did not come back, 130 Ctrl-C.',
  options: optionTable(PROFILE, OWN),
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
  arguments: { min: 0, max: 0, afterDashes: 'program', bareWord: { pattern: /^\w[\w-]*=\d/, option: 'vary' } },
  async run(context) {
    const { rest, values } = context;
    if (rest.length === 0)
      throw new UsageError('A program is missing after "--", such as -- python train.py --bs {bs}.');
    const reports = reportsOf(context, NAME);
    const options = optionsOf(values, rest);
    const { report, signalCode } = await runProfile(options, context);
    const forms = {
      page: (render: RenderOptions) => profilePage(report, render, { full: isOn(values, 'full') }),
      csv: () => toCsv(report),
      html: () => toHtml(report),
      markdown: async () => (await import('../../show/render/profile-markdown.ts')).profileMarkdown(report),
    };
    return writeReports(reports, forms, report, exitOfState(report, signalCode), context);
  },
};

/** "100GB", "gpu=100GB", "host=64GiB". */
function limitOf(word: string): { limitBytes: number; limitPool?: ProfilePool['name'] } {
  const [, name, bytes = ''] = /^([^=]*)=(.*)$/.exec(word) ?? [];
  if (name === undefined) return { limitBytes: sizeOf(word, '--limit', NAME) };
  const limitPool = PROFILE_POOLS.find((pool) => pool === name);
  if (limitPool === undefined)
    throw new UsageError(
      `--limit "${word}" names no pool: write gpu=<size> or host=<size>, or the size alone for the one that the program competes for.`,
    );
  return { limitBytes: sizeOf(bytes, `--limit ${limitPool}=`, NAME), limitPool };
}

function optionsOf(values: OptionValues, command: readonly string[]): ProfileOptions {
  const options = typedOptions(values, PROFILE, NAME);
  const { limit } = ownOptions(values, OWN, NAME);
  if (options.vary === undefined && options.bisect === undefined)
    throw new UsageError('Say what varies: --vary batch_size=1,2,4,8, or --bisect context=1024..131072.');
  if (options.vary !== undefined && options.bisect !== undefined)
    throw new UsageError('--vary and --bisect exclude each other: give one of them.');
  return { ...options, ...limit, command };
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
    if (isOn(context.values, 'output')) context.stderr.write(`${clean(event.line)}\n`);
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
  if (!isOn(values, 'resume')) live.print('This run begins anew; --resume goes on with its trials.');
}
