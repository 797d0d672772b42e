/** Checks that a floor can be kept on this machine. */

import { UmaError } from '../../base/errors.ts';

/** @throws UmaError `ERR_UMA_FLOOR`: without MemAvailable no floor can be kept, and the program is not started as if one were. */
export function assertWatchable(available: number | null): asserts available is number {
  if (available === null) throw unwatchable('MemAvailable cannot be read. See: head -3 /proc/meminfo');
}

export function unwatchable(why: string): UmaError {
  const message = `not started, because nothing can be watched: ${why}`;
  return new UmaError('ERR_UMA_FLOOR', {
    source: 'umaprobe',
    call: 'guard',
    status: null,
    name: 'UNKNOWN_AVAILABLE',
    message,
  });
}
