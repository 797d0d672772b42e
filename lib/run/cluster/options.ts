/** The arguments of cluster() and clusterCheck(), checked. */

import { checkText, invalidArgument, invalidType } from '../../base/arguments.ts';
import { LIMITS } from '../../base/limits.ts';
import {
  callback,
  checkOptions,
  custom,
  integer,
  milliseconds,
  type OptionsOf,
  path,
  signal,
  text,
} from '../../base/options.ts';
import type { FitNeed, FitOptions } from '../../types/index.ts';
import { readCopy } from './copy.ts';
import { DEFAULT_DEADLINE_MS, hostsRow } from './hosts.ts';
import { type Asking, DEFAULT_COMMAND } from './read.ts';

/** Options of `cluster()`: exactly one of `hosts` and `answers`. */
export interface ClusterOptions extends OptionsOf<typeof CLUSTER> {}

/** The machines that are asked, and what shall fit into each; with `tensorParallel` in `use` the need is that of one rank. */
export type ClusterCheckOptions = ClusterOptions & FitNeed & Omit<FitOptions, 'solve' | 'acceptTight' | 'signal'>;

type Answers = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export const CLUSTER = {
  /** Names for ssh: of ~/.ssh/config, "user@host", "ssh://user@host:port". 1 to 16, each once. */
  hosts: hostsRow,
  /** Output of `umaprobe snapshot --json` of each machine, one after the other in any order, in place of `hosts`. */
  answers: custom<Answers, null, AsyncIterable<Uint8Array> | Iterable<Uint8Array>>(checkAnswers, { default: null }),
  /** Number of machines behind `answers`, 1 to 16. A missing one is no yes. Default: as many as answer. */
  expect: integer({
    ...LIMITS.hosts,
    default: null,
    help: 'With -: how many machines have to answer',
    usually: 'as many as do',
  }),
  /** Command of the shell of each host that prints a snapshot as JSON. Default "umaprobe snapshot --json". */
  command: text({
    ...{ min: 1, max: 4096 },
    placeholder: '<command>',
    help: 'What the shell of each host runs there',
    usually: 'umaprobe snapshot --json',
    read: (line, name) => checkText(name, line, { min: 1, max: 4096 }),
  }),
  /**
   * Path of the standalone file of umaprobe, which needs no Node: it is put into the cache folder of the user on each host
   * that has not got it (mode 0700, its SHA-256 compared at each call), and run there instead of `command`.
   */
  copy: path({
    help: 'Run this standalone file of umaprobe on each host, which needs no Node there; it is copied to ~/.cache/umaprobe once',
  }),
  /** Told before a file is copied to a host. */
  onCopy: callback<(copy: { host: string; file: string; bytes: number }) => void | Promise<void>>(),
  /** Time limit of each host, from the start of ssh to the end of its answer, in milliseconds: 1 to 600000. Default 15000. */
  deadlineMs: milliseconds({ ...LIMITS.deadlineMs, default: DEFAULT_DEADLINE_MS, help: 'Time limit of each host' }),
  /** Rejects with the signal's reason, and ends every ssh. */
  signal,
};

export type Question =
  | { hosts: readonly string[]; asking: Asking }
  | { answers: Answers; expect: number | null; signal: AbortSignal | undefined };

export function checkCluster(given: ClusterOptions, owner = 'cluster()'): Question {
  const checked = checkOptions(owner, given, CLUSTER);
  const { answers, command, copy, deadlineMs, expect, hosts, onCopy = () => undefined, signal: ends } = checked;
  if ((hosts === undefined) === (answers === null))
    throw invalidArgument(`${owner} takes either hosts or answers, and was given ${hosts ? 'both' : 'neither'}`);
  if (answers !== null) {
    const own = (['command', 'copy', 'deadlineMs'] as const).find((name) => given[name] !== undefined);
    if (own !== undefined) throw invalidArgument(`${own} is for hosts: answers are read as they come`);
    return { answers, expect, signal: ends };
  }
  if (expect !== null) throw invalidArgument('expect is for answers: of hosts each is expected');
  if (command !== undefined && copy !== undefined)
    throw invalidArgument('command and copy both say what is run there: give one of them');
  const file = copy === undefined ? null : readCopy(copy);
  const asking = { command: command ?? DEFAULT_COMMAND, copy: file, onCopy, deadlineMs, signal: ends };
  return { hosts: hosts ?? [], asking };
}

function checkAnswers(name: string, value: unknown): Answers {
  if (typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value))
    return value as Answers;
  throw invalidType(name, 'a stream of bytes', value);
}
