// The kinds of memory in the schemas of reports: written from the one list in lib/types/kinds.ts, so that a new kind is a row
// there and not one more in three documents.
//   node scripts/schemas.mjs          says which schema differs
//   node scripts/schemas.mjs --write  writes them (npm run format does)
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root } from './run.mjs';

const SCHEMAS = ['sweep', 'layout', 'stress'].map((name) => `schemas/${name}.schema.json`);

/** Names of the rows of ALLOCATOR_KINDS. Read as text: this runs before anything is compiled. */
export function kindNames(source = readFileSync(join(root, 'lib/types/kinds.ts'), 'utf8')) {
  const table = /export const ALLOCATOR_KINDS = \{\n(.*?)\n\} as const/s.exec(source)?.[1];
  const names = [...(table ?? '').matchAll(/^ {2}(\w+): \{/gm)].map((row) => row[1]);
  if (names.length === 0)
    throw new Error('lib/types/kinds.ts has no table ALLOCATOR_KINDS that scripts/schemas.mjs can read');
  return names;
}

/** A schema with its lists of kinds, and its properties by kind, written anew; everything else stays as it is. */
export function withKinds(text, kinds) {
  const list = `[${kinds.map((kind) => `"${kind}"`).join(', ')}]`;
  const property = /^( *)"device": (\{[^\n]*\}),\n(?:\1"\w+": \2,?\n)+/m;
  return text
    .replace(/\["device", "managed"[^\]]*\]/g, list)
    .replace(property, (_, indent, value) => `${kinds.map((kind) => `${indent}"${kind}": ${value}`).join(',\n')}\n`);
}

/** Throws, or with `write` mends them, where a schema lacks a kind. */
export function checkSchemas({ write = false } = {}) {
  const kinds = kindNames();
  for (const path of SCHEMAS) {
    const text = readFileSync(join(root, path), 'utf8');
    const expected = withKinds(text, kinds);
    if (text === expected) continue;
    if (!write) throw new Error(`${path} does not have the kinds of lib/types/kinds.ts: run npm run format`);
    writeFileSync(join(root, path), expected);
  }
}

if (isMain(import.meta.url)) await main(() => checkSchemas({ write: process.argv.includes('--write') }));
