import { chmodSync, symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isAuthorized, readToken } from '../../../lib/serve/token.ts';
import { tokenFile } from '../../support/tokens.ts';

const TEXT = '0123456789abcdef';

it.each([TEXT, `${TEXT}\n`, `${TEXT}\r\n`, 'x'.repeat(512)])('a line is a token', (text) => {
  expect(isAuthorized(`Bearer ${text.trim()}`, readToken(tokenFile(text)))).toBe(true);
});

it.each(['', '\n', TEXT.slice(1), `${TEXT}\n${TEXT}`, `${TEXT} ${TEXT}`, `${TEXT}é`, 'x'.repeat(513), 'x'.repeat(600)])(
  'a file with "%s" is none',
  (text) => {
    expect(() => readToken(tokenFile(text))).toThrow(/^token file ".*": (expected one line of 16 to 512|it has)/);
  },
);

it('is not taken from a file that other users may read', () => {
  const path = tokenFile(TEXT);
  for (const mode of [0o640, 0o604, 0o644]) {
    chmodSync(path, mode);
    expect(() => readToken(path)).toThrow('other users may read it: chmod 600');
  }
});

it('is not taken through a link, nor from what is missing', () => {
  const path = tokenFile(TEXT);
  symlinkSync(path, `${path}-link`);
  expect(() => readToken(`${path}-link`)).toThrow(/^token file /);
  expect(() => readToken(`${path}-none`)).toThrow('there is no such file');
});
