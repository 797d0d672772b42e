/** Checked access to the fields of a config.json, which may hold anything. */

import { isObject, type JsonObject, modelError } from './model-file.ts';

/** No field that counts layers, heads or elements comes near it. */
export const MOST = 2 ** 31;

/** No model has as many; each layer is an object here. */
const MOST_LAYERS = 10_000;

export function checkLayers(layers: number, path: string): void {
  if (layers <= MOST_LAYERS) return;
  const [found, most] = [layers, MOST_LAYERS].map((count) => count.toLocaleString('en-US'));
  throw modelError(path, `it has ${found} layers; expected at most ${most}`);
}

export class ModelConfig {
  readonly #fields: JsonObject;
  readonly #outer: JsonObject;
  readonly path: string;

  /** @param outer fields of the enclosing object, for those that are not repeated inside. */
  constructor(fields: JsonObject, path: string, outer: JsonObject = {}) {
    this.#fields = fields;
    this.#outer = outer;
    this.path = path;
  }

  #value(name: string): unknown {
    return this.#fields[name] ?? this.#outer[name] ?? null;
  }

  /** Names of its own fields. */
  names(): string[] {
    return Object.keys(this.#fields);
  }

  has(name: string): boolean {
    return this.#value(name) !== null;
  }

  /**
   * The first of some fields that is there, as a whole number from `min`; null: none is there. Of a list by layer the
   * first entry counts; a word such as "auto" does not.
   */
  count(names: readonly string[], min = 1): number | null {
    for (const name of names) {
      const listed = this.#value(name);
      const value: unknown = Array.isArray(listed) ? (listed[0] ?? null) : listed;
      if (value === null || typeof value === 'string') continue;
      if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) >= MOST)
        throw this.#fail(name, value, `a whole number from ${min} to 2^31`);
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
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  }

  flag(name: string): boolean | null {
    const value = this.#value(name);
    return typeof value === 'boolean' ? value : null;
  }

  text(name: string): string | null {
    const value = this.#value(name);
    return typeof value === 'string' ? value : null;
  }

  list(name: string): readonly unknown[] | null {
    const value = this.#value(name);
    return Array.isArray(value) ? value : null;
  }

  object(name: string): JsonObject | null {
    const value = this.#value(name);
    return isObject(value) ? value : null;
  }

  /** A field of the object itself, not of the one around it. */
  inner(name: string): ModelConfig | null {
    const value = this.#fields[name];
    return isObject(value) ? new ModelConfig(value, this.path) : null;
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
