/** A simulated machine as data: a machine file with `extends` resolved, and the flat text that the simulator reads. */

import { invalidArgument } from '../base/arguments.ts';

/** A value of a JSON document. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** An object of a JSON document. */
export interface JsonObject {
  [key: string]: Json;
}

/** Fields that TypeScript reads; schemas/machine.schema.json describes all fields. */
export interface Machine extends JsonObject {
  schema: 'umaprobe/machine/1';
  name: string;
  description: string;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An invalid machine is an invalid argument of the user. */
export function machineError(message: string): TypeError {
  return invalidArgument(message);
}

/** The machine as lines of "path value", such as "memory.total 128518619136". */
export function flatten(machine: Machine): string {
  const lines: string[] = [];
  const visit = (value: Json, path: string): void => {
    if (value === null) return; // null: no line
    if (typeof value === 'object') {
      for (const [key, child] of Object.entries(value)) visit(child, path === '' ? key : `${path}.${key}`);
      return;
    }
    lines.push(`${path} ${leaf(value, path)}\n`);
  };
  visit(machine, '');
  return lines.join('');
}

/** The one field with line breaks: the text of a replaced file. */
const FILE_TEXT = /^files\.\d+\.text$/;

/** The text on one line; native/sim/state/parse_files.cc has the inverse. */
function escaped(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\0': '\\0' };
  return text.replace(/[\\\n\r\0]/g, (letter) => escapes[letter] ?? letter);
}

function leaf(value: boolean | number | string, path: string): string {
  const text = String(value);
  if (FILE_TEXT.test(path)) return escaped(text);
  // A line break in a value would start another field.
  if (typeof value === 'string' && /[\n\r\0]/.test(text)) {
    throw machineError(`The machine's ${path} is ${JSON.stringify(value)}; expected text on one line.`);
  }
  return text;
}
