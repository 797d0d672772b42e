/** The flat description that umasim_boot reads: one "path value" line per leaf; see native/sim/umasim.h. */
import { type Json, type Machine, machineError } from './machine.ts';

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
