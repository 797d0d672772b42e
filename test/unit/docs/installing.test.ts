/** docs/installing.md has the table of what test/pkg/managers.test.ts runs. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tableOfManagers } from '../../support/package-managers.ts';
import { ROOT } from '../../support/root.ts';

it('the table is that of the test', () => {
  expect(readFileSync(join(ROOT, 'docs/installing.md'), 'utf8')).toContain(`\n${tableOfManagers()}\n`);
});
