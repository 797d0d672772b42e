import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatBoth,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  inGB,
  inGiB,
  parseDuration,
  parseSize,
  share,
} from '../../../lib/base/format.ts';

describe('bytes', () => {
  it('keeps GiB and GB apart', () => {
    expect(formatBoth(128_518_619_136)).toBe('119.69 GiB (128.52 GB)');
    expect(inGiB(2 ** 30)).toBe('1.00');
    expect(inGB(1e9)).toBe('1.00');
  });

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1_048_575, '1.0 MiB'],
    [46_251_008, '44.1 MiB'],
    [2 ** 30, '1.0 GiB'],
    [119.69 * 2 ** 30, '119.7 GiB'],
    [2 ** 40, '1.00 TiB'],
    [-(2 ** 30), '-1.0 GiB'],
  ])('%d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('never prints 1024.0 of a unit, and never a number for unknown', () => {
    fc.assert(fc.property(fc.nat(2 ** 45), (bytes) => !formatBytes(bytes).startsWith('1024.0')));
    for (const format of [formatBytes, formatBoth, inGiB, inGB, formatCount, formatPercent])
      expect(format(null)).toBe('unknown');
  });

  it('groups the digits of a count as the locale en-US does', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.double({ min: -1e9, max: 1e9, noNaN: true })),
        (count) => {
          const expected = count.toLocaleString('en-US', { maximumFractionDigits: 20 });
          expect(formatCount(count)).toBe(Object.is(count, -0) ? '0' : expected);
        },
      ),
    );
  });

  it('does not print a negative zero', () => {
    expect(inGiB(-1000)).toBe('0.00');
    expect(share(-1000, 2 ** 30)).toBe('0.0');
  });
});

describe('percent', () => {
  it('formats a number that is a percentage already', () => {
    expect(formatPercent(0.3)).toBe('0.3 %');
    expect(share(1, 4)).toBe('25.0');
    expect(share(1, 0)).toBe('unknown');
  });
});

describe('durations', () => {
  it.each([
    [0.42, '0.42 ms'],
    [35, '35 ms'],
    [999.6, '1.00 s'],
    [1500, '1.50 s'],
    [59_999, '1 min 0 s'],
    [200_000, '3 min 20 s'],
    [3_600_000, '1 h 0 min'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    ['500ms', 500],
    ['1s', 1000],
    ['1.5 s', 1500],
    ['2m', 120_000],
    ['2min', 120_000],
    ['1h', 3_600_000],
    ['1H', 3_600_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '1', 's', '-1s', '1d', '1e3s', 'Infinity s', '1s2'])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

describe('sizes', () => {
  it.each([
    ['4096B', 4096],
    ['8GB', 8e9],
    ['8GiB', 8 * 2 ** 30],
    ['8gib', 8 * 2 ** 30],
    ['1.5 MiB', 1.5 * 2 ** 20],
    ['0', 0],
    ['3B', 3],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '60', '4096', '1.5', '8G', '8Gi', 'GB', '-1GB', '1e9', '8 G B', '99999999TiB'])('refuses %j', (text) => {
    expect(parseSize(text)).toBeNull();
  });
});
