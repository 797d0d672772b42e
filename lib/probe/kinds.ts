import { invalidValue } from '../base/arguments.ts';
import type { AllocatorKind } from '../types/index.ts';

/** Every way to allocate, in the order in which they are shown. */
export const KINDS = ['device', 'managed', 'pinned', 'system'] as const satisfies readonly AllocatorKind[];

/** Returns it. */
export function checkKind(name: string, kind: unknown): AllocatorKind {
  const known = KINDS.find((one) => one === kind);
  if (known === undefined) throw invalidValue(name, `one of ${KINDS.join(', ')}`, kind);
  return known;
}
