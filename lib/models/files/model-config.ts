/** Checked access to the fields of a config.json, which may hold anything. It remembers which fields were read. */

import { isDeepStrictEqual } from 'node:util';
import { formatCount } from '../../base/format.ts';
import { isObject } from '../../base/objects.ts';
import { type JsonObject, modelError } from './model-file.ts';

/** No field that counts layers, heads or elements comes near it. */
export const MOST = 2 ** 31;

/** No model has as many; each layer is an object here. */
const MOST_LAYERS = 10_000;

export function checkLayers(layers: number, path: string): void {
  if (layers <= MOST_LAYERS) return;
  const [found, most] = [layers, MOST_LAYERS].map(formatCount);
  throw modelError(path, `it has ${found} layers; expected at most ${most}`);
}

/** A field that no rule has read. */
export interface UnreadField {
  /** Name with the objects around it: "text_config.ngram_size". */
  path: string;
  name: string;
  value: unknown;
}

/** Surroundings of an object. */
interface Place {
  /** Fields read, of each object of the document that was looked into. */
  reads: Map<JsonObject, Set<string>>;
  /** Values that no rule is for: `layer_types "hyena"`. */
  odd: Set<string>;
  /** The objects around it, the nearest first: for fields that are not repeated inside. */
  around: readonly ModelConfig[];
  /** Values of fields that are left out. */
  defaults: JsonObject;
}

export class ModelConfig {
  readonly #fields: JsonObject;
  readonly #place: Place;
  readonly path: string;

  constructor(fields: JsonObject, path: string, place?: Place) {
    this.#fields = fields;
    this.#place = place ?? { reads: new Map(), odd: new Set(), around: [], defaults: {} };
    this.path = path;
    if (!this.#place.reads.has(fields)) this.#place.reads.set(fields, new Set());
  }

  /** The same with objects around it, and with values of fields that are left out. */
  within(around: readonly ModelConfig[], defaults: JsonObject): ModelConfig {
    return new ModelConfig(this.#fields, this.path, { ...this.#place, around, defaults });
  }

  /** A value that is there, read or not; a field that says null, says so. */
  #value(name: string): unknown {
    const { around, defaults } = this.#place;
    const own = name in this.#fields ? this.#fields[name] : defaults[name];
    return own ?? around.map((config) => config.#fields[name]).find((value) => value != null) ?? null;
  }

  /** Marks a used field as read, also in the objects around this one that repeat it. */
  #used<T>(name: string, value: T): T {
    for (const config of [this, ...this.#place.around])
      if (isDeepStrictEqual(config.#fields[name], value)) this.#place.reads.get(config.#fields)?.add(name);
    return value;
  }

  /** Fields that were not read, of this object and of those inside that were looked into. */
  unread(prefix = ''): UnreadField[] {
    const read = this.#place.reads.get(this.#fields);
    return Object.entries(this.#fields).flatMap(([name, value]) => {
      const path = `${prefix}${name}`;
      if (read?.has(name) !== true) return [{ path, name, value }];
      if (!isObject(value) || !this.#place.reads.has(value)) return [];
      return new ModelConfig(value, this.path, this.#place).unread(`${path}.`);
    });
  }

  /** Marks fields as read that say again what another field says. */
  repeats(...names: string[]): void {
    for (const name of names) this.#used(name, this.#value(name));
  }

  /** The outermost of the objects around this one that has the field decides, else this one. */
  outerFlag(name: string): boolean | null {
    const value = [...this.#place.around.toReversed(), this]
      .map((config) => config.#fields[name])
      .find((flag) => typeof flag === 'boolean');
    for (const config of [this, ...this.#place.around]) this.#place.reads.get(config.#fields)?.add(name);
    return typeof value === 'boolean' ? value : null;
  }

  /** Values that no rule is for. */
  odd(): string[] {
    return [...this.#place.odd];
  }

  /** The answer is not known because of this value. */
  notUnderstood(name: string, value?: unknown): void {
    this.#place.odd.add(value === undefined ? name : `${name} ${(JSON.stringify(value) ?? '').slice(0, 48)}`);
  }

  /** Names of its own fields. */
  names(): string[] {
    return Object.keys(this.#fields);
  }

  has(name: string): boolean {
    return this.#value(name) !== null;
  }

  /**
   * The first of some fields that is there, as a whole number from `min`; null: none is there. A word such as "auto"
   * does not count. The first entry of a list by layer counts; a list of different numbers is not understood.
   */
  count(names: readonly string[], min = 1): number | null {
    for (const [index, name] of names.entries()) {
      const given = this.#value(name);
      const value: unknown = Array.isArray(given) ? (given[0] ?? null) : given;
      if (value === null || typeof value === 'string') continue;
      if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) >= MOST)
        throw this.#fail(name, value, `a whole number from ${min} to 2^31`);
      if (Array.isArray(given) && given.some((entry) => entry !== value)) this.notUnderstood(name, given);
      this.#used(name, given);
      // Some configs give a number by two names.
      for (const other of names.slice(index + 1)) if (this.#value(other) === value) this.#used(other, value);
      return value as number;
    }
    return null;
  }

  needed(names: readonly string[]): number {
    const value = this.count(names);
    const text = names.find((name) => this.has(name));
    if (value === null && text !== undefined)
      throw this.#fail(text, this.#value(text), 'a whole number from 1 to 2^31');
    if (value === null) throw modelError(this.path, `it has no ${names[0]}, without which the cache cannot be counted`);
    return value;
  }

  /** A number that need not be whole, or null. */
  number(name: string): number | null {
    const value = this.#value(name);
    return typeof value === 'number' && Number.isFinite(value) ? this.#used(name, value) : null;
  }

  flag(name: string): boolean | null {
    const value = this.#value(name);
    return typeof value === 'boolean' ? this.#used(name, value) : null;
  }

  text(name: string): string | null {
    const value = this.#value(name);
    return typeof value === 'string' ? this.#used(name, value) : null;
  }

  list(name: string): readonly unknown[] | null {
    const value = this.#value(name);
    return Array.isArray(value) ? this.#used(name, value) : null;
  }

  /** A field of the object itself, not of those around it. */
  inner(name: string): ModelConfig | null {
    const value = this.#fields[name];
    if (!isObject(value)) return null;
    this.#used(name, value);
    return new ModelConfig(value, this.path, { ...this.#place, around: [], defaults: {} });
  }

  #fail(name: string, value: unknown, expected: string): Error {
    const text = shown(value);
    return modelError(this.path, `${name} is ${text}; expected ${expected}`);
  }
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 60);
  } catch {
    // A config that the caller holds may be nested without end.
    return 'a value that JSON cannot hold';
  }
}
