// lib/types → schemas/*.schema.json, one file for each interface with a field `schema`: its id is the value of that field, and
// ranges and patterns are tags of doc comments. Made when umaprobe is built; machine.schema.json alone is written by hand.
//   node scripts/schemas.mjs
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPackages } from './packages.mjs';
import { isMain, main, root } from './run.mjs';
import { manifest, unlessCurrent } from './stale.mjs';

const TOOL = 'tools/schemas';
const DOCUMENT = /^export interface (\w+)[^{]*\{\n(?:(?!\}\n).*\n)*? {2}schema\??: '(umaprobe\/([a-z-]+)\/1)';$/gm;

/** The documents of lib/types: the type of each, the id and the file of its schema. */
function documents() {
  const folder = join(root, 'lib/types');
  return readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(DOCUMENT)].map(([, type, id, name]) => ({
      type,
      id,
      file: `schemas/${name}.schema.json`,
    })),
  );
}

/** A number or a text with a range stands where it is used, with null beside it: {"type": ["integer", "null"], "minimum": 0}. */
function withScalars(value, scalars) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withScalars(item, scalars));
  const { $ref, anyOf, ...rest } = value;
  const scalar = scalars[$ref ?? (anyOf?.length === 2 && anyOf[1].type === 'null' ? anyOf[0].$ref : undefined)];
  if (scalar !== undefined) return { ...scalar, ...(anyOf && { type: [scalar.type, 'null'] }), ...rest };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withScalars(item, scalars)]));
}

/** A schema of the generator, with its id and with the shapes that it shares in `$defs`. */
function published({ $schema, definitions = {}, ...schema }, $id) {
  const isScalar = ([, { enum: values, type }]) =>
    ['integer', 'number', 'string'].includes(type) && values === undefined;
  const [scalars, shapes] = [true, false].map((wanted) =>
    Object.entries(definitions).filter((entry) => isScalar(entry) === wanted),
  );
  const ranges = scalars.map(([name, { description, ...range }]) => [`#/definitions/${name}`, range]);
  const whole = withScalars({ $schema, $id, ...schema, $defs: Object.fromEntries(shapes) }, Object.fromEntries(ranges));
  // One line, because programs read them: indented they are half as large again.
  return `${JSON.stringify(whole).replaceAll('"#/definitions/', '"#/$defs/')}\n`;
}

async function writeSchemas() {
  await installPackages(TOOL);
  const { createGenerator } = createRequire(join(root, TOOL, 'package.json'))('ts-json-schema-generator');
  const generator = createGenerator({
    path: join(root, 'lib/types/index.ts'),
    tsconfig: join(root, 'tsconfig.json'),
    topRef: false,
    additionalProperties: false,
    encodeRefs: false,
    skipTypeCheck: true,
  });
  // Schemas of types that are gone go, too.
  for (const name of readdirSync(join(root, 'schemas')).filter((file) => file !== 'machine.schema.json'))
    rmSync(join(root, 'schemas', name));
  for (const { type, id, file } of documents())
    writeFileSync(join(root, file), published(generator.createSchema(type), id));
}

/** Makes the schemas, where lib/types or what makes them has changed. */
export function makeSchemas() {
  return unlessCurrent({
    what: 'schemas made',
    stamp: 'build/schemas.stamp',
    now: manifest(['lib/types'], ['tsconfig.json', `${TOOL}/package-lock.json`, 'scripts/schemas.mjs']),
    outputs: documents().map(({ file }) => file),
    build: writeSchemas,
  });
}

if (isMain(import.meta.url)) await main(makeSchemas);
