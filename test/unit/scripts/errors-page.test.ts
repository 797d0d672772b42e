/** docs/errors.md is made from the source: every code, when it occurs and what helps. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as codes from '../../../lib/base/error-codes.ts';
import * as exits from '../../../lib/cli/core/exit.ts';
import { errorTables, withTables } from '../../../scripts/errors-page.mjs';
import { ROOT } from '../../support/root.ts';

const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
const source = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('has the tables of the source: else npm run format', () => {
  expect(withTables(page, errorTables(codes, exits))).toBe(page);
});

it('has every exit code once', () => {
  const documented = exits.EXIT_MEANINGS.map(([code]) => code);
  expect(documented).toEqual([...Object.values(exits.EXIT).map(String), '128+n']);
  expect(new Set(documented).size).toBe(documented.length);
});

it('knows every code that an error of the library can have', () => {
  const used = ['lib/base/errors.ts', 'lib/base/arguments.ts', 'lib/cli/core/usage.ts', 'lib/cli/core/exit.ts'].flatMap(
    (path) => [...source(path).matchAll(/\b(ERR_[A-Z_]*[A-Z])\b/g)].map(([, code = '']) => code),
  );
  const documented = Object.keys({ ...codes.UMA_ERRORS, ...codes.USAGE_ERRORS, ...codes.OTHER_ERRORS });
  expect(used.length).toBeGreaterThan(50);
  expect([...new Set(used)].filter((code) => !documented.includes(code) && code !== 'ERR_INVALID_ARG')).toEqual([]);
});
