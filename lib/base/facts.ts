import { errorCode, type Fact, type Failure } from './errors.ts';

/** A failure as the one line that stands in a `from` record: stable code first, then who said what. */
export function reason(failure: Failure): string {
  const status = failure.status === null ? '' : ` (${failure.status})`;
  const said = failure.message === '' ? '' : `: ${failure.message}`;
  return `${errorCode(failure)}: ${failure.call} answered ${failure.name}${status}${said}`;
}

export function isFailure(fact: unknown): fact is Failure {
  return typeof fact === 'object' && fact !== null && 'failed' in fact;
}

/** The record that tells where each property came from, or why it is null. */
export class Provenance {
  readonly sources: Record<string, string> = {};

  /**
   * Takes a fact apart: a value is returned and its source noted, a failure or an absence becomes null with its reason.
   *
   * @param absent why the fact is missing, where it is: the call that ran into the deadline, or what was not asked.
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

  record(path: string, words: string): void {
    this.sources[path] = words;
  }
}
