/** Every JavaScript example of the documents runs as it stands. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI } from '../../support/cli.ts';
import { PAGES } from '../../support/pages.ts';
import { ROOT } from '../../support/root.ts';

const documents = PAGES.map((page) => ({ page, text: readFileSync(join(ROOT, page), 'utf8') }));
const examples = documents.flatMap(({ page, text }) =>
  [...text.matchAll(/<!-- example: (.+?) -->\n```js\n(.*?)```/gs)].map((match) => ({
    title: `${page}: ${match[1]}`,
    code: match[2] as string,
  })),
);

describe('examples', () => {
  it('are found', () => {
    expect(examples.length).toBeGreaterThan(4);
    // Each block of code is an example that is run, or a signature.
    const count = (pattern: RegExp) => documents.flatMap(({ text }) => [...text.matchAll(pattern)]).length;
    expect(count(/^```js$/gm) - count(/<!-- signature -->\n```js$/gm)).toBe(examples.length);
  });

  it.each(examples)('$title', ({ code }) => {
    const node = [process.execPath, '--input-type=module', '-e', code];
    const simulates = code.includes('simulate(');
    const command = simulates ? node : [process.execPath, CLI, 'sim', 'run', 'gb10', '--', ...node];
    const ran = spawnSync(command[0] as string, command.slice(1), { cwd: ROOT, encoding: 'utf8', timeout: 30_000 });
    expect(ran.stderr).toBe('');
    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(/\d/);
  });
});
