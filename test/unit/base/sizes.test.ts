/** Sizes and durations that a person types: for any text a number of the unit that was typed, or a refusal. */

import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { formatBytes, formatDuration, parseDuration, parseSize } from '../../../lib/base/format.ts';

// Hundreds of runs take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const UNITS = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
const anyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((c, i) => (upper[i] ? c.toUpperCase() : c.toLowerCase())).join(''));
/** Digits, points, signs, units and spaces in any order: near misses of a size. */
const nearMiss = fc
  .array(
    fc.constantFrom(
      '1',
      '0',
      '9',
      '.',
      ',',
      '-',
      '+',
      'e',
      ' ',
      'k',
      'K',
      'M',
      'G',
      'i',
      'B',
      'b',
      's',
      'm',
      'h',
      'min',
      '٣',
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''));
const anyText = fc.oneof(
  nearMiss,
  fc.string(),
  fc.nat().map((n) => '9'.repeat(n % 400)),
);

it('a size is its number times its unit, in any case', () => {
  const unit = fc
    .constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[]))
    .chain((name) => fc.tuple(fc.constant(UNITS[name]), anyCase(name)));
  fc.assert(
    fc.property(fc.nat(999_999), unit, fc.constantFrom('', ' '), (n, [factor, name], space) => {
      const bytes = n * factor;
      expect(parseSize(`${n}${space}${name}`)).toBe(Number.isSafeInteger(bytes) ? bytes : null);
    }),
  );
});

it('without a unit only 0 is a size: nothing is guessed', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const bytes = parseSize(text);
      if (bytes === null) return;
      expect(Number.isSafeInteger(bytes) && bytes >= 0).toBe(true);
      if (!/[a-z]/i.test(text)) expect(text.trim()).toBe('0');
      else expect(text.trim()).toMatch(/^\d+(\.\d+)?\s*([kmgt]i?)?b$/i);
    }),
    { numRuns: 3_000 },
  );
  for (const text of ['1.5', '1.5B', '0.4', '8G', '8Gi', '8 K']) expect(parseSize(text), text).toBeNull();
});

it('what is printed reads back as the same size, to the printed digit', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 50), (bytes) => {
      const text = formatBytes(bytes);
      const again = parseSize(text) as number;
      expect(again).not.toBeNull();
      const unit = UNITS[text.split(' ')[1] as keyof typeof UNITS];
      expect(Math.abs(again - bytes)).toBeLessThanOrEqual(unit * 0.05 + 1);
      expect(formatBytes(again)).toBe(text);
    }),
  );
});

it('a duration is finite, and has a unit', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom('', 'ms', 's', 'm', 'min', 'h'), (number, unit) => {
      const ms = parseDuration(`${number}${unit}`);
      if (ms === null) return;
      expect(Number.isFinite(ms) && ms >= 0).toBe(true);
      expect(`${number}${unit}`).toMatch(/[a-z]\s*$/i);
    }),
    { numRuns: 3_000 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 999 }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});
