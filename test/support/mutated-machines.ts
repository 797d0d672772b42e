/** Machine files with fields that were changed, removed or added: an arbitrary for fast-check. */

import fc from 'fast-check';
import { loadMachine } from '../../lib/sim/load.ts';
import type { Json, JsonObject } from '../../lib/sim/machine.ts';

type Path = readonly string[];

/** The paths of all fields and entries. */
function paths(value: Json, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const below = Object.entries(value).flatMap(([key, child]) => paths(child, [...at, key]));
  return at.length === 0 ? below : [at, ...below];
}

const REMOVED = Symbol('removed');

/** A copy of the document with another value at a path; missing levels on the way are left missing. */
function withValue(document: JsonObject, path: Path, change: (old: Json) => Json | typeof REMOVED): JsonObject {
  const copy = structuredClone(document);
  let level: JsonObject = copy;
  for (const key of path.slice(0, -1)) {
    const next = level[key];
    if (typeof next !== 'object' || next === null) return copy;
    level = next as JsonObject;
  }
  const key = path.at(-1) as string;
  // A key of the object itself: every object has a valueOf.
  const value = change((Object.hasOwn(level, key) ? level[key] : null) ?? null);
  if (value === REMOVED) delete level[key];
  else level[key] = value;
  return copy;
}

const anyValue: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json[]>(
    0,
    -1,
    0.5,
    1e18,
    2 ** 53,
    1e300,
    -0,
    true,
    null,
    '',
    'x',
    'a\nb',
    'a\0b',
    '\u009b31m',
    [],
    {},
    [{}],
  ),
  fc.nat(2 ** 40),
  fc.string({ maxLength: 120 }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** A shipped machine with none to three changes; about half of them still match the schema. */
export function mutatedMachines(names: readonly string[]): fc.Arbitrary<JsonObject> {
  return fc.constantFrom(...names).chain((name) => {
    const machine = loadMachine(name) as JsonObject;
    const path = fc.oneof(
      fc.constantFrom(...paths(machine)),
      fc
        .tuple(fc.constantFrom(...paths(machine)), fc.string({ maxLength: 8 }))
        .map(([at, key]) => [...at.slice(0, -1), key]),
    );
    const change = fc.oneof(
      anyValue.map((value) => () => value),
      fc.constant(() => REMOVED as typeof REMOVED),
      // A number of the same kind, which the schema often allows.
      fc
        .constantFrom(0, 1, 2, 1000, 2 ** 20, 1e-3)
        .map((factor) => (old: Json) => (typeof old === 'number' ? Math.round(old * factor) : old)),
    );
    return fc
      .array(fc.tuple(path, change), { maxLength: 3 })
      .map((changes) => changes.reduce((document, [at, how]) => withValue(document, at, how), machine));
  });
}
