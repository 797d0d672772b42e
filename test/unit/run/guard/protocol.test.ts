/** What crosses to the native guards: only what differs between runs, and what both sides say of the rest. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardThresholds, SHOWN_RULES } from '../../../../lib/core/memory/guard-rules.ts';
import { guardArguments } from '../../../../lib/run/guard/protocol.ts';
import { ROOT } from '../../../support/root.ts';
import { GiB } from '../../../support/units.ts';

const source = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The rules of the native guard, as their one list has them. */
const RULES: ReadonlyMap<string, number> = new Map(
  [...source('native/run/supervisor/rule_list.h').matchAll(/^RULE\((\w+), ([\d.]+)( \* kMiB)?, /gm)].map(
    ([, name = '', value, unit]) => [name, Number(value) * (unit === undefined ? 1 : 2 ** 20)],
  ),
);

describe('the arguments of the native guard', () => {
  const thresholds = guardThresholds(120 * GiB, { loadBytes: 5 });

  it('are what differs between runs', () => {
    expect(guardArguments(thresholds, { intervalMs: 2.5, graceMs: 0 })).toEqual([
      '--floorBytes=9019431322',
      '--killBelowBytes=2147483648',
      '--intervalMs=2.5',
      '--graceMs=0',
      '--load=free:8589934592,step:1288490189,least:5',
    ]);
  });

  it('are ten at most', () => {
    const words = guardArguments(thresholds, {
      intervalMs: 10,
      graceMs: 5000,
      dryRun: true,
      load: ['drop', 'compact'],
      target: 'pid:7',
      notifyWords: 2,
      fds: { report: 3, control: 4, signals: -1, readings: 5 },
      program: { tty: true, parent: 7, openFiles: undefined, nohup: false, nicer: true },
    });
    expect(words.slice(4)).toEqual([
      '--act=0',
      '--load=drop,compact,free:8589934592,step:1288490189,least:5',
      '--target=pid:7',
      '--notifyWords=2',
      '--fds=report:3,control:4,readings:5',
      '--program=tty,parent:7,nicer',
    ]);
  });
});

describe('a number that both sides say', () => {
  it.each([
    ['pressure_full_percent', SHOWN_RULES.pressureFullPercent],
    ['pressure_for_s', SHOWN_RULES.pressureForMs / 1000],
    ['min_blocks_bytes', SHOWN_RULES.minBlocksBytes],
    ['notify_s', SHOWN_RULES.notifyMs / 1000],
  ])('is that of rule_list.h: %s', (name, shown) => {
    expect(shown).toBe(RULES.get(name));
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
