/** The options of guard(), checked. */

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
} from '../../base/arguments.ts';
import { isProgram } from '../../base/find-program.ts';
import { ANY_BYTES, LIMITS } from '../../base/limits.ts';
import { checkCommand, checkEnvironment, checkPath } from '../../base/program-arguments.ts';
import { checkFloor } from '../../core/memory/floor.ts';
import type { GuardOptions, GuardTarget, LoadAction } from '../../types/index.ts';
import { DEFAULT_GRACE_MS, DEFAULT_INTERVAL_MS } from './defaults.ts';
import { checkPolicy } from './policy.ts';
import type { Settings } from './settings.ts';

const KEYS: Keys<GuardOptions> = {
  command: true,
  target: true,
  cwd: true,
  env: true,
  stdio: true,
  floorBytes: true,
  killBelowBytes: true,
  acceptAFrozenMachine: true,
  intervalMs: true,
  graceMs: true,
  loadActions: true,
  loadBytes: true,
  ready: true,
  notify: true,
  keepPriority: true,
  keepFreeBytes: true,
  dryRun: true,
  forwardSignals: true,
  onEvent: true,
  signal: true,
};

const LOAD_ACTIONS: readonly LoadAction[] = ['drop', 'compact'];
const TARGET_KEYS: Keys<Record<'pid' | 'cgroup' | 'unit' | 'system', unknown>> = {
  pid: true,
  cgroup: true,
  unit: true,
  system: true,
};

export function checkGuardOptions(options: GuardOptions): Settings {
  checkKeys('guard()', options, KEYS);
  const { command, target } = options;
  if ((command === undefined) === (target === undefined))
    throw invalidArgument(
      `guard() takes either command or target, and was given ${command === undefined ? 'neither' : 'both'}`,
    );
  const stdio = checkChoice('stdio', ['inherit', 'stderr', 'pipe'], options.stdio ?? 'inherit');
  checkFunction('onEvent', options.onEvent);
  return {
    command: command === undefined ? null : checkCommand(command),
    target: target === undefined ? null : checkTarget(target),
    cwd: checkPath('cwd', options.cwd),
    env: checkEnvironment(options.env),
    stdio,
    floorBytes: optionalFloor(options),
    killBelowBytes: optionalBytes('killBelowBytes', options.killBelowBytes),
    intervalMs: checkMilliseconds('intervalMs', options.intervalMs ?? DEFAULT_INTERVAL_MS, LIMITS.guardIntervalMs),
    graceMs: checkMilliseconds('graceMs', options.graceMs ?? DEFAULT_GRACE_MS, LIMITS.graceMs),
    loadActions: checkLoadActions(options.loadActions),
    loadBytes: optionalBytes('loadBytes', options.loadBytes),
    ready: checkReady(options.ready, target !== undefined),
    notify: options.notify === undefined ? null : checkNotify(options.notify, options),
    keepPriority: checkBoolean('keepPriority', options.keepPriority),
    keepFreeBytes: optionalBytes('keepFreeBytes', options.keepFreeBytes),
    dryRun: checkBoolean('dryRun', options.dryRun),
    forwardSignals: checkBoolean('forwardSignals', options.forwardSignals),
    onEvent: options.onEvent ?? (() => undefined),
    signal: checkSignal(options.signal),
  };
}

function optionalFloor({ acceptAFrozenMachine, floorBytes }: GuardOptions): number | undefined {
  const accept = checkBoolean('acceptAFrozenMachine', acceptAFrozenMachine);
  return floorBytes === undefined ? undefined : checkFloor('floorBytes', floorBytes, { acceptAFrozenMachine: accept });
}

function optionalBytes(name: string, value: unknown): number | undefined {
  return value === undefined ? undefined : checkBytes(name, value, ANY_BYTES);
}

function checkLoadActions(value: unknown): readonly LoadAction[] | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) throw invalidType('loadActions', 'an array', value);
  const actions = value.map((action, index) => checkChoice(`loadActions[${index}]`, LOAD_ACTIONS, action));
  return [...new Set(actions)];
}

function checkReady(value: unknown, isTarget: boolean): string | null {
  if (value === undefined) return null;
  if (isTarget) throw invalidArgument('ready needs the output of a command: a target writes to where it was started');
  return checkText('ready', value, LIMITS.patternLength);
}

/** A mistake in it would show only when it is needed. */
function checkNotify(value: unknown, { cwd, env }: GuardOptions): readonly [string, ...string[]] {
  const command = checkCommand(value, 'notify');
  if (isProgram(command[0], checkEnvironment(env) ?? process.env, checkPath('cwd', cwd))) return command;
  throw invalidValue('notify', 'a program that this user may run, and its arguments', command[0]);
}

function checkTarget(value: unknown): GuardTarget {
  checkKeys<Record<'pid' | 'cgroup' | 'unit' | 'system', unknown>>('target', value, TARGET_KEYS);
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
