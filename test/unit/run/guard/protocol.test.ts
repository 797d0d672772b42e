/** What crosses to the native guards: one table of names, and no number of their own. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardThresholds, probeThresholds } from '../../../../lib/core/memory/guard-rules.ts';
import * as table from '../../../../lib/core/native/guard-protocol.ts';
import { guardArguments } from '../../../../lib/run/guard/protocol.ts';
import { HEADER, headerOf } from '../../../../scripts/guard-protocol.mjs';
import { ROOT } from '../../../support/root.ts';

const source = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('the protocol of the native guards', () => {
  it('is what the header has (npm run format writes it)', () => {
    expect(source(HEADER)).toBe(headerOf(table));
  });

  it('gets every rule, by its name', () => {
    const words = guardArguments(guardThresholds(128_518_619_137), { intervalMs: 2.5, graceMs: 0 }, { act: 1 });
    expect(words).toContain('--intervalMs=2.5');
    const names = words.map((word) => /^--(\w+)=[\d.]+$/.exec(word)?.[1]);
    expect(names.sort()).toEqual([...Object.keys(table.PROGRAM_RULES), 'act'].sort());
    const probe = { ...probeThresholds(0, 10), intervalMs: 5, parent: 0, exitAfterMs: 0, reportFd: -1 };
    expect(Object.keys(probe).sort()).toEqual(Object.keys(table.PROBE_RULES).sort());
  });
});

/** Numbers of C++ code besides 0 and 1, which are no threshold. */
function numbersIn(code: string): string[] {
  const bare = code.replace(/\/\/.*$/gm, '').replace(/"[^"\n]*"/g, '""');
  return [...bare.matchAll(/(?<![\w.])\d[\w.']*/g)]
    .map(([number]) => number)
    .filter((number) => !/^[01]$/.test(number));
}

describe('what decides in native code', () => {
  it.each([
    'native/run/supervisor/judge.cc',
    'native/run/supervisor/stopper.cc',
    'native/run/supervisor/stopper.h',
    'native/guard/stall_detector.h',
    'native/guard/guard.cc',
  ])('has no number of its own: %s', (path) => {
    expect(numbersIn(source(path))).toEqual([]);
  });

  it('is judged by a test that sees numbers', () => {
    expect(numbersIn('x = 0.25; y = a1 + 1 - 0; "7"; // 8\nz(2 * h, 1u << 4, 10\'000);')).toEqual([
      '0.25',
      '2',
      '1u',
      '4',
      "10'000",
    ]);
  });
});
