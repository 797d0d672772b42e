/** Code that is loaded on its first use. */

import { readdirSync } from 'node:fs';
import { UmaError } from './errors.ts';
import { readSystemFile } from './system-file.ts';

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
  try {
    const limit = Number(/^Max open files +(\d+)/m.exec(readSystemFile('/proc/self/limits'))?.[1]);
    if (limit - readdirSync('/proc/self/fd').length < DESCRIPTORS) throw outOfDescriptors('EMFILE');
  } catch (error) {
    const failure = asOutOfDescriptors(error);
    if (failure !== null) throw failure;
    // No /proc, as in a bare chroot: the import decides.
  }
}

/** null: another error. */
function asOutOfDescriptors(error: unknown): UmaError | null {
  if (error instanceof UmaError) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' ? outOfDescriptors(code) : null;
}

/** Linux's numbers. */
const STATUS = { EMFILE: 24, ENFILE: 23 } as const;

function outOfDescriptors(name: keyof typeof STATUS): UmaError {
  const owner = name === 'EMFILE' ? 'this process' : 'this machine';
  const message = `${owner} has too few free file descriptors; close files, or raise the limit (ulimit -n)`;
  const call = 'loading a part of umaprobe';
  return new UmaError('ERR_UMA_CALL_FAILED', { source: 'kernel', call, status: STATUS[name], name, message });
}
