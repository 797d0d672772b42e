import { getSystemErrorMap } from 'node:util';
import { UmaError } from '../base/errors.ts';

/** ERR_UMA_JOURNAL in umaprobe's own words. */
export function journalError(path: string, message: string, name = 'UNUSABLE'): UmaError {
  return new UmaError('ERR_UMA_JOURNAL', {
    source: 'umaprobe',
    call: `journal ${path}`,
    status: null,
    name,
    message: `${message}. Name another file with journal (--journal FILE), or keep none (false; --journal none)`,
  });
}

/** What the file system said, and what it means for the caller. */
export function fileError(path: string, cause: unknown, meaning: string): UmaError {
  const { code, errno } = cause as NodeJS.ErrnoException;
  const words = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return new UmaError(
    'ERR_UMA_JOURNAL',
    {
      source: 'kernel',
      call: `journal ${path}`,
      status: errno === undefined ? null : -errno,
      name: code ?? 'UNKNOWN',
      message: `${words ?? String(cause)}: ${meaning}`,
    },
    { cause },
  );
}
