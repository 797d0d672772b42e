/** The time before a page was opened: recordings of the last day, of each machine by its own recorder. */

import { setMaxListeners } from 'node:events';
import { UmaError } from '../base/errors.ts';
import { capitalized } from '../base/format.ts';
import { defined } from '../base/objects.ts';
import { KEEP_HISTORY } from '../core/memory/remedies.ts';
import { readRecordingOf } from '../run/cluster/index.ts';
import { readRecord } from '../run/record/index.ts';
import type { LiveHistory, RecordedSession, RecordReport } from '../types/index.ts';

const DAY_MS = 24 * 3_600_000;
/** Sessions of a day, each with its points: at most 5 MB of JSON, which a page can take. */
const ASKED = { lastMs: DAY_MS, sessions: 8, points: 1000 } as const;
/** Marks of a session, the newest: a program may set one at each step. */
const MARKS = 1000;
/** Readings of a ring of 64 MiB take up to seconds: pages that are opened together share one. */
const KEPT_MS = 10_000;

/** Asks a machine, by its place on the page. Never rejects. */
export type AskHistory = (index: number) => Promise<LiveHistory>;

export class SharedHistories {
  readonly #ask: AskHistory;
  readonly #answers = new Map<number, Promise<Buffer>>();

  constructor(ask: AskHistory) {
    this.#ask = ask;
  }

  /** That of one machine, as JSON. */
  read(index: number): Promise<Buffer> {
    const answer = this.#answers.get(index) ?? this.#asked(index);
    this.#answers.set(index, answer);
    return answer;
  }

  async #asked(index: number): Promise<Buffer> {
    const history = await this.#ask(index);
    setTimeout(() => this.#answers.delete(index), KEPT_MS).unref();
    return Buffer.from(JSON.stringify(history));
  }
}

/** History of this machine. */
export function ownHistory(folder: string | undefined): AskHistory {
  return () => known(() => readRecord({ ...defined({ folder }), ...ASKED }));
}

/** @param folder on each host. @param signal ends every ssh. */
export function historiesBySsh(hosts: readonly string[], folder: string | undefined, signal: AbortSignal): AskHistory {
  // Each ssh listens: Node warns from eleven on.
  setMaxListeners(0, signal);
  return (index) => known(() => readRecordingOf(hosts[index] as string, { ...defined({ folder }), ...ASKED }, signal));
}

async function known(read: () => ReturnType<typeof readRecordingOf>): Promise<LiveHistory> {
  try {
    const found = await read();
    if ('sessions' in found) return ofDay(found);
    return { ...none(found.because ?? '', found.next), isLate: found.state === 'timeout' };
  } catch (error) {
    if (error instanceof UmaError && error.code === 'ERR_UMA_NOT_FOUND')
      return none('nothing was recorded', KEEP_HISTORY);
    return none(error instanceof Error ? error.message : String(error), null);
  }
}

/** The time of the reading is by the clock of the recording. */
function ofDay({ at, sessions }: RecordReport): LiveHistory {
  const since = new Date(Date.parse(at) - DAY_MS).toISOString();
  const newest = sessions.filter(({ lastAt }) => lastAt > since).map(withoutTexts);
  return newest.length === 0
    ? none('nothing was recorded in the last day', KEEP_HISTORY)
    : { sessions: newest, why: null, isLate: false };
}

function none(because: string, next: string | null): LiveHistory {
  const sentence = `${capitalized(because).replace(/\.$/, '')}.`;
  return { sessions: [], why: next === null ? sentence : `${sentence} Next: ${next}.`, isLate: false };
}

/** Messages of the kernel are for who may read its log. */
function withoutTexts(session: RecordedSession): RecordedSession {
  return { ...session, marks: session.marks.slice(-MARKS), kernelMessages: [], notes: [] };
}
