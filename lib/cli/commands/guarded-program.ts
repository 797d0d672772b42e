/** Common parts of `guard` and `launch`: --ready, --grace, and texts about the program that they start. */
import { UmaError } from '../../base/errors.ts';
import { isProgram } from '../../base/find-program.ts';
import { clean } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { DEFAULT_GRACE_MS } from '../../run/guard/index.ts';
import { linePattern } from '../../run/guard/pattern.ts';
import type { GuardEvent } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { duration, flag, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';

/** Names in a sentence about processes that a program leaves. */
const MOST_NAMES = 5;

export const READY = {
  type: 'string',
  placeholder: '<regex>',
  summary:
    'A line of the output that says that it is ready, and ends the loading (RE2); the output then goes through a pipe',
} as const;

export const NOTIFY = {
  type: 'string',
  placeholder: '<program and arguments>',
  summary: 'Run this once the guard has stopped something: words with spaces between them, and no shell; 10 s at most',
} as const;

/** @throws UsageError if no such program can be run: a mistake that would show only when it is needed. */
export function notifyOf(values: Context['values'], command: string): readonly string[] | undefined {
  const line = text(values, 'notify');
  if (line === undefined) return undefined;
  const [, character] = /(["'`\\$|&;<>*?(){}])/.exec(line) ?? [];
  if (character !== undefined)
    throw new UsageError(`--notify "${clean(line)}": no shell reads its ${character}; put it into a script.`, command);
  const words = line.split(/\s+/).filter((word) => word !== '');
  const [file = ''] = words;
  if (!isProgram(file, process.env))
    throw new UsageError(`--notify: "${clean(file)}" is no program that this user may run.`, command);
  return words;
}

/** Text about a command that did not do its work; null: it did. */
export function notifiedText({ failure }: Extract<GuardEvent, { type: 'notified' }>): string | null {
  return failure === null ? null : `umaprobe: --notify: ${failure}.\n`;
}

/** Checked here, so that the message names the option as it was typed. */
export function readyOf(values: Context['values'], command: string): string | undefined {
  const pattern = text(values, 'ready');
  if (pattern === undefined) return undefined;
  const { max } = LIMITS.patternLength;
  if (pattern.length > max) throw new UsageError(`--ready is longer than ${max} characters.`, command);
  try {
    linePattern('--ready', pattern);
  } catch (error) {
    throw new UsageError((error as Error).message, command);
  }
  return pattern;
}

export function graceMs(values: Context['values'], command: string): number {
  if (/^0\s*(ms|s|m|min|h)?$/.test(text(values, 'grace') ?? '')) return 0;
  return duration(values, 'grace', LIMITS.graceMs, DEFAULT_GRACE_MS, command);
}

/** A program behaves otherwise without a terminal: it says less, or says it later. */
export function tellOfPipe({ json, stderr, stdout, values }: Context): void {
  if (text(values, 'ready') === undefined || json || !stdout.isTty || flag(values, 'quiet')) return;
  stderr.write('umaprobe: --ready reads the output: the program sees a pipe and not this terminal.\n');
}

/** The reason why a program could not be started, with the exit code of a shell for that; null: it is another error. */
export function whyNotStarted(error: unknown, file: string): { text: string; exitCode: number } | null {
  if (!(error instanceof UmaError) || error.call !== `start ${file}`) return null;
  const text = clean(error.message)
    .slice(`${clean(error.call)}: `.length)
    .replace(/ \((\w+) \d+\)$/, ' ($1)');
  return { text, exitCode: error.nativeName === 'ENOENT' ? 127 : 126 };
}

/** One line: what runs on, and whether it is guarded. */
export function leftText({ guard, processes }: Extract<GuardEvent, { type: 'left' }>): string {
  const names = processes.slice(0, MOST_NAMES).map(({ name, pid }) => `${clean(name ?? 'process')} ${pid}`);
  const rest = processes.length - names.length;
  const left = [...names, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  const guarded = guard === null ? 'not guarded' : `guarded by umaprobe-guard ${guard} until the end`;
  return `umaprobe: the program ended and left ${left} running, ${guarded}.\n`;
}
