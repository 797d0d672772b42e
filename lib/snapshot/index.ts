import { checkChoice, checkMilliseconds } from '../base/arguments.ts';
import type { Snapshot, SnapshotOptions } from '../types/index.ts';

const MODES = ['auto', 'child', 'inProcess', 'never'] as const satisfies SnapshotOptions['memGetInfo'][];

/** Loaded by the first snapshot: most of umaprobe's code, which a program that only imports it should not pay for. */
let takeSnapshot: typeof import('./take.ts').takeSnapshot | undefined;

/**
 * One instant of this machine: where its memory is, to the byte, and what a new allocation can have.
 *
 * Creates no CUDA context unless asked to (`memGetInfo`). What a library does not answer within its deadline, and every
 * single field that fails, is `null` with its reason in `from`; the host's side is always complete.
 *
 * @throws UmaError `ERR_UMA_LIBRARY_MISSING` when the native binary cannot be loaded, `ERR_UMA_CALL_FAILED` when
 *   /proc/meminfo cannot be read. TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options.
 */
export async function snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
  const { memGetInfo = 'auto' } = options;
  checkChoice('memGetInfo', MODES, memGetInfo);
  const deadlineMs = checkMilliseconds('deadlineMs', options.deadlineMs ?? 2_000);
  const childDeadlineMs = checkMilliseconds('childDeadlineMs', options.childDeadlineMs ?? 10_000);
  takeSnapshot ??= (await import('./take.ts')).takeSnapshot;
  return takeSnapshot({ memGetInfo, deadlineMs, childDeadlineMs });
}
