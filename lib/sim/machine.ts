/** A simulated machine as data: what a file of lib/machines holds once `extends` is resolved. */

import { invalidArgument } from '../base/arguments.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** The fields that TypeScript itself reads; all of them are described in schemas/machine.schema.json. */
export interface Machine extends JsonObject {
  schema: 'umaprobe/machine/1';
  name: string;
  description: string;
}

export interface MachineSummary {
  name: string;
  description: string;
  /** Names of its GPUs. */
  devices: string[];
  /** MemTotal. */
  total: number;
  file: string;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A wrong machine is the user's mistake, in the same class as a wrong argument. */
export function machineError(message: string): TypeError {
  return invalidArgument(message);
}

export function flatten(machine: Machine): string {
  const lines: string[] = [];
  const visit = (value: Json, path: string): void => {
    if (value === null) return; // Unknown is said by leaving the line out.
    if (typeof value === 'object') {
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
      return;
    }
    lines.push(`${path} ${leaf(value, path)}\n`);
  };
  visit(machine, '');
  return lines.join('');
}

function leaf(value: boolean | number | string, path: string): string {
  const text = String(value);
  // A line break in a value would be a line of its own: another field.
  if (typeof value === 'string' && /[\n\r\0]/.test(text)) {
    throw machineError(`The machine's ${path} is ${JSON.stringify(value)}; expected text on one line.`);
  }
  return text;
}
