/** The promise of a run that `await using` ends. */

/** A run that starts a program: the promise of its report. */
export interface Running<Report> extends Promise<Report> {
  /** Stops the program as an aborted `signal` does, and waits for its end, for `await using`. How it ended, the promise says. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param work ends when the signal is aborted. */
export function running<Report>(work: (ends: AbortSignal) => Promise<Report>): Running<Report> {
  const ending = new AbortController();
  const run = work(ending.signal);
  return Object.assign(run, {
    async [Symbol.asyncDispose](): Promise<void> {
      ending.abort();
      await run.catch(() => undefined);
    },
  });
}

/** The same settings, also ended by another signal. @throws its reason when it is aborted already. */
export function endedBy<Settings extends { signal: AbortSignal | undefined }>(
  ends: AbortSignal,
  settings: Settings,
): Settings & { signal: AbortSignal } {
  ends.throwIfAborted();
  const { signal } = settings;
  return { ...settings, signal: signal === undefined ? ends : AbortSignal.any([signal, ends]) };
}
