/**
 * The parsers of /proc and /sys, given real files that were changed: each answer is missing or an exact number, and a
 * second parser, written in another way, gives the same. There is no coverage-guided fuzzer here: @jazzer.js/core 4.0
 * ships binaries that need glibc 2.38. For the native parsers there is one: npm run test:fuzz.
 */

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  parseBuddyinfo,
  parseCgroup,
  parseChoice,
  parseDriverParameter,
  parseDriverVersion,
  parseNumber,
  parsePressure,
  parseShrinkerCount,
  parseVmstat,
} from '../../../../lib/core/host/procfs.ts';
import { normalPciBusId } from '../../../../lib/core/snapshot/pairs.ts';
import { mutatedTexts, realFiles } from '../../../support/mutated-texts.ts';

// Hundreds of runs take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const MOST = Number.MAX_SAFE_INTEGER;

/** A plain number of digits, below 2^53, with a fraction if `fraction`; else null. */
function number(text: string | undefined, fraction = false): number | null {
  const [whole = '', decimals, more] = (text ?? '').split('.');
  const digits = (part: string) => part !== '' && [...part].every((c) => c >= '0' && c <= '9');
  if (more !== undefined || !digits(whole) || (decimals !== undefined && !(fraction && digits(decimals)))) return null;
  const value = Number.parseFloat(text as string);
  return value <= MOST ? value : null;
}

function isExact(value: number | null | undefined): boolean {
  return value === null || (typeof value === 'number' && value >= 0 && value <= MOST);
}

const RUNS = { numRuns: 500 };

describe('parsePressure', () => {
  function line(text: string, name: string) {
    const found = text.split('\n').find((each) => each.startsWith(`${name} `));
    const words = (found ?? '').split(' ');
    const keys = ['avg10=', 'avg60=', 'avg300=', 'total='];
    if (words.length !== 5 || !keys.every((key, i) => words[i + 1]?.startsWith(key))) return null;
    const [avg10 = null, avg60 = null, avg300 = null, totalUs = null] = keys.map((key, i) =>
      number(words[i + 1]?.slice(key.length), i < 3),
    );
    if (avg10 === null || avg60 === null || avg300 === null || totalUs === null) return null;
    return Math.max(avg10, avg60, avg300) > 100 ? null : { avg10, avg60, avg300, totalUs };
  }

  it('agrees with a second parser', () => {
    fc.assert(
      fc.property(mutatedTexts(realFiles('pressure')), (text) => {
        const some = line(text, 'some');
        const full = line(text, 'full');
        expect(parsePressure(text)).toEqual(some === null || full === null ? null : { some, full });
      }),
      RUNS,
    );
  });
});

describe('parseBuddyinfo', () => {
  /** "Node 0, zone   Normal      5    4 …": words, of which the fourth is the zone. */
  function zones(text: string): [string, (number | null)[]][] {
    return text
      .split('\n')
      .map((line) => line.split(/ +/).filter((word) => word !== ''))
      .filter((words) => words[0] === 'Node' && words[2] === 'zone' && words.length > 3)
      .map((words) => [words[3] as string, words.slice(4).map((word) => number(word))]);
  }

  it('gives exact numbers, of blocks that double; or nothing', () => {
    fc.assert(
      fc.property(mutatedTexts(realFiles('buddyinfo')), fc.constantFrom(4096, 16_384, 65_536), (text, pageBytes) => {
        const parsed = parseBuddyinfo(text, pageBytes);
        if (parsed === null) return;
        for (const [order, block] of parsed.blocks.entries()) {
          expect(block.order).toBe(order);
          expect(block.blockBytes).toBe(pageBytes * 2 ** order);
          expect(isExact(block.blockBytes) && isExact(block.freeBlocks)).toBe(true);
        }
        // Every number that was counted is one of the file, and none is counted that is not a number.
        const counted = zones(text).filter(([zone]) => parsed.zone === 'all' || zone === 'Normal');
        for (const [order, { freeBlocks }] of parsed.blocks.entries())
          expect(freeBlocks).toBe(counted.reduce((sum, [, counts]) => sum + (counts[order] ?? 0), 0));
      }),
      RUNS,
    );
  });

  it('a row that is damaged is not left out of the sum: there is no sum', () => {
    const row = (counts: string) => `Node 0, zone   Normal ${counts}\n`;
    expect(parseBuddyinfo(row('1 2 3') + row('4 x 6'), 4096)).toBeNull();
    expect(parseBuddyinfo(row('1 2 3') + row(`4 ${'9'.repeat(400)} 6`), 4096)).toBeNull();
    expect(parseBuddyinfo(row(Array(60).fill('1').join(' ')), 4096)).toBeNull();
    expect(parseBuddyinfo(row('1 2 3'), 4096)?.blocks).toHaveLength(3);
  });
});

describe('parseVmstat', () => {
  const names = ['pgscan_direct', 'compact_stall', 'oom_kill', 'pgmajfault', 'allocstall*'];

  it('agrees with a second parser', () => {
    fc.assert(
      fc.property(mutatedTexts(realFiles('vmstat')), (text) => {
        const all = text.split('\n').map((line): [string, string] => {
          const space = line.indexOf(' ');
          return space === -1 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
        });
        // Which of two equal names counts does not matter: no kernel writes one twice.
        const keys = all.map(([key]) => key);
        if (keys.some((key, at) => names.includes(key) && keys.indexOf(key) !== at)) return;
        const expected = names.map((name) => {
          if (!name.endsWith('*')) return number(all.find(([key]) => key === name)?.[1]);
          const values = all.filter(([key]) => key.startsWith(name.slice(0, -1))).map(([, value]) => number(value));
          if (values.length === 0 || values.includes(null)) return null;
          const sum = (values as number[]).reduce((a, b) => a + b, 0);
          return sum <= MOST ? sum : null;
        });
        expect(parseVmstat(text, names)).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('a prefix of which one counter is damaged has no sum', () => {
    expect(parseVmstat('allocstall_dma 1\nallocstall_normal x\n', ['allocstall*'])).toEqual([null]);
    expect(parseVmstat('allocstall_dma 1\nallocstall0\n', ['allocstall*'])).toEqual([null]);
  });
});

describe('small files', () => {
  const anyText = fc.oneof(
    mutatedTexts(['5\n', 'max\n', '1 51200\n7 50 0\n', '4:memory:/a\n0::/b/c\n', 'always [madvise] never\n']),
    mutatedTexts([
      'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build  (x)\nGCC version: gcc 13\n',
      'MemoryPoolSize: 0\nEnableSystemMemoryPools: 529\nRegistryDwords: ""\n',
    ]),
  );

  it('give an exact number, a word or nothing', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const parsed of [parseNumber(text), parseShrinkerCount(text)]) expect(isExact(parsed)).toBe(true);
        expect(isExact(parseDriverParameter(text, 'EnableSystemMemoryPools'))).toBe(true);
        expect(parseDriverVersion(text) ?? '1.1').toMatch(/^\d+(\.\d+)+$/);
        expect(parseChoice(text) ?? 'word').toMatch(/^\w+$/);
        const cgroup = parseCgroup(text);
        if (cgroup !== null) expect(text).toContain(`:${cgroup.path}`);
      }),
      RUNS,
    );
  });

  it('a PCI address has one form, whoever wrote it', () => {
    const hex = (digits: number) => fc.nat(16 ** digits - 1).map((n) => n.toString(16).padStart(digits, '0'));
    const parts = fc.tuple(hex(4), hex(2), hex(2), fc.nat(7));
    fc.assert(
      fc.property(parts, fc.boolean(), ([domain, bus, device, fn], upper) => {
        const cuda = `${domain}:${bus}:${device}.${fn}`;
        const nvml = `0000${domain}:${bus}:${device}.${fn}`;
        const normal = normalPciBusId(cuda);
        expect(normal).toBe(normalPciBusId(upper ? nvml.toUpperCase() : nvml));
        expect(normalPciBusId(normal)).toBe(normal);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void normalPciBusId(text)));
  });
});
