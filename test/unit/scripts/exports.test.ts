/** What lib exports is used by another file: an export that nothing imports hides dead code from the linter. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../../scripts/run.mjs';

type Sources = Readonly<Record<string, string>>;

/** Functions, classes and constants that are exported and named in no file that imports theirs. */
function unusedExports(sources: Sources): string[] {
  const importers = new Map<string, string[]>();
  for (const [path, text] of Object.entries(sources))
    for (const [, name = ''] of text.matchAll(/(?:from|import|import\(|loadLib\()\s*'((?:\.|lib\/)[^']+)'/g)) {
      const file = name.startsWith('.') ? normalize(join(dirname(path), name)) : name;
      importers.set(file, [...(importers.get(file) ?? []), text]);
    }
  return Object.entries(sources).flatMap(([path, text]) =>
    [...text.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !importers.get(path)?.some((other) => new RegExp(`\\b${name}\\b`).test(other)))
      .map((name) => `${path}: ${name}`),
  );
}

it('lib exports nothing that only its own file uses', () => {
  const folders = ['lib', 'browser', 'scripts', 'test'];
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  );
  const code = paths.filter((path) => /\.(ts|mjs)$/.test(path));
  const sources = Object.fromEntries(code.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  expect(unusedExports(sources).filter((found) => found.startsWith('lib/'))).toEqual([]);
});

it('finds one', () => {
  const sources = {
    'lib/a/one.ts': 'export const used = 1;\nexport function unused() {}\nexport const loaded = 2;',
    'lib/b.ts': "import { used } from './a/one.ts';\nconst { loaded } = await import('./a/one.ts');",
    'lib/c.ts': 'const unused = 3;',
  };
  expect(unusedExports(sources)).toEqual(['lib/a/one.ts: unused']);
});
