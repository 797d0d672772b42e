/** docs/doctor.md has the table of findings: every row once, in its order, and no other. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FINDINGS } from '../../../lib/types/findings.ts';
import { ROOT } from '../../support/root.ts';

it('lists every finding', () => {
  const page = readFileSync(join(ROOT, 'docs/doctor.md'), 'utf8');
  const [, table = ''] = page.split('\n## The table\n');
  const ids = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, id]) => id);
  expect(ids).toEqual(Object.keys(FINDINGS));
});
