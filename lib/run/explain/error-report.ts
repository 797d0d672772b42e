/** Reads a text, and writes the report of explainError(). */

import { invalidType } from '../../base/arguments.ts';
import type { ErrorReport, ErrorText, ExplainedError, Snapshot } from '../../types/index.ts';
import { Utf8Pieces } from './encoding.ts';
import { ErrorScanner, type FoundMessage } from './error-scanner.ts';
import { type ExplainMachine, machineOf } from './machine.ts';

/** Searches a text in constant memory. */
export async function scan(
  text: ErrorText,
  signal?: AbortSignal,
): Promise<{ found: FoundMessage[]; bytes: number; lines: number }> {
  const scanner = new ErrorScanner();
  const pieces = new Utf8Pieces();
  let bytes = 0;
  const write = (piece: unknown): void => {
    const given = bytesOf(piece);
    bytes += given.length;
    // A string has no encoding.
    scanner.write(typeof piece === 'string' ? given : pieces.convert(given));
  };
  if (typeof text === 'string' || text instanceof Uint8Array) write(text);
  else {
    for await (const piece of text) {
      signal?.throwIfAborted();
      write(piece);
    }
  }
  scanner.write(pieces.end());
  const { found, lines } = scanner.end();
  return { found, lines, bytes };
}

function bytesOf(text: unknown): Uint8Array {
  if (typeof text === 'string') return Buffer.from(text);
  if (text instanceof Uint8Array) return text;
  throw invalidType('a piece of the text', 'a string or bytes', text);
}

/** @param snapshot the machine that the numbers are compared with; null: they are compared with nothing. */
export function errorReport(
  { found, bytes, lines }: { found: readonly FoundMessage[]; bytes: number; lines: number },
  snapshot: Snapshot | null,
): ErrorReport {
  const machine = snapshot === null ? null : machineOf(snapshot);
  return {
    schema: 'umaprobe/explain-error/1',
    at: snapshot?.at ?? new Date().toISOString(),
    simulated: snapshot?.simulated ?? null,
    input: { bytes, lines },
    errors: found.map((message) => explained(message, machine)),
    machine:
      machine === null
        ? null
        : {
            total: machine.gpuTotal ?? machine.snapshot.host.total,
            immediate: machine.immediate,
            afterReclaim: machine.afterReclaim,
            unified: machine.unified !== undefined,
          },
  };
}

function explained(found: FoundMessage, machine: ExplainMachine | null): ExplainedError {
  const { message, count, firstLine, lastLine, text, numbers: list } = found;
  const numbers = new Map(list.map((number) => [number.name, number]));
  const { code, meaning, now, program, remedies, verdict } = message;
  return {
    code,
    program,
    verdict,
    count,
    firstLine,
    lastLine,
    text,
    numbers: list,
    meaning: typeof meaning === 'string' ? meaning : meaning(numbers, count),
    now: machine === null ? null : (now?.(numbers, machine, count) ?? null),
    remedies: typeof remedies === 'function' ? remedies(numbers, machine) : [...remedies],
  };
}
