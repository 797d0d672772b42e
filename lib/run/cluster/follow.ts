/**
 * Follows machines: on each of them one umaprobe prints a reading at every interval, over one ssh that stays. A reading that is
 * asked for by an ssh of its own costs twenty times as much, most of it for the ssh.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterMachine, ClusterReport } from '../../types/index.ts';
import { DocumentReader, Lines } from './documents.ts';
import { DEFAULT_DEADLINE_MS } from './hosts.ts';
import { judgeAnswer, unusable, withoutDoubles } from './judge.ts';
import { answerAtEnd, notStarted } from './read.ts';
import { clusterReport } from './report.ts';
import { runBySsh } from './ssh.ts';

/** umaprobe there learns that nobody listens any more when it prints. */
const LONGEST_INTERVAL_MS = 10_000;

/** Times of following, in milliseconds; tests have shorter ones. */
export const FOLLOW_TIMES = {
  /** Time for the first answers: ssh and umaprobe start. A machine that hangs keeps no reader of a page waiting. */
  firstMs: 5000,
  /** Time after which a machine that did not answer, or does no longer, is asked again. */
  retryMs: 5000,
};

export class FollowedHosts {
  readonly #followed: readonly FollowedHost[];
  readonly #intervalMs: number;
  #patienceMs: number;

  /** @param signal ends every ssh. */
  constructor(hosts: readonly string[], intervalMs: number, signal: AbortSignal, times = FOLLOW_TIMES) {
    this.#followed = hosts.map((host) => new FollowedHost(host, Math.min(intervalMs, LONGEST_INTERVAL_MS)));
    this.#intervalMs = intervalMs;
    this.#patienceMs = times.firstMs;
    for (const followed of this.#followed) void followed.follow(signal, times.retryMs);
  }

  /**
   * Reads the last answer of each host, in their order. Waits until each has answered since it was asked before, and no
   * longer than an interval: the age of an answer says how old it is.
   */
  async read(): Promise<Pick<ClusterReport, 'machines' | 'summary'>> {
    const patience = new AbortController();
    const longest = sleep(this.#patienceMs, undefined, { signal: patience.signal, ref: false }).catch(() => undefined);
    const answers = await Promise.all(this.#followed.map((followed) => followed.next(longest)));
    patience.abort();
    this.#patienceMs = this.#intervalMs;
    const machines = withoutDoubles(answers);
    return { machines, summary: clusterReport(machines, 0).summary };
  }
}

class FollowedHost {
  readonly #host: string;
  readonly #line: string;
  readonly #deadlineMs: number;
  #answer: ClusterMachine | null = null;
  #cameMs = 0;
  /** True: the answer has been read. */
  #isRead = false;
  /** Callers that wait for the next answer. */
  readonly #waiting: (() => void)[] = [];

  constructor(host: string, intervalMs: number) {
    this.#host = host;
    this.#line = `umaprobe watch --json --interval ${intervalMs}ms`;
    this.#deadlineMs = DEFAULT_DEADLINE_MS + intervalMs;
  }

  async next(longest: Promise<void>): Promise<ClusterMachine> {
    if (this.#answer === null || this.#isRead) await Promise.race([this.#coming(), longest]);
    const answer = this.#answer;
    if (answer === null) return unusable(this.#host, 'timeout', 'it has not answered yet');
    this.#isRead = true;
    const sinceMs = performance.now() - this.#cameMs;
    return { ...answer, ageMs: answer.ageMs === null ? null : Math.round(answer.ageMs + sinceMs) };
  }

  async follow(signal: AbortSignal, retryMs: number): Promise<void> {
    while (!signal.aborted) {
      this.#put(await this.#listen(signal));
      await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Listens until ssh ends. Returns why there are no more answers. */
  async #listen(signal: AbortSignal): Promise<ClusterMachine> {
    const host = this.#host;
    const documents = new DocumentReader();
    const lines = new Lines((line) => documents.line(line));
    let hasAnswered = false;
    const onText = (text: string, renew: () => void): void => {
      lines.push(text);
      const newest = documents.found.splice(0).at(-1);
      if (newest === undefined) return;
      hasAnswered = true;
      this.#put(judgeAnswer({ host, found: [newest], cameAt: Date.now() }));
      renew();
    };
    try {
      const end = await runBySsh(host, this.#line, { deadlineMs: this.#deadlineMs, signal, onText, stays: true });
      lines.end();
      documents.end();
      if (hasAnswered && end.how === 'exited' && end.code === 0)
        return unusable(host, 'failed', 'the umaprobe there has ended');
      return answerAtEnd({ host, line: this.#line, deadlineMs: this.#deadlineMs, end, found: documents.found });
    } catch (error) {
      if (signal.aborted) return this.#answer ?? unusable(host, 'failed', 'it is not followed any longer');
      return notStarted(host, error as Error);
    }
  }

  #put(answer: ClusterMachine): void {
    this.#answer = answer;
    this.#cameMs = performance.now();
    this.#isRead = false;
    for (const proceed of this.#waiting.splice(0)) proceed();
  }

  #coming(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
