/** Validates a machine against schemas/machine.schema.json, and reports the most relevant mistake in one line. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { packageRoot } from '../root.ts';
import { isObject, type JsonObject, type Machine, machineError } from './machine.ts';

/** The schema as code, which scripts/machine-validator.mjs makes. Loaded on first use: most commands never simulate. */
function validator(): ValidateFunction<Machine> {
  const require = createRequire(import.meta.url);
  return require(join(packageRoot(), 'dist/machine-validator.cjs')) as ValidateFunction<Machine>;
}

export function validateMachine(document: JsonObject, source: string): Machine {
  const validate = validator();
  if (validate(document)) return document;
  throw machineError(`${source}: ${sentence(mostRelevant(validate.errors ?? []))}`);
}

/** ajv reports every branch of alternatives; the deepest error is about the user's text. */
function mostRelevant(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const plain = errors.filter(({ keyword }) => !['anyOf', 'oneOf', 'if', 'not'].includes(keyword));
  return [...(plain.length > 0 ? plain : errors)].sort((a, b) => depth(b) - depth(a))[0];
}

function depth(error: ErrorObject): number {
  return error.instancePath.split('/').length;
}

function sentence(error: ErrorObject | undefined): string {
  if (error === undefined) return 'is not a machine description.';
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  const inside = field === '' ? '' : `${field}.`;
  if (error.keyword === 'required') return `${inside}${String(error.params.missingProperty)} is missing.`;
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    const extra = String(error.params.additionalProperty ?? error.params.unevaluatedProperty);
    return `${inside}${extra} is not a field of a machine; expected one of ${knownFields(error)}.`;
  }
  const value = shorten(JSON.stringify(error.data) ?? 'undefined');
  return `${field === '' ? 'the document' : field} is ${value}; expected ${expectation(error)}.`;
}

function expectation(error: ErrorObject): string {
  const { keyword, params } = error;
  if (keyword === 'enum')
    return `one of ${(params.allowedValues as unknown[]).map((item) => JSON.stringify(item)).join(', ')}`;
  if (keyword === 'const') return JSON.stringify(params.allowedValue);
  if (keyword === 'type') return `${String(params.type).replaceAll(',', ' or ')}${described(error)}`;
  // ajv's own message is fine for limits: "must be >= 0".
  return `a value that ${error.message ?? 'fits the schema'}${described(error)}`;
}

function described(error: ErrorObject): string {
  const schema = error.parentSchema as { description?: string } | undefined;
  return schema?.description === undefined ? '' : ` (${shorten(schema.description.replace(/\.$/, ''))})`;
}

function knownFields(error: ErrorObject): string {
  const schema = error.parentSchema as { properties?: Record<string, unknown> } | undefined;
  return Object.keys(schema?.properties ?? {}).join(', ');
}

function shorten(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 119)}…`;
}

/** The parsed JSON text as an object; throws if it is none. */
export function asObject(value: unknown, source: string): JsonObject {
  const json = value as JsonObject;
  if (!isObject(json)) throw machineError(`${source}: expected a JSON object that describes a machine.`);
  return json;
}
