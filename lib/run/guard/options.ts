/** The options of guard(), checked. */

import {
  checkChoice,
  checkInteger,
  checkKeys,
  checkText,
  invalidArgument,
  invalidType,
  invalidValue,
} from '../../base/arguments.ts';
import { isProgram } from '../../base/find-program.ts';
import { clean } from '../../base/format.ts';
import { ANY_BYTES, LIMITS } from '../../base/limits.ts';
import {
  bytes,
  type CheckedOf,
  callback,
  checkOptions,
  custom,
  flag,
  list,
  milliseconds,
  type OptionsOf,
  oneOf,
  path,
  signal,
  TypedMistake,
} from '../../base/options.ts';
import { checkCommand, checkEnvironment, checkPath } from '../../base/program-arguments.ts';
import { type FloorRows, floorRows } from '../../core/memory/floor.ts';
import type { GuardEvent, GuardTarget, LoadAction } from '../../types/index.ts';
import { linePattern } from './pattern.ts';
import { checkPolicy } from './policy.ts';

/** Options of `guard()`: exactly one of `command` and `target`. */
export interface GuardOptions extends OptionsOf<typeof OWN>, OptionsOf<FloorRows> {}

const LOAD_ACTIONS: readonly LoadAction[] = ['drop', 'compact'];

const TARGET_KEYS = { pid: true, cgroup: true, unit: true, system: true } as const;

const OWN = {
  /** Program and its arguments: an array, never a shell. Without a slash it is looked up in PATH. */
  command: custom<readonly [file: string, ...args: string[]], null, readonly string[]>(
    (name, value) => checkCommand(value, name),
    { default: null },
  ),
  /** The program that runs already. */
  target: custom(checkTarget, { default: null }),
  /** Working folder of the program; default: that of this process. */
  cwd: path(),
  /** Environment of the program; default: that of this process. */
  env: custom<Readonly<Record<string, string | undefined>>>((_, value) => checkEnvironment(value) ?? {}, {}),
  /**
   * `inherit` (default): the program has standard input, output and error of this process, with terminal and job control.
   * `stderr`: the same, and its standard output goes to standard error. `pipe`: each line of its output is an event
   * `output`, and its standard input is empty.
   */
  stdio: oneOf(['inherit', 'stderr', 'pipe'], { default: 'inherit' }),
  /**
   * Available memory below which nothing else is needed to stop the program, in bytes, less than MemTotal. Default: 2 GiB, on
   * machines below 32 GiB a sixteenth of MemTotal. A limit above the floor is the floor, too.
   */
  killBelowBytes: bytes({
    ...ANY_BYTES,
    help: 'Stop it when less than this is available, without any other sign',
    usually: '2GiB',
  }),
  /** Interval between two readings, in milliseconds, 1 to 1000; default 10. */
  intervalMs: milliseconds({ min: 1, max: 1000, default: 10, help: 'Between two readings' }),
  /** Time between SIGTERM and SIGKILL, in milliseconds, up to 600,000; default 5000. */
  graceMs: milliseconds({ min: 0, max: 600_000, default: 5000, help: 'Between SIGTERM and SIGKILL' }),
  /**
   * Actions that make room while the program loads, once little memory is free. Default: `drop` and `compact`, each where this
   * process may write the kernel's file (root). It loads while its memory grows: until `ready`, or until that has not grown for
   * half a minute.
   */
  loadActions: list<readonly LoadAction[], null>(checkLoadActions, {
    default: null,
    placeholder: '<drop,compact|none>',
    help: 'What makes room while it loads',
    usually: 'both, as root',
    read: typedLoadActions,
  }),
  /**
   * Host and GPU memory that the program holds at least once it has loaded, in bytes: while it holds less, it loads, however
   * long nothing has grown. Default: not known.
   */
  loadBytes: bytes({ ...ANY_BYTES, help: 'The least that it loads: until it holds this much, it is loading' }),
  /**
   * Regular expression (RE2) for a line of the program's output that says that it is ready, and ends its loading. The
   * output then goes through this process: the program has pipes instead of a terminal there.
   */
  ready: custom((name, value) => checkText(name, value, LIMITS.patternLength), {
    default: null,
    placeholder: '<regex>',
    help: 'A line of the output that says that it is ready, and ends the loading (RE2); the output then goes through a pipe',
    read: typedPattern,
  }),
  /**
   * A program and its arguments, which no shell reads: run once the guard has sent SIGTERM or SIGKILL, once for each program
   * that it stops, such as to end the other ranks of a program that spans machines. The native guard starts it, also while
   * JavaScript is blocked or gone; it may take 10 s, and the guard ends after it. Its environment has UMAPROBE_GUARD_ACTION
   * (`term`, `kill`), UMAPROBE_GUARD_REASON, UMAPROBE_GUARD_PID, UMAPROBE_GUARD_AVAILABLE_BYTES, and of a whole system
   * UMAPROBE_GUARD_TARGET; its output goes to stderr. It is not run in a dry run, after `signal`, and once the program has
   * left others behind.
   */
  notify: custom<readonly [file: string, ...args: string[]], null, readonly string[]>(checkNotify, {
    default: null,
    placeholder: '<program and arguments>',
    help: 'Run this once the guard has stopped something: words with spaces between them, and no shell; 10 s at most',
    read: typedNotify,
  }),
  /**
   * Leave the program's priority as it is. Default `false`: where the guard may not be more urgent than others (an ordinary
   * user), and the program has no control group with a share of its own, its nice value is 10 higher, so that a storm of its
   * processes does not keep the guard from the processor.
   */
  keepPriority: flag({
    help: 'Leave the nice value of the program (default: 10 higher, unless this user is root)',
  }),
  /**
   * While the program runs, also after it has loaded: once less than this is free (MemFree, bytes), evicts model files from the
   * page cache that no process has mapped, until it is free. Looked at every 5 s. Default: not.
   */
  keepFreeBytes: bytes({
    ...ANY_BYTES,
    help: 'While it runs: evict model files that no process has mapped, once less than this is free',
  }),
  /** Judge and report, and do nothing. Default `false`. */
  dryRun: flag({ help: 'Judge and report, and do nothing' }),
  /**
   * Signals to this process go to the program, and this process is stopped and continued with it, as by Ctrl-Z. Default `false`.
   */
  forwardSignals: flag(),
  /** Called with each event. If it throws or rejects, the program is stopped, and `guard()` rejects with that error. */
  onEvent: callback<(event: GuardEvent) => void | Promise<void>>(),
  /** Aborted: the program is stopped (SIGTERM, `graceMs`, SIGKILL), and the outcome is `aborted`. */
  signal,
};
export const GUARD = { ...floorRows(), ...OWN };

export type CheckedGuardOptions = CheckedOf<typeof GUARD>;

export function checkGuardOptions(options: GuardOptions): CheckedGuardOptions {
  const checked = checkOptions('guard()', options, GUARD);
  const { command, ready, target } = checked;
  if ((command === null) === (target === null))
    throw invalidArgument(
      `guard() takes either command or target, and was given ${command === null ? 'neither' : 'both'}`,
    );
  if (ready !== null && target !== null)
    throw invalidArgument('ready needs the output of a command: a target writes to where it was started');
  return checked;
}

function checkLoadActions(name: string, value: unknown): readonly LoadAction[] {
  if (!Array.isArray(value)) throw invalidType(name, 'an array', value);
  return [...new Set(value.map((action, index) => checkChoice(`${name}[${index}]`, LOAD_ACTIONS, action)))];
}

function typedLoadActions(words: readonly string[], name: string): readonly LoadAction[] {
  if (words.length === 1 && words[0] === 'none') return [];
  return words.map((word) => {
    const action = LOAD_ACTIONS.find((known) => known === word);
    if (action !== undefined) return action;
    throw new TypedMistake(`${name} "${clean(word)}" is not one of ${LOAD_ACTIONS.join(', ')}, none.`);
  });
}

/** The text as it was typed: a mistake would else be found under the name of the library. */
function typedPattern(pattern: string, name: string): string {
  const { max } = LIMITS.patternLength;
  if (pattern.length > max) throw new TypedMistake(`${name} is longer than ${max} characters.`);
  try {
    linePattern(name, pattern);
  } catch (error) {
    throw new TypedMistake((error as Error).message);
  }
  return pattern;
}

/** A mistake in it would show only when it is needed. */
function checkNotify(
  name: string,
  value: unknown,
  { cwd, env }: Readonly<Record<string, unknown>>,
): readonly [string, ...string[]] {
  const command = checkCommand(value, name);
  if (isProgram(command[0], checkEnvironment(env) ?? process.env, checkPath('cwd', cwd))) return command;
  throw invalidValue(name, 'a program that this user may run, and its arguments', command[0]);
}

function typedNotify(line: string, name: string): readonly string[] {
  const [, character] = /(["'`\\$|&;<>*?(){}])/.exec(line) ?? [];
  if (character !== undefined)
    throw new TypedMistake(`${name} "${clean(line)}": no shell reads its ${character}; put it into a script.`);
  const words = line.split(/\s+/).filter((word) => word !== '');
  const [file = ''] = words;
  if (isProgram(file, process.env)) return words;
  throw new TypedMistake(`${name}: "${clean(file)}" is no program that this user may run.`);
}

function checkTarget(what: string, value: unknown): GuardTarget {
  checkKeys<Record<'pid' | 'cgroup' | 'unit' | 'system', unknown>>(what, value, TARGET_KEYS);
  const target = value as { pid?: unknown; cgroup?: unknown; unit?: unknown; system?: unknown };
  const [name, ...others] = Object.keys(target);
  if (name === undefined || others.length > 0)
    throw invalidArgument('target takes exactly one of pid, cgroup, unit and system');
  if (name === 'pid') return { pid: checkInteger('pid', target.pid, LIMITS.pid) };
  if (name === 'unit') return { unit: checkUnit(target.unit) };
  if (name === 'system') return { system: checkPolicy(target.system) };
  return { cgroup: checkCgroup(target.cgroup) };
}

function checkUnit(value: unknown): string {
  if (typeof value !== 'string') throw invalidType('unit', 'a name, such as "vllm.service"', value);
  if (!/^[\w:.\\@-]{1,255}$/.test(value) || value.startsWith('-'))
    throw invalidValue('unit', 'a name, such as "vllm.service"', value);
  return value;
}

/** A path from the root of cgroup v2, as in /proc/<pid>/cgroup, or of the file system. */
function checkCgroup(value: unknown): string {
  const expected = 'a path from the root of cgroups, such as "/system.slice/vllm.service"';
  if (typeof value !== 'string') throw invalidType('cgroup', expected, value);
  if (!value.startsWith('/') || value.includes('\0')) throw invalidValue('cgroup', expected, value);
  return value;
}
