/** The JSON schemas that ship. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { ROOT } from './root.ts';

const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true });
for (const file of readdirSync(join(ROOT, 'schemas')))
  ajv.addSchema(JSON.parse(readFileSync(join(ROOT, 'schemas', file), 'utf8')));

function validatorOf({ schema }: Record<string, unknown>): ValidateFunction {
  const validate = ajv.getSchema(String(schema));
  if (validate === undefined) throw new Error(`there is no schema ${String(schema)}`);
  return validate;
}

/** Parses a document and checks it against the schema that it names. */
export function parseDocument(text: string): Record<string, unknown> {
  const document = JSON.parse(text) as Record<string, unknown>;
  const { schema } = document;
  const validate = validatorOf(document);
  if (!validate(document)) throw new Error(`${String(schema)}: ${ajv.errorsText(validate.errors)}`);
  return document;
}

/** Elements of an array that are tried: the others are like them. */
const TRIED = 3;
/** A value that no field may have. */
const OTHER_TYPE = [[[]]];

/**
 * Tries each object of a document with a field more, and each field gone or of another type.
 *
 * @param validate default: by the schema that it names.
 * @returns what passes: "kinds[].call is gone", "from.* is one more".
 */
export function changesThatPass(
  document: Record<string, unknown>,
  validate: (document: object) => unknown = validatorOf(document),
): string[] {
  const passed = new Set<string>();
  const tryOn = (parent: Record<string, unknown>, key: string, value: unknown, what: string) => {
    const before = Object.getOwnPropertyDescriptor(parent, key);
    if (value === undefined) delete parent[key];
    else parent[key] = value;
    if (validate(document)) passed.add(what);
    if (before === undefined) delete parent[key];
    else parent[key] = before.value;
  };
  const visit = (value: unknown, path: string) => {
    if (Array.isArray(value)) for (const item of value.slice(0, TRIED)) visit(item, `${path}[]`);
    else if (typeof value === 'object' && value !== null) visitFields(value as Record<string, unknown>, path);
  };
  const visitFields = (parent: Record<string, unknown>, path: string) => {
    const prefix = path === '' ? '' : `${path}.`;
    tryOn(parent, 'surprise', 1, `${prefix}* is one more`);
    for (const [key, value] of Object.entries(parent)) {
      tryOn(parent, key, undefined, `${prefix}${key} is gone`);
      tryOn(parent, key, OTHER_TYPE, `${prefix}${key} is of another type`);
      visit(value, `${prefix}${key}`);
    }
  };
  visitFields(document, '');
  return [...passed];
}
