/** The arguments of cluster() and clusterCheck(), checked. */

import {
  checkFunction,
  checkInteger,
  checkKeys,
  checkMilliseconds,
  checkSignal,
  checkText,
  invalidArgument,
  invalidType,
  type Keys,
} from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import { checkPath } from '../../base/program-arguments.ts';
import type { ClusterOptions } from '../../types/index.ts';
import { readCopy } from './copy.ts';
import { checkHosts, DEFAULT_DEADLINE_MS } from './hosts.ts';
import { type Asking, DEFAULT_COMMAND } from './read.ts';

export const KEYS: Keys<ClusterOptions> = {
  hosts: true,
  answers: true,
  expect: true,
  command: true,
  copy: true,
  onCopy: true,
  deadlineMs: true,
  signal: true,
};

export type Question =
  | { hosts: readonly string[]; asking: Asking }
  | { answers: NonNullable<ClusterOptions['answers']>; expect: number | null };

export function checkCluster(options: ClusterOptions, owner = 'cluster()'): Question {
  checkKeys(owner, options, KEYS);
  const { answers, expect, hosts } = options;
  if ((hosts === undefined) === (answers === undefined))
    throw invalidArgument(`${owner} takes either hosts or answers, and was given ${hosts ? 'both' : 'neither'}`);
  if (answers !== undefined) return { answers: checkAnswers(answers, options), expect: checkExpect(expect) };
  if (expect !== undefined) throw invalidArgument('expect is for answers: of hosts each is expected');
  return { hosts: checkHosts(hosts), asking: checkAsking(options) };
}

function checkAnswers(answers: NonNullable<ClusterOptions['answers']>, options: ClusterOptions) {
  const own = (['command', 'copy', 'deadlineMs'] as const).find((name) => options[name] !== undefined);
  if (own !== undefined) throw invalidArgument(`${own} is for hosts: answers are read as they come`);
  if (
    typeof answers !== 'object' ||
    answers === null ||
    !(Symbol.asyncIterator in answers || Symbol.iterator in answers)
  )
    throw invalidType('answers', 'a stream of bytes', answers);
  return answers;
}

function checkExpect(expect: unknown): number | null {
  return expect === undefined ? null : checkInteger('expect', expect, LIMITS.hosts);
}

function checkAsking({ command, copy, deadlineMs, onCopy, signal }: ClusterOptions): Asking {
  if (command !== undefined && copy !== undefined)
    throw invalidArgument('command and copy both say what is run there: give one of them');
  if (command !== undefined) checkText('command', command, LIMITS.remoteCommandLength);
  checkFunction('onCopy', onCopy);
  const path = checkPath('copy', copy);
  return {
    command: command ?? DEFAULT_COMMAND,
    copy: path === undefined ? null : readCopy(path),
    onCopy: onCopy ?? (() => undefined),
    deadlineMs: checkMilliseconds('deadlineMs', deadlineMs ?? DEFAULT_DEADLINE_MS),
    signal: checkSignal(signal),
  };
}
