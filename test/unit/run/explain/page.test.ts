import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MESSAGES } from '../../../../lib/run/explain/messages/index.ts';
import { ROOT } from '../../../support/root.ts';

it('docs/explain.md lists every message', () => {
  const page = readFileSync(join(ROOT, 'docs/explain.md'), 'utf8');
  const rows = new Map<string, Set<string>>();
  for (const { code, verdict } of MESSAGES) rows.set(verdict, (rows.get(verdict) ?? new Set()).add(code));
  const table = [...rows]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([verdict, codes]) =>
        `| ${verdict} | ${[...codes]
          .sort((a, b) => a.localeCompare(b))
          .map((code) => `\`${code}\``)
          .join(' ')} |`,
    )
    .join('\n');
  expect(page).toContain(`| Verdict | Messages |\n|---|---|\n${table}\n`);
});
