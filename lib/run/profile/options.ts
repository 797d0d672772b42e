/** The options of a profile, checked, with the templates read and the regular expressions compiled. */

import {
  checkBoolean,
  checkBytes,
  checkChoice,
  checkFunction,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  checkText,
  invalidArgument,
  invalidType,
  invalidValue,
  type Keys,
  outOfRange,
} from '../../base/arguments.ts';
import { LIMITS, SOME_BYTES } from '../../base/limits.ts';
import { checkCommand, checkEnvironment, checkPath } from '../../base/program-arguments.ts';
import { checkFloor } from '../../core/memory/floor.ts';
import type {
  ProfileBisection,
  ProfileEvent,
  ProfileOptions,
  ProfilePool,
  ProfileVariation,
} from '../../types/index.ts';
import { PROFILE_POOLS } from '../../types/profile.ts';
import { type LineCapture, type LinePattern, lineCapture, linePattern } from '../guard/pattern.ts';
import { DEFAULT_STEP_COUNT, DEFAULT_WAIT_MS } from './defaults.ts';
import { checkPlaceholders, PARAMETER_NAME, placeholdersOf, type Source } from './placeholders.ts';
import { readTemplates, type Templates } from './templates.ts';

const KEYS: Keys<ProfileOptions> = {
  command: true,
  vary: true,
  bisect: true,
  env: true,
  templates: true,
  cwd: true,
  limitBytes: true,
  limitPool: true,
  floorBytes: true,
  acceptAFrozenMachine: true,
  ready: true,
  steps: true,
  stepCount: true,
  metric: true,
  trialTimeMs: true,
  waitMs: true,
  journal: true,
  resume: true,
  record: true,
  folder: true,
  onEvent: true,
  signal: true,
};
const VARIATION_KEYS: Keys<ProfileVariation> = { name: true, values: true };
const BISECTION_KEYS: Keys<ProfileBisection> = { name: true, from: true, to: true };

export interface CheckedProfileOptions {
  command: readonly [string, ...string[]];
  vary: readonly ProfileVariation[];
  bisect: ProfileBisection | null;
  env: Readonly<Record<string, string | undefined>>;
  templates: Templates;
  cwd: string | undefined;
  limitBytes: number | null;
  /** null: the pool that the program competes for. */
  limitPool: ProfilePool['name'] | null;
  floorBytes: number | null;
  ready: LinePattern | null;
  steps: { matches: LinePattern; count: number } | null;
  metric: LineCapture | null;
  trialTimeMs: number | null;
  waitMs: number;
  /** Whether to wait for the GPU programs of others. */
  waitForOthers: boolean;
  /** undefined: the default. */
  journal: string | false | undefined;
  resume: boolean;
  record: boolean;
  folder: string | undefined;
  onEvent: (event: ProfileEvent) => void;
  signal: AbortSignal | undefined;
}

/** @throws TypeError/RangeError that names the option. */
export function checkProfileOptions(options: ProfileOptions): CheckedProfileOptions {
  checkKeys('profile()', options, KEYS);
  const { bisect, onEvent = () => undefined, vary } = options;
  if ((vary === undefined) === (bisect === undefined))
    throw invalidArgument(
      `profile() takes either vary or bisect, and was given ${vary === undefined ? 'neither' : 'both'}`,
    );
  checkFunction('onEvent', onEvent);
  const command = checkCommand(options.command);
  const env = checkEnvironment(options.env) ?? {};
  const variations = vary === undefined ? [] : checkVariations(vary);
  const bisection = bisect === undefined ? null : checkBisection(bisect);
  const names = bisection === null ? variations.map(({ name }) => name) : [bisection.name];
  const journal = checkPathOrFalse('journal', options.journal);
  const resume = checkBoolean('resume', options.resume);
  const accept = checkBoolean('acceptAFrozenMachine', options.acceptAFrozenMachine);
  if (resume && journal === false) throw invalidArgument('resume needs the journal, and journal is false');
  return {
    command,
    vary: variations,
    bisect: bisection,
    env,
    templates: checkTemplates(options.templates, command, env, names),
    cwd: checkPath('cwd', options.cwd),
    limitBytes: options.limitBytes === undefined ? null : checkBytes('limitBytes', options.limitBytes, SOME_BYTES),
    limitPool: options.limitPool === undefined ? null : checkChoice('limitPool', PROFILE_POOLS, options.limitPool),
    floorBytes:
      options.floorBytes === undefined
        ? null
        : checkFloor('floorBytes', options.floorBytes, { acceptAFrozenMachine: accept }),
    ready: options.ready === undefined ? null : linePattern('ready', checkPattern('ready', options.ready)),
    steps: checkSteps(options),
    metric: options.metric === undefined ? null : lineCapture('metric', checkPattern('metric', options.metric)),
    trialTimeMs:
      options.trialTimeMs === undefined
        ? null
        : checkMilliseconds('trialTimeMs', options.trialTimeMs, LIMITS.timeoutMs),
    waitMs: checkMilliseconds('waitMs', options.waitMs ?? DEFAULT_WAIT_MS, LIMITS.holdMs),
    waitForOthers: options.waitMs !== undefined,
    journal,
    resume,
    record: options.record === undefined || checkBoolean('record', options.record),
    folder: checkPath('folder', options.folder),
    onEvent,
    signal: checkSignal(options.signal),
  };
}

function checkVariations(value: unknown): ProfileVariation[] {
  if (!Array.isArray(value)) throw invalidType('vary', 'an array of { name, values }', value);
  checkInteger('length of vary', value.length, LIMITS.parameters);
  const list = (value as readonly unknown[]).map(checkVariation);
  const names = list.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalidArgument(`parameter ${twice} is varied twice: give it one list of values`);
  return list;
}

function checkVariation(value: unknown, index: number): ProfileVariation {
  checkKeys<ProfileVariation>(`vary[${index}]`, value, VARIATION_KEYS);
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

function checkBisection(value: unknown): ProfileBisection {
  checkKeys<ProfileBisection>('bisect', value, BISECTION_KEYS);
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
  folder: unknown,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Templates {
  const path = checkPath('templates', folder) ?? null;
  const sources: Source[] = [
    ...command.map((text, index) => ({ what: index === 0 ? 'the program' : `argument ${index}`, text })),
    ...Object.entries(env).map(([name, text = '']) => ({ what: `variable ${name}`, text })),
  ];
  const named = [...new Set(sources.flatMap(({ text }) => placeholdersOf(text).files))];
  const templates = readTemplates(path, named);
  checkPlaceholders([...sources, ...[...templates].map(([name, text]) => ({ what: `template ${name}`, text }))], names);
  return templates;
}

function checkPattern(name: string, value: unknown): string {
  return checkText(name, value, LIMITS.patternLength);
}

function checkSteps({ stepCount, steps }: ProfileOptions): CheckedProfileOptions['steps'] {
  if (steps === undefined) {
    if (stepCount !== undefined) throw invalidArgument('stepCount needs steps, the regular expression that it counts');
    return null;
  }
  const count = checkInteger('stepCount', stepCount ?? DEFAULT_STEP_COUNT, LIMITS.stepCount);
  return { matches: linePattern('steps', checkPattern('steps', steps)), count };
}

function checkPathOrFalse(name: string, value: unknown): string | false | undefined {
  return value === false ? false : checkPath(name, value, 'a path, or false');
}
