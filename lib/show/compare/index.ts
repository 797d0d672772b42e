/** compare(): two documents of one kind, side by side. */

import { abortable } from '../../base/abort.ts';
import { checkKeys, checkSignal, invalidArgument, invalidType, invalidValue } from '../../base/arguments.ts';
import { lazy } from '../../base/lazy.ts';
import type { Comparable, CompareReport } from '../../types/index.ts';

const work = lazy(() => import('./compare.ts'));

/** Parts that each kind of document must have, besides its schema. */
const SHAPES: Readonly<Record<Comparable['schema'], readonly string[]>> = {
  'umaprobe/snapshot/1': ['host', 'ledger', 'devices', 'judgement', 'kernel', 'driver', 'libraries', 'from'],
  'umaprobe/processes/1': ['groups', 'processes', 'limits'],
  'umaprobe/sweep/1': ['steps', 'device', 'largest', 'host'],
  'umaprobe/record/1': ['sessions'],
};

/**
 * Compares two snapshots, lists of processes, sweeps or recordings, also read back from files of JSON: the verdicts,
 * the memory in bytes, and which programs hold more. Recordings are compared by their newest sessions.
 *
 * @example
 * ```ts
 * import { snapshot } from 'umaprobe';
 * import { compare } from 'umaprobe/report';
 *
 * const before = await snapshot();
 * const { summary } = await compare(before, await snapshot());
 * console.log(summary);
 * ```
 *
 * @throws the signal's reason when it is aborted. TypeError (`ERR_INVALID_ARG_TYPE`, `_VALUE`) for another document, for one
 *   that lacks a part, and for two kinds.
 */
export async function compare<T extends Comparable>(
  a: T,
  b: T,
  options: { signal?: AbortSignal } = {},
): Promise<CompareReport> {
  for (const [name, document] of [
    ['a', a],
    ['b', b],
  ] as const)
    checkDocument(name, document);
  if (a.schema !== b.schema)
    throw invalidArgument(`a is ${a.schema}, and b is ${b.schema}; expected two documents of one kind`);
  checkKeys('compare()', options, { signal: true });
  const { compareDocuments } = await abortable(checkSignal(options.signal), work);
  try {
    return compareDocuments(a, b);
  } catch (cause) {
    // A file may be changed by hand: the parts of a part are not checked one by one.
    const error = invalidArgument(`one of the two is not a whole document of ${a.schema}`);
    throw cause instanceof TypeError || cause instanceof RangeError ? Object.assign(error, { cause }) : cause;
  }
}

function checkDocument(name: string, document: unknown): asserts document is Comparable {
  if (typeof document !== 'object' || document === null)
    throw invalidType(name, 'a report of snapshot(), processes(), sweep() or readRecord()', document);
  const { schema } = document as { schema?: unknown };
  const shape =
    typeof schema === 'string' && Object.hasOwn(SHAPES, schema) ? SHAPES[schema as Comparable['schema']] : null;
  if (shape === null) throw invalidValue(`schema of ${name}`, `one of ${Object.keys(SHAPES).join(', ')}`, schema);
  const missing = shape.find((key) => {
    const part = (document as Record<string, unknown>)[key];
    return typeof part !== 'object' || part === null;
  });
  if (missing !== undefined) throw invalidArgument(`${name} is ${schema} without its part "${missing}"`);
  if (schema === 'umaprobe/record/1' && (document as { sessions: unknown[] }).sessions.length === 0)
    throw invalidArgument(`${name} is a recording without a session`);
}
