import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MESSAGES } from '../../../lib/explain/messages/index.ts';
import { ROOT } from '../../support/root.ts';

it('docs/explain.md lists every message', () => {
  const page = readFileSync(join(ROOT, 'docs/explain.md'), 'utf8');
  const rows = new Map<string, { programs: Set<string>; verdict: string }>();
  for (const { code, program, verdict } of MESSAGES) {
    const row = rows.get(code) ?? { programs: new Set(), verdict };
    row.programs.add(program);
    rows.set(code, row);
  }
  const table = [...rows]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, { programs, verdict }]) => `| \`${code}\` | ${[...programs].join(', ')} | ${verdict} |`)
    .join('\n');
  expect(page).toContain(`| Code | Program | Verdict |\n|---|---|---|\n${table}\n`);
});
