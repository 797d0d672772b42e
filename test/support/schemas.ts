/** The JSON schemas that ship. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { ROOT } from './root.ts';

const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
for (const file of readdirSync(join(ROOT, 'schemas')))
  ajv.addSchema(JSON.parse(readFileSync(join(ROOT, 'schemas', file), 'utf8')));

/** Parses a document and checks it against the schema that it names. */
export function parseDocument(text: string): Record<string, unknown> {
  const document = JSON.parse(text) as Record<string, unknown>;
  const validate = ajv.getSchema(String(document.schema));
  if (validate === undefined) throw new Error(`there is no schema ${String(document.schema)}`);
  if (!validate(document)) throw new Error(`${String(document.schema)}: ${ajv.errorsText(validate.errors)}`);
  return document;
}
