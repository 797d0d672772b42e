/** Validates a machine against its schema and the rules between fields, and reports the most relevant mistake in one line. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { packageRoot } from '../root.ts';
import type { Machine, MachineEvent } from '../types/index.ts';
import { isObject, type JsonObject, machineError } from './machine.ts';

/** The schema as code, which scripts/machine-validator.mjs makes. Loaded on first use: most commands never simulate. */
function validator(): ValidateFunction<Machine> {
  const require = createRequire(import.meta.url);
  return require(join(packageRoot(), 'dist/machine-validator.cjs')) as ValidateFunction<Machine>;
}

export function validateMachine(document: JsonObject, source: string): Machine {
  const validate = validator();
  if (!validate(document)) throw machineError(`${source}: ${sentence(mostRelevant(validate.errors ?? []))}`);
  for (const mistake of mistakesBetweenFields(document)) throw machineError(`${source}: ${mistake}.`);
  return document;
}

/** Fields that a kind of event needs: `always`, and those that it needs where it has no curve of `points`. */
interface Needs {
  always?: readonly string[];
  /** Absent: this kind has no curve. */
  orCurve?: readonly string[];
}

const GROWTH: Needs = { orCurve: ['bytes'] };
const NEEDS: Readonly<Record<MachineEvent['what'], Needs>> = {
  anon: GROWTH,
  shmem: GROWTH,
  device: { always: ['process'], ...GROWTH },
  fileCache: GROWTH,
  fileDirty: { always: ['bytes'] },
  fileDelete: { always: ['bytes'] },
  slab: GROWTH,
  slabUnreclaimable: GROWTH,
  free: { always: ['process', 'bytes'] },
  exit: { always: ['process'] },
  oomKill: { always: ['process'] },
  pressure: { orCurve: ['percent', 'overMs'] },
  lost: { always: ['device'] },
};

/** Rules between fields, which the schema does not have, because a type says only what each field may be. */
function* mistakesBetweenFields({ events, files = [] }: Machine): Generator<string> {
  for (const [i, event] of events.entries()) yield* mistakesOfEvent(event, `events.${i}`);
  for (const [i, file] of files.entries()) yield* several(file, `files.${i}`, ['text', 'missing', 'error']);
}

function* mistakesOfEvent(event: MachineEvent, at: string): Generator<string> {
  const { points, repeatMs, what } = event;
  const { always = [], orCurve } = NEEDS[what];
  yield* absent(event, at, [...always, ...(points === undefined ? (orCurve ?? []) : [])]);
  yield* several(event, at, ['overMs', 'bytesPerSecond']);
  if (points === undefined) return yield* absent(event, at, repeatMs === undefined ? [] : ['points']);
  if (orCurve === undefined) yield `${at}.what is "${what}"; expected one of ${CURVES.join(', ')}`;
  for (const field of [...(orCurve ?? []), 'overMs', 'bytesPerSecond', 'percent'])
    yield* several(event, at, ['points', field]);
  for (const [i, point] of points.entries()) {
    yield* several(point, `${at}.points.${i}`, ['bytes', 'percent']);
    if (point.percent === undefined) yield* absent(point, `${at}.points.${i}`, ['bytes']);
  }
}

/** Kinds of events that may follow a curve, as a message names them. */
const CURVES = Object.entries(NEEDS).flatMap(([what, { orCurve }]) => (orCurve === undefined ? [] : [`"${what}"`]));

function absent(object: object, at: string, names: readonly string[]): string[] {
  return names.filter((name) => !Object.hasOwn(object, name)).map((name) => `${at}.${name} is missing`);
}

/** The first two of fields that exclude each other. */
function several(object: object, at: string, names: readonly string[]): string[] {
  const [one, other] = names.filter((name) => Object.hasOwn(object, name));
  return other === undefined ? [] : [`${at} has both ${one} and ${other}; expected one of them`];
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
