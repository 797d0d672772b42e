/** Finds and reads machine files and resolves `extends`. */

import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readNamedFile } from '../base/named-path.ts';
import { didYouMean } from '../base/nearest.ts';
import { refuseBundle } from '../core/native/binding.ts';
import { packageRoot } from '../root.ts';
import type { Machine, MachineSummary } from '../types/index.ts';
import { findJsonMistake } from './json.ts';
import { isObject, type Json, type JsonObject, machineError } from './machine.ts';
import { asObject, validateMachine } from './validate.ts';

const SHIPPED = join(packageRoot(), 'lib/machines');

/** Size limit in bytes. Shipped machines are below 5 kB; a larger file is a mistake, such as a model file. */
const MAX_MACHINE_BYTES = 1024 * 1024;

/** Limit for the levels of `extends`; the shipped machines have two. */
const MAX_EXTENDS = 8;

/** Machines of loadMachine(), which need no second check. */
const LOADED = new WeakSet<Machine>();

export function shippedNames(): string[] {
  refuseBundle(packageRoot());
  return readdirSync(SHIPPED)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort();
}

/**
 * The machines shipped with umaprobe.
 *
 * @example
 * ```ts
 * import { machines } from 'umaprobe/sim';
 *
 * console.log(machines().map(({ name }) => name));
 * ```
 */
export function shippedMachines(): MachineSummary[] {
  return shippedNames().map((name) => {
    const { description, devices, memory } = loadMachine(name);
    const file = resolve(SHIPPED, `${name}.json`);
    return { name, description, devices: devices.map((device) => device.name), total: memory.total, file };
  });
}

/**
 * Loads a shipped machine by its name, or a machine file, which is checked: a path with a slash or ending in .json.
 *
 * @example
 * ```ts
 * import { loadMachine, simulate } from 'umaprobe/sim';
 *
 * const machine = loadMachine('gb10');
 * simulate({ ...machine, memory: { ...machine.memory, fileCache: 60e9 } });
 * ```
 */
export function loadMachine(nameOrFile: string): Machine {
  // process.cwd() fails in a folder that was removed: a shipped machine needs none.
  const document = resolveExtends(locate(nameOrFile, '.', ''), []);
  // The schema as code takes 20 ms, an eighth of a command. A test has each of the shipped machines checked, as a file.
  const machine = isShippedName(nameOrFile) ? (document as unknown as Machine) : validateMachine(document, nameOrFile);
  LOADED.add(machine);
  return machine;
}

/** A machine that a caller made or changed is checked like a file. */
export function checkMachine(machine: Machine): Machine {
  return LOADED.has(machine) ? machine : validateMachine(asObject(machine, 'The machine'), 'The machine');
}

function isShippedName(nameOrFile: string): boolean {
  return !nameOrFile.includes('/') && !nameOrFile.endsWith('.json');
}

function locate(nameOrFile: string, folder: string, origin: string): string {
  if (!isShippedName(nameOrFile)) return resolve(folder, nameOrFile);
  const names = shippedNames();
  if (names.includes(nameOrFile)) return resolve(SHIPPED, `${nameOrFile}.json`);
  throw machineError(
    `${origin}There is no simulated machine "${nameOrFile}".${didYouMean(nameOrFile, names) || ' umaprobe sim list shows them all; a file of your own ends in .json.'}`,
  );
}

function resolveExtends(file: string, chain: readonly string[]): JsonObject {
  if (chain.includes(file)) throw machineError(`${file}: "extends" is circular: ${[...chain, file].join(' → ')}.`);
  if (chain.length > MAX_EXTENDS) throw machineError(`${file}: more than ${MAX_EXTENDS} levels of "extends".`);
  const { extends: base, ...own } = asObject(parse(readNamedFile('machine', file, MAX_MACHINE_BYTES), file), file);
  if (base === undefined) return own;
  if (typeof base !== 'string') {
    throw machineError(`${file}: extends is ${JSON.stringify(base)}; expected the name or file of a machine.`);
  }
  return merge(resolveExtends(locate(base, dirname(file), `${file}: extends: `), [...chain, file]), own);
}

/** Objects are merged field by field; everything else, arrays included, is replaced. */
function merge(base: JsonObject, overrides: JsonObject): JsonObject {
  const fields = new Map<string, Json>(Object.entries(base));
  for (const [key, value] of Object.entries(overrides)) {
    const old = fields.get(key);
    fields.set(key, isObject(old) && isObject(value) ? merge(old, value) : value);
  }
  // Object.fromEntries defines properties, so a field named "__proto__" stays a field, which the schema refuses.
  return Object.fromEntries(fields);
}

function parse(text: string, file: string): unknown {
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  try {
    return JSON.parse(json);
  } catch (error) {
    const mistake = findJsonMistake(json);
    if (mistake === null)
      throw machineError(`${file}: is not JSON (${error instanceof Error ? error.message : String(error)}).`);
    throw machineError(`${file}:${mistake.line}:${mistake.column}: is not JSON: ${mistake.problem}.`);
  }
}
