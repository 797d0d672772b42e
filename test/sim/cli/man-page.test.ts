/** The man page of the package: man(1) prints it without a warning, and it has every command and option. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadCommands } from '../../../lib/cli/commands/index.ts';
import { findTool } from '../../../scripts/run.mjs';
import { ROOT } from '../../support/root.ts';

const PAGE = join(ROOT, 'dist/umaprobe.1');
const missing = findTool('man') === null ? 'no man (Debian: apt-get install man-db)' : null;

function man(locale: string, columns: number): { text: string; warnings: string } {
  const env = { ...process.env, LC_ALL: locale, MANWIDTH: String(columns), MAN_KEEP_FORMATTING: '', GROFF_NO_SGR: '1' };
  const ran = spawnSync('man', ['--warnings', '-P', 'cat', '-l', PAGE], { encoding: 'utf8', env });
  return { text: ran.stdout, warnings: ran.stderr };
}

it.for([
  ['C.UTF-8', 80],
  ['C', 80],
  ['C.UTF-8', 200],
] as const)('in locale %s with %d columns', async ([locale, columns], context) => {
  if (missing !== null) return context.skip(missing);
  const { text, warnings } = man(locale, columns);
  expect(warnings).toBe('');
  const words = text.replace(/\s+/g, ' ');
  const { all } = await loadCommands();
  for (const { name, options } of all) {
    expect(words).toContain(name);
    for (const option of Object.keys(options)) expect(words, `${name} --${option}`).toContain(`--${option}`);
  }
  for (const heading of [
    'NAME',
    'SYNOPSIS',
    'COMMANDS: MEMORY',
    'COMMANDS: UMAPROBE ITSELF',
    'EXIT STATUS',
    'ENVIRONMENT',
  ])
    expect(text).toMatch(new RegExp(`^${heading}$`, 'm'));
  // A character that this page cannot print is a question mark: none of them may stand for something else.
  expect(words).not.toMatch(/\w\?\w/);
});
