import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../../lib/run/guard/lines.ts';
import { linePattern } from '../../../../lib/run/guard/pattern.ts';

describe('a regular expression of a user', () => {
  it('matches anywhere in a line', () => {
    const matches = linePattern('ready', '(?i)startup complete|listening on :\\d+');
    expect(matches('INFO: Application Startup Complete.')).toBe(true);
    expect(matches('starting up')).toBe(false);
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(50_000)}b`],
    ['(a|aa)+$', `${'a'.repeat(50_000)}b`],
    ['(.*)*x', 'y'.repeat(50_000)],
  ])('%s takes bounded time', (pattern, line) => {
    const matches = linePattern('ready', pattern);
    const begin = performance.now();
    expect(matches(line)).toBe(false);
    // An expression of JavaScript takes years.
    expect(performance.now() - begin).toBeLessThan(2000);
  });

  it.each([
    ['(', 'missing closing )'],
    ['a**', 'invalid nested repetition operator'],
    ['(?=x)', 'invalid or unsupported Perl syntax'],
    ['((a{100}){100}){100}', 'invalid repeat count'],
  ])('%s is refused', (pattern, why) => {
    expect(() => linePattern('ready', pattern)).toThrow(
      `ready ${JSON.stringify(pattern)} is no regular expression of RE2: ${why}`,
    );
  });
});

describe('lines', () => {
  const split = (chunks: readonly string[]): string[] => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const chunk of chunks) splitter.write(chunk);
    splitter.end();
    return lines;
  };

  it('are whole, however the stream is cut', () => {
    expect(split(['a', 'b\nc', '\r\n', '\n', 'end'])).toEqual(['ab', 'c', '', 'end']);
  });

  it('without an end do not take memory without end', () => {
    const lines = split(Array.from({ length: 100 }, () => 'x'.repeat(10_000)));
    expect(lines.map(({ length }) => length)).toEqual([64 * 1024]);
  });
});
