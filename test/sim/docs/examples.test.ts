/** Every JavaScript example of the documents runs as it stands. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLI } from '../../support/cli.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const documents = [
  'README.md',
  ...readdirSync(`${root}/docs`)
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
const examples = documents.flatMap((document) =>
  [...readFileSync(`${root}/${document}`, 'utf8').matchAll(/<!-- example: (.+?) -->\n```js\n(.*?)```/gs)].map(
    (match) => ({ title: `${document}: ${match[1]}`, code: match[2] as string }),
  ),
);

describe('examples', () => {
  it('are found', () => {
    expect(examples.length).toBeGreaterThan(4);
    // A block of code that no test runs is a promise that nobody keeps.
    const blocks = documents.flatMap((document) => [
      ...readFileSync(`${root}/${document}`, 'utf8').matchAll(/^```js$/gm),
    ]).length;
    const shown = documents.flatMap((document) => [
      ...readFileSync(`${root}/${document}`, 'utf8').matchAll(/<!-- signature -->\n```js$/gm),
    ]).length;
    expect(blocks - shown).toBe(examples.length);
  });

  it.each(examples)('$title', ({ code }) => {
    const node = [process.execPath, '--input-type=module', '-e', code];
    const simulates = code.includes('simulate(');
    const command = simulates ? node : [process.execPath, CLI, 'sim', 'run', 'gb10', '--', ...node];
    const ran = spawnSync(command[0] as string, command.slice(1), { cwd: root, encoding: 'utf8', timeout: 30_000 });
    expect(ran.stderr).toBe('');
    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(/\d/);
  });
});
