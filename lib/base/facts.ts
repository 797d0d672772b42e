/** Facts that may be missing: why each one is, and where each value in a report comes from. */

import { errorCode, type Fact, type Failure } from './errors.ts';

export function isFailure(fact: unknown): fact is Failure {
  return typeof fact === 'object' && fact !== null && 'failed' in fact;
}

/** A failure as one line of a `from` record: the stable code, then the call, its result and its message. */
export function reason(failure: Failure): string {
  const status = failure.status === null ? '' : ` (${failure.status})`;
  const message = failure.message === '' ? '' : `: ${failure.message}`;
  return `${errorCode(failure)}: ${failure.call} answered ${failure.name}${status}${message}`;
}

/** True if a `from` record says that the fact could not be read, and not that it does not exist. */
export function isUnread(source: string | undefined): boolean {
  return source?.startsWith('ERR_UMA') === true && !source.startsWith('ERR_UMA_NOT_SUPPORTED');
}

/** Builds a `from` record: the source of each property, or the reason why it is null. */
export class Provenance {
  readonly sources: Record<string, string> = {};

  /**
   * Returns the value of a fact and records its source. A failed or missing fact becomes null, and its reason is
   * recorded.
   *
   * @param absent the reason for a missing fact: the call that timed out, or why the fact was not read.
   */
  read<T>(path: string, fact: Fact<T> | undefined, source: string, absent: string): T | null {
    if (fact === undefined) {
      this.sources[path] = absent;
      return null;
    }
    if (isFailure(fact)) {
      this.sources[path] = reason(fact);
      return null;
    }
    this.sources[path] = source;
    return fact;
  }

  /** @param text the source of the property, or why it is null. */
  record(path: string, text: string): void {
    this.sources[path] = text;
  }
}
