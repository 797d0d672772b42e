// Rules of the house that no linter knows. Each is one row: which files, what is looked for, why.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const maxLines = 500;

const rules = [
  {
    why: 'only js/calls* and js/promises.h know the C++ wrapper of Node-API',
    files: /^native\/.*\.(cc|h)$/,
    except: /^native\/js\/(calls(_\w+)?\.(cc|h)|promises\.h)$/,
    pattern: /#include <napi\.h>/,
  },
  {
    why: 'a device is known by its attributes; its name belongs to memory/quirks.ts and lib/machines',
    files: /^lib\/.*\.ts$/,
    except: /^lib\/(memory\/quirks\.ts|machines\/)/,
    pattern: /(['"`])[^'"`]*GB10[^'"`]*\1/,
    ignoreComments: true,
  },
  {
    why: 'relative imports end in .ts',
    files: /^(browser|lib|test)\/.*\.ts$/,
    pattern: /from '\.{1,2}\/[^']*(?<!\.ts|\.json|\.mjs)';/,
  },
  {
    why: 'unfinished work is an issue, not a comment',
    files: /./,
    except: /^scripts\/house-rules\.mjs$/,
    pattern: /\b(TODO|FIXME|XXX)\b/,
  },
  { why: 'types are not switched off', files: /\.ts$/, pattern: /@ts-(ignore|nocheck)/ },
];

/** Breaches on purpose, to show that they are found. */
const examples = 'test/pkg/scripts.test.ts';

const folders = ['browser', 'lib', 'native', 'scripts', 'test'];

function sources() {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => `${folder}/${name}`)
      .filter((path) => /\.(ts|mjs|cc|h|c)$/.test(path) && path !== examples),
  );
}

function withoutComment(line) {
  return line.replace(/^\s*(\/\/|\*|\/\*).*$/, '').replace(/\s\/\/ .*$/, '');
}

/** Every breach of a rule as "file:line: why". */
export function breachesOf(path, text) {
  const lines = text.split('\n');
  const found = [];
  if (lines.length > maxLines) found.push(`${path}: ${lines.length} lines, one idea a file ends before ${maxLines}`);
  for (const rule of rules) {
    if (!rule.files.test(path) || rule.except?.test(path)) continue;
    lines.forEach((line, i) => {
      if (rule.pattern.test(rule.ignoreComments ? withoutComment(line) : line))
        found.push(`${path}:${i + 1}: ${rule.why}`);
    });
  }
  return found;
}

export function breaches() {
  return sources().flatMap((path) => breachesOf(path, readFileSync(join(root, path), 'utf8')));
}
