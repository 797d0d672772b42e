/** The words of `guard` and `launch` about the program that they start. */
import { UmaError } from '../../base/errors.ts';
import { clean } from '../../base/format.ts';
import type { GuardEvent } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { flag, text } from '../core/options.ts';

/** Names in a sentence about processes that a program leaves. */
const MOST_NAMES = 5;

/** The sentence about a command that did not do its work; null: it did. */
export function notifiedText({ failure }: Extract<GuardEvent, { type: 'notified' }>): string | null {
  return failure === null ? null : `umaprobe: --notify: ${failure}.\n`;
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
