/** The memory of the machine, read within a limit. A file of its own: `import 'umaprobe'` loads meminfo.ts. */

import { type Fact, type Failure, toUmaError } from '../../base/errors.ts';
import { isFailure } from '../../base/facts.ts';
import type { HostMemory } from '../../types/index.ts';
import { MEMINFO } from '../../types/meminfo.ts';
import { native } from '../native/binding.ts';
import { type KernelFiles, kernelFiles } from './files.ts';
import { parseHostMemory } from './meminfo.ts';

/** Limit for the text; the kernel's has some 1.5 kB. */
const MAX_BYTES = 64 * 1024;

/**
 * Reads the memory counters of the machine on a thread of the addon.
 *
 * @throws UmaError as `hostMemorySync`; `ERR_UMA_TIMEOUT` also when `/proc/meminfo` does not answer within the limit.
 */
export async function readHostMemory(files: KernelFiles = kernelFiles(native())): Promise<HostMemory> {
  const [text] = await files.reread([MEMINFO], [MAX_BYTES]);
  return parseHostMemory(files.binding, readOrThrow(text as Fact<string>));
}

/** @throws UmaError if /proc/meminfo could not be read; it says what may be done about a file that does not answer. */
export function readOrThrow<T>(meminfo: Fact<T>): T {
  if (!isFailure(meminfo)) return meminfo;
  const failure: Failure = meminfo;
  if (failure.name !== 'TIMEOUT') throw toUmaError(failure);
  const advice = `Nothing is known without it. In a container lxcfs may serve it, and hang: findmnt --target ${MEMINFO}`;
  throw toUmaError({ ...failure, message: `${failure.message}. ${advice}` });
}
