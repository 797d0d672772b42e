// The declarations of tsc that a program can import: those that the entry points reach, with specifiers that every
// TypeScript resolves, and once more under dist/cjs for programs of the format CommonJS. Both formats run the same
// modules: dist/cjs/<entry>.js requires them, as Node can since 20.19.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { PACKAGE_DOORS } from './rooms.mjs';
import { root } from './run.mjs';

const dist = join(root, 'dist');
const ENTRIES = Object.keys(PACKAGE_DOORS);
/** Specifier of a relative import or export of a declaration, with what comes before it. */
const SPECIFIER = /(\b(?:from|import)\s*\(?\s*['"])(\.[^'"]+)\.ts(?=['"])/g;

/** Paths in dist of the declarations that these entry points import, directly or not, and of their own. */
function reachable(entries) {
  const found = new Map();
  const visit = (path) => {
    if (found.has(path)) return;
    const text = readFileSync(join(dist, path), 'utf8');
    found.set(path, text);
    for (const [, , specifier] of text.matchAll(SPECIFIER)) visit(`${normalize(join(dirname(path), specifier))}.d.ts`);
  };
  for (const entry of entries) visit(`${entry}.d.ts`);
  return found;
}

function write(path, text) {
  mkdirSync(dirname(join(dist, path)), { recursive: true });
  writeFileSync(join(dist, path), text);
}

/** Removes every declaration, and then every folder that has become empty. */
function removeDeclarations(folder = dist) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.endsWith('.d.ts')) rmSync(path);
    else if (statSync(path).isDirectory()) removeDeclarations(path);
  }
  if (folder !== dist && readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}

export function finishDeclarations() {
  const declarations = reachable(ENTRIES);
  removeDeclarations();
  for (const [path, text] of declarations) {
    const portable = text.replace(SPECIFIER, '$1$2.js');
    write(path, portable);
    write(join('cjs', path), portable);
  }
  write('cjs/package.json', '{ "type": "commonjs" }\n');
  for (const entry of ENTRIES) write(`cjs/${entry}.js`, entryOfCommonJs(entry));
}

/** Node's own words on a Node whose require() loads no ES modules advise what helps nobody. */
const entryOfCommonJs = (entry) => `try {
  module.exports = require('../${entry}.js');
} catch (error) {
  if (error.code !== 'ERR_REQUIRE_ESM') throw error;
  throw new Error('require("umaprobe") needs Node 20.19, 22.12 or later, and this is ' + process.versions.node);
}
`;
