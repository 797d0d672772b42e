/** What a page shows of the time before it was opened: the recordings of the last day on this machine. */

import { UmaError } from '../base/errors.ts';
import { readRecord } from '../record/index.ts';
import type { LiveHistory, RecordedSession } from '../types/index.ts';

const DAY_MS = 24 * 3_600_000;
/** Sessions of a day, each with its points: what a page can take, at most 2 MB of JSON. */
const SESSIONS = 8;
const POINTS = 1000;
/** Readings of a ring of 64 MiB take up to seconds: pages that are opened together share one. */
const KEPT_MS = 10_000;

export class SharedHistory {
  readonly #folder: string | undefined;
  #reading: { answer: Promise<Buffer>; startedMs: number } | null = null;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** As JSON. */
  read(): Promise<Buffer> {
    const now = performance.now();
    if (this.#reading !== null && now - this.#reading.startedMs < KEPT_MS) return this.#reading.answer;
    const answer = this.#take().then((history) => Buffer.from(JSON.stringify(history)));
    this.#reading = { answer, startedMs: now };
    return answer;
  }

  async #take(): Promise<LiveHistory> {
    try {
      const folder = this.#folder === undefined ? {} : { folder: this.#folder };
      const { sessions } = await readRecord({ ...folder, lastMs: DAY_MS, sessions: SESSIONS, points: POINTS });
      const since = new Date(Date.now() - DAY_MS).toISOString();
      return { sessions: sessions.filter(({ lastAt }) => lastAt > since).map(withoutTexts), why: null };
    } catch (error) {
      if (error instanceof UmaError && error.code === 'ERR_UMA_NOT_FOUND')
        return { sessions: [], why: 'nothing was recorded here; umaprobe record keeps a history' };
      return { sessions: [], why: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Messages of the kernel are for who may read its log. */
function withoutTexts(session: RecordedSession): RecordedSession {
  return { ...session, kernelMessages: [], notes: [] };
}
