// Schemas as code, made by ajv when umaprobe is built, so that ajv (5 packages, 1.5 MB) is not installed with umaprobe, and a
// simulated machine is checked in 25 ms and not in 250:
//   schemas/machine.schema.json → dist/machine-validator.cjs
//   schemas/snapshot.schema.json → dist/snapshot-validator.cjs, for snapshots that other machines sent
//   schemas/record.schema.json → dist/record-validator.cjs, for their recordings
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';
import { makeSchemas } from './schemas.mjs';

const require = createRequire(import.meta.url);
// TypeScript's interoperation sees the namespace of this module where Node sees the function.
const { default: standaloneCode } = require('ajv/dist/standalone');

export async function bundleValidators() {
  // verbose: the errors hold the value and the part of the schema, from which lib/sim/validate.ts makes its sentence.
  await bundleValidator('machine', { verbose: true });
  for (const name of ['snapshot', 'record'])
    await bundleValidator(name, { messages: false }, { reviver: withoutDescription, edited: yesOrNo });
}

/** The code of a check holds the part of the schema that it needs. */
const withoutDescription = (key, value) => (key === 'description' && typeof value === 'string' ? undefined : value);

/** Leaves out the descriptions of errors, which are counted and not read: the code is half as large. */
const yesOrNo = (code) =>
  code.replace(/(\.errors = \[|const err\d+ = )\{instancePath\b.*?\}(?=\];\s*return false;|;\s*if\(vErrors)/gs, '$10');

async function bundleValidator(name, options, { reviver, edited = (code) => code } = {}) {
  const schema = JSON.parse(readFileSync(join(root, 'schemas', `${name}.schema.json`), 'utf8'), reviver);
  // inlineRefs: a definition that is used in several places is one function.
  const ajv = new Ajv({ ...options, strict: false, inlineRefs: false, code: { source: true } });
  const licence = readFileSync(require.resolve('ajv/package.json').replace('package.json', 'LICENSE'), 'utf8').trim();
  const source = join(root, 'build', `${name}-validator.cjs`);
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(source, edited(standaloneCode(ajv, ajv.compile(schema))));
  const build = await rolldown({ input: source, platform: 'node' });
  await build.write({
    file: join(root, 'dist', `${name}-validator.cjs`),
    format: 'cjs',
    minify: true,
    postBanner: `/*! Generated with ajv\n${licence}\n*/`,
  });
  await build.close();
  rmSync(source);
}

/** vitest.config.ts runs this before the unit tests. */
export async function setup() {
  await makeSchemas();
  await bundleValidators();
}
