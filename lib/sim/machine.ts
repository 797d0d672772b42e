/** A simulated machine as data: what a file of lib/machines holds once `extends` is resolved. */

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
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_VALUE' });
}
