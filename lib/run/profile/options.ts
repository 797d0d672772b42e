/** The options of a profile, checked, with the templates read and the regular expressions compiled. */

import {
  checkInteger,
  checkKeys,
  checkText,
  invalidArgument,
  invalidType,
  invalidValue,
  outOfRange,
} from '../../base/arguments.ts';
import { clean } from '../../base/format.ts';
import { LIMITS, SOME_BYTES } from '../../base/limits.ts';
import {
  bytes,
  type CheckedOf,
  callback,
  checkOptions,
  custom,
  flag,
  inSection,
  integer,
  list,
  milliseconds,
  needed,
  type OptionsOf,
  oneOf,
  path,
  signal,
  TypedMistake,
} from '../../base/options.ts';
import { checkCommand, checkEnvironment, checkPath } from '../../base/program-arguments.ts';
import { type FloorRows, floorRows } from '../../core/memory/floor.ts';
import type { ProfileBisection, ProfileEvent, ProfileVariation } from '../../types/index.ts';
import { PROFILE_POOLS } from '../../types/profile.ts';
import { type LineCapture, type LinePattern, lineCapture, linePattern } from '../guard/pattern.ts';
import { folder } from '../record/options.ts';
import { checkPlaceholders, PARAMETER_NAME, placeholdersOf, type Source } from './placeholders.ts';
import { readTemplates, type Templates } from './templates.ts';

/** Options of `profile()`: `command`, and exactly one of `vary` and `bisect`. */
export interface ProfileOptions extends OptionsOf<typeof TRIALS>, OptionsOf<typeof SAFETY>, OptionsOf<FloorRows> {}

const TRIALS = {
  /**
   * Program and its arguments: an array, never a shell. `{name}` is the value of a parameter, `{file:name}` the path of a
   * template that was filled in for the trial, `{{name}}` the text `{name}`.
   */
  command: needed(
    custom<readonly [string, ...string[]], undefined, readonly string[]>((_, value) => checkCommand(value), {}),
  ),
  /** Parameters in the order in which they are raised, each from its first value. At most 16, with 64 values each. */
  vary: list<readonly ProfileVariation[]>(checkVariations, {
    form: 'texts',
    placeholder: '<name=values>',
    help: 'A parameter and its values, rising: batch_size=1,2,4,8. May be given more than once',
    read: typedVariations,
  }),
  /** The largest safe value of one number instead. */
  bisect: custom<ProfileBisection, null>(checkBisection, {
    default: null,
    placeholder: '<name=from..to>',
    help: 'Instead: the largest safe value of one number, as context=1024..131072',
    read: typedBisection,
  }),
  /** Variables of the command beside those of this process, with placeholders. undefined: unset. */
  env: list<Readonly<Record<string, string | undefined>>, Readonly<Record<string, never>>>(
    (_, value) => checkEnvironment(value) ?? {},
    {
      default: {},
      form: 'texts',
      placeholder: '<name=text>',
      help: 'A variable of the program, with placeholders: BATCH={batch_size}',
      read: typedVariables,
    },
  ),
  /** Folder with the files that `{file:name}` names. No name leads out of it. */
  templates: path({
    placeholder: '<folder>',
    help: 'Folder of configuration files with placeholders; {file:name} is the path of one, filled in',
  }),
  /** Working folder of the command; default: that of this process. */
  cwd: path(),
  /** Regular expression (RE2) for a line of output that says that the command is ready, and ends the trial as a success. The command is then stopped. */
  ready: pattern(linePattern, 'A line of the output that says that it is ready, and ends the trial as a success (RE2)'),
  /** The same, after `stepCount` lines that match (default 3). */
  steps: pattern(linePattern, 'The same, after --step-count lines that match'),
  // The first step allocates, the second one is the first with optimizer state.
  /** Lines of `steps`, 1 to 1,000,000. Default 3. */
  stepCount: integer({ min: 1, max: 1_000_000, default: 3, help: 'With --steps: how many' }),
  /** Regular expression (RE2) whose first group is a number: the throughput of a trial is its last match. */
  metric: pattern(lineCapture, 'Throughput: the number in the first group of the last match, as "([0-9.]+) tokens/s"'),
  /** Longest time of a trial, in milliseconds, 100 to 86,400,000; one that takes longer has failed. Default: no limit. */
  trialTimeMs: milliseconds({
    ...LIMITS.timeoutMs,
    default: null,
    help: 'Longest time of a trial',
    usually: 'no limit',
  }),
  /** Called with each event. If it throws, the trial is stopped, and `profile()` rejects with that error. */
  onEvent: callback<(event: ProfileEvent) => void | Promise<void>>(),
  /** Aborted: the trial is stopped, and the report has the rows so far. */
  signal,
};

const SAFETY = inSection('Machine and safety', {
  /**
   * Largest peak of the memory in use in the pool, in bytes: that of the machine, or of each GPU that has memory of its own. Default 100 GB
   * of the host and never more than MemTotal less the floor, or all of a GPU's own memory.
   */
  limitBytes: bytes({ ...SOME_BYTES, default: null }),
  /**
   * The memory that is measured and limited. Default: the host's where a visible GPU shares it or there is none, else the
   * GPUs'.
   */
  limitPool: oneOf(PROFILE_POOLS, { default: null }),
  /**
   * Time to wait for memory to come back, and before the first trial for the GPU programs of others, in milliseconds, up
   * to 86,400,000. Default 60,000, and not for others: they are reported, and never stopped.
   */
  // 92 GB came back within 5 s (driver 580.178.04); a program that saves a checkpoint takes longer.
  waitMs: milliseconds({
    ...LIMITS.holdMs,
    default: 60_000,
    help: 'Time limit for memory to come back',
    note: ', and first for the GPU programs of others',
  }),
  /** File that has each trial before it starts, so that the next run knows what was fatal; `false`: none. */
  journal: custom<string | false | undefined, undefined, string | false>(
    (name, value) => (value === false ? false : checkPath(name, value, 'a path, or false')),
    {
      placeholder: '<file|none>',
      help: 'Written to disk before each trial (default ~/.local/state/umaprobe/profile.jsonl)',
      read: (word) => word !== 'none' && word,
    },
  ),
  /** Go on with the trials of the last run of this experiment, below a configuration that was fatal. */
  resume: flag({ help: 'Go on with the trials of the last run, below a configuration that was fatal' }),
  /** Folder of the recording. Default: beside the journal. */
  folder: folder('Folder of the recording of all trials', 'beside the journal'),
  /** Record the memory of the machine during all trials. Default `true`. */
  record: flag({ default: true, flag: 'no-record', help: 'Record nothing' }),
});

export const PROFILE = { ...TRIALS, ...inSection('Machine and safety', floorRows()), ...SAFETY };

export interface CheckedProfileOptions
  extends Omit<CheckedOf<typeof PROFILE>, 'vary' | 'templates' | 'steps' | 'onEvent'> {
  vary: readonly ProfileVariation[];
  templates: Templates;
  steps: { matches: LinePattern; count: number } | null;
  /** true: the GPU programs of others are waited for. */
  waitForOthers: boolean;
  onEvent: (event: ProfileEvent) => void | Promise<void>;
}

/** @throws TypeError/RangeError that names the option. */
export function checkProfileOptions(options: ProfileOptions): CheckedProfileOptions {
  const checked = checkOptions('profile()', options, PROFILE);
  const { bisect, command, env, journal, onEvent = () => undefined, resume, stepCount: count, steps, vary } = checked;
  if ((vary === undefined) === (bisect === null))
    throw invalidArgument(
      `profile() takes either vary or bisect, and was given ${vary === undefined ? 'neither' : 'both'}`,
    );
  if (resume && journal === false) throw invalidArgument('resume needs the journal, and journal is false');
  if (steps === null && options.stepCount !== undefined)
    throw invalidArgument('stepCount needs steps, the regular expression that it counts');
  const names = bisect === null ? (vary ?? []).map(({ name }) => name) : [bisect.name];
  return {
    ...checked,
    vary: vary ?? [],
    templates: checkTemplates(checked.templates, command, env, names),
    steps: steps === null ? null : { matches: steps, count },
    waitForOthers: options.waitMs !== undefined,
    onEvent,
  };
}

/** A regular expression; on the command line it is a text, which the library compiles. */
function pattern<Compiled extends LinePattern | LineCapture>(
  compile: (name: string, text: string) => Compiled,
  help: string,
) {
  return custom<Compiled, null, string>((name, value) => compile(name, checkText(name, value, LIMITS.patternLength)), {
    default: null,
    placeholder: '<regex>',
    help,
  });
}

function checkVariations(name: string, value: unknown): ProfileVariation[] {
  if (!Array.isArray(value)) throw invalidType(name, 'an array of { name, values }', value);
  checkInteger(`length of ${name}`, value.length, LIMITS.parameters);
  const list = (value as readonly unknown[]).map(checkVariation);
  const names = list.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalidArgument(`parameter ${twice} is varied twice: give it one list of values`);
  return list;
}

function checkVariation(value: unknown, index: number): ProfileVariation {
  checkKeys<ProfileVariation>(`vary[${index}]`, value, { name: true, values: true });
  const { name, values } = value as { name?: unknown; values?: unknown };
  const checked = checkName(`vary[${index}].name`, name);
  const what = `values of ${checked}`;
  if (!Array.isArray(values)) throw invalidType(what, 'an array of numbers', values);
  if (values.length === 0) throw invalidArgument(`${what} are empty; expected rising numbers, such as 1, 2, 4, 8`);
  checkInteger(`number of ${what}`, values.length, LIMITS.parameterValues);
  for (const [at, number] of (values as readonly unknown[]).entries()) {
    if (typeof number !== 'number') throw invalidType(what, 'numbers', number);
    if (!Number.isFinite(number) || number <= 0) throw outOfRange(what, 'numbers above 0', number);
    if (at > 0 && number <= (values[at - 1] as number))
      throw invalidValue(what, 'rising numbers, since each is predicted from those below', values.join(', '));
  }
  return { name: checked, values: values as number[] };
}

function checkBisection(what: string, value: unknown): ProfileBisection {
  checkKeys<ProfileBisection>(what, value, { name: true, from: true, to: true });
  const { from, name, to } = value as { from?: unknown; name?: unknown; to?: unknown };
  const checked = checkName('bisect.name', name);
  const low = checkInteger('bisect.from', from, { min: 1 });
  const high = checkInteger('bisect.to', to, { min: 1 });
  if (high <= low) throw outOfRange('bisect.to', `more than bisect.from, ${low}`, high);
  return { name: checked, from: low, to: high };
}

function checkName(what: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidType(what, 'a name, such as "batch_size"', value);
  if (!PARAMETER_NAME.test(value) || value === '__proto__')
    throw invalidValue(what, 'letters, digits, "_" and "-", beginning with a letter, such as batch_size', value);
  return value;
}

/** Reads the templates that are named, and checks every placeholder. */
function checkTemplates(
  folder: string | undefined,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Templates {
  const sources: Source[] = [
    ...command.map((text, index) => ({ what: index === 0 ? 'the program' : `argument ${index}`, text })),
    ...Object.entries(env).map(([name, text = '']) => ({ what: `variable ${name}`, text })),
  ];
  const named = [...new Set(sources.flatMap(({ text }) => placeholdersOf(text).files))];
  const templates = readTemplates(folder ?? null, named);
  checkPlaceholders([...sources, ...[...templates].map(([name, text]) => ({ what: `template ${name}`, text }))], names);
  return templates;
}

/** "batch_size=1,2,4". */
function typedVariations(words: readonly string[], option: string): ProfileVariation[] {
  return words.map((word) => {
    const [, name = '', list = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
    if (name === '')
      throw new TypedMistake(`${option} "${word}" is not a name and its values, such as batch_size=1,2,4,8.`);
    if (list.trim() === '') throw new TypedMistake(`${option} "${word}" has no values; write ${clean(name)}=1,2,4,8.`);
    return { name, values: list.split(',').map((value) => variedNumber(value, `${option} "${word}"`, clean(name))) };
  });
}

function variedNumber(word: string, what: string, name: string): number {
  const typed = word.trim();
  if (/^\d{1,15}(\.\d{1,15})?$/.test(typed)) return Number(typed);
  throw new TypedMistake(
    `${what}: "${clean(typed)}" is not a number; write --vary ${name}=1,2,4,8, or for a range --bisect ${name}=1..8.`,
  );
}

/** "context=1024..131072". */
function typedBisection(word: string, option: string): ProfileBisection {
  const [, name, from, to] = /^([^=]+)=(\d{1,15})\.\.(\d{1,15})$/s.exec(word) ?? [];
  if (name !== undefined && Number(from) > 0 && Number(from) < Number(to))
    return { name, from: Number(from), to: Number(to) };
  const given = clean(/^([^=]+)=/.exec(word)?.[1] ?? 'context');
  throw new TypedMistake(
    `${option} "${word}" is not a name and a range of whole numbers from small to large, such as ${given}=1024..131072.`,
  );
}

function typedVariables(words: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      if (name !== '') return [name, value];
      throw new TypedMistake(`${option} "${word}" is not a variable and its text, such as BATCH={bs}.`);
    }),
  );
}
