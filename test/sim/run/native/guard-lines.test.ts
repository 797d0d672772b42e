/** Every line that umaprobe-guard writes, and what TypeScript reads of it: both sides say it once. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LINES, parseReport } from '../../../../lib/run/guard/protocol.ts';
import { type GuardLine, HARMLESS, startGuard } from '../../../support/guard-program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** For readers of the report without umaprobe. */
const UNREAD: Readonly<Record<string, readonly string[]>> = {
  started: ['locked', 'available', 'free'],
  ended: ['stopped'],
};

/** "evidence.slope", of a line or of what is read of it. */
const names = (fields: object): string[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? names(value).map((inner) => `${name}.${inner}`)
      : [name],
  );

const RUNS: Readonly<Record<string, () => ReturnType<typeof startGuard>>> = {
  'a command that is stopped, with a notifier': () =>
    startGuard({ floorBytes: 2 ** 50, killBelowBytes: 2 ** 49, notifyWords: 1 }, ['true', 'sleep', '20']),
  'a load that is over': () => startGuard({ ...HARMLESS, load_limit_s: 0.001, report_s: 0.001 }, ['sleep', '0.2']),
  'a program that is not there': () => startGuard(HARMLESS, [join(temporaryFolder('none'), 'none')]),
  // What is left ends by itself.
  'a program that leaves another': () => startGuard(HARMLESS, ['sh', '-c', 'sleep 1 > /dev/null 2>&1 & exit 0']),
};

describe('the lines of the native guard', () => {
  const seen = new Set<string>();

  it.each(Object.keys(RUNS))('of %s are those that are read', async (run) => {
    const guarded = RUNS[run]?.();
    await guarded?.end;
    for (const line of guarded?.lines ?? []) {
      expect(parseReport(JSON.stringify(line))).toEqual(line);
      expect(names(line).sort()).toEqual(known(line).sort());
      seen.add(line.event);
    }
  });

  it('are all of them', () => {
    expect([...seen].sort()).toEqual(Object.keys(LINES).sort());
  });
});

function known({ event }: GuardLine): string[] {
  return ['event', ...names(LINES[event as keyof typeof LINES]), ...(UNREAD[event] ?? [])];
}
