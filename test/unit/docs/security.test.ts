/** SECURITY.md says what a test shows: each statement names one, and the named test is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../support/root.ts';

const sections = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').split(/^## /m);
const statements = sections
  .filter((text) => /^What (umaprobe may do|it does not trust)\n/.test(text))
  .flatMap((text) => text.split(/^(?=- )/m).slice(1));

const PROOF = /<!-- shown by (\S+): (.+) -->/g;

it('has statements', () => {
  expect(statements.length).toBeGreaterThan(8);
});

it.each(statements.map((text) => [text.split('\n')[0], text]))('%s', (_, text = '') => {
  const proofs = [...text.matchAll(PROOF)];
  expect(proofs).not.toEqual([]);
  for (const [, file = '', words = ''] of proofs) {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(words);
  }
});
