/** Code that is loaded on its first use. */

import { closeSync, openSync } from 'node:fs';
import { UmaError } from './errors.ts';

/** Free descriptors that a load needs: Node opens several files at a time. 8 were enough for the largest part, 6 not. */
const DESCRIPTORS = 10;

/**
 * A function that imports a module on its first call and returns it from then on.
 *
 * Node remembers a failed import for the life of the process. A moment without free descriptors must not cost that
 * much, so they are counted before the import starts.
 *
 * @throws (from the returned function) UmaError `ERR_UMA_CALL_FAILED`, nativeName EMFILE: no descriptors; a later call
 *   tries again.
 */
export function lazy<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let module: Module | undefined;
  return async () => {
    if (module !== undefined) return module;
    requireDescriptors();
    try {
      module = await load();
    } catch (error) {
      throw asOutOfDescriptors(error) ?? error;
    }
    return module;
  };
}

function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync('/dev/null', 'r'));
  } catch (error) {
    const failure = asOutOfDescriptors(error);
    if (failure !== null) throw failure;
    // No /dev/null, as in a bare chroot: the import decides.
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** null: another error. */
function asOutOfDescriptors(error: unknown): UmaError | null {
  const { code, errno } = error as NodeJS.ErrnoException;
  if (code !== 'EMFILE' && code !== 'ENFILE') return null;
  const owner = code === 'EMFILE' ? 'this process' : 'this machine';
  const message = `${owner} has too few free file descriptors; close files, or raise the limit (ulimit -n)`;
  const status = errno === undefined ? null : Math.abs(errno);
  const call = 'loading a part of umaprobe';
  return new UmaError('ERR_UMA_CALL_FAILED', { source: 'kernel', call, status, name: code, message });
}
