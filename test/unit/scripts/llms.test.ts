/** llms.txt is made from README's table: each page once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { llmsText } from '../../../scripts/llms.mjs';
import { root } from '../../../scripts/run.mjs';

const README = `# name

**What it is.**

[Not of the table](docs/other.md)

| Question | Page |
|---|---|
| How? | [one](docs/one.md), [\`two\`](docs/two.md): also this |
| Why? | [three](docs/three.md) |
`;

it('has the title, the sentence and each page with its question', () => {
  expect(llmsText(README)).toBe(
    '# name\n\n> What it is.\n\n## Pages\n\n- [one](docs/one.md): How?\n- [two](docs/two.md): How?\n- [three](docs/three.md): Why?\n',
  );
});

it('refuses a page that the table has twice, and a table without pages', () => {
  expect(() => llmsText(README.replace('docs/three.md', 'docs/one.md'))).toThrow('docs/one.md twice');
  expect(() => llmsText(README.replace('| Question', 'Question').replaceAll('](', '] ('))).toThrow('no table of pages');
});

it('is current: else npm run format', () => {
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  expect(read('llms.txt')).toBe(llmsText(read('README.md')));
});
