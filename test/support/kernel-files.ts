/** Fake kernel files for the readers of lib/core/host: texts by path. */

import type { Fact } from '../../lib/base/errors.ts';
import type { KernelFiles } from '../../lib/core/host/files.ts';
import type { NativeBinding } from '../../lib/core/native/contract.ts';
import { kernelFailure } from './failures.ts';

/** The answer of a kernel with these files; any other file is ENOENT. */
export function textsOf(files: Record<string, string>) {
  return (paths: readonly string[]): Fact<string>[] =>
    paths.map((path) => files[path] ?? kernelFailure('ENOENT', `read ${path}`));
}

/**
 * The files of a kernel.
 *
 * @param answer to a reading of these paths.
 * @param binding for what else the reader calls. Each kernel has one of its own: what seldom changes is kept by binding.
 */
export function kernelFilesOf(
  answer: (paths: readonly string[]) => Fact<string>[],
  binding: Partial<NativeBinding> = {},
): KernelFiles {
  return {
    limitMs: 2000,
    binding: { pageSize: () => 4096, ...binding } as NativeBinding,
    read: async (paths) => answer(paths),
    reread: async (paths, bytes) =>
      answer(paths).map((text, index) => (typeof text === 'string' ? text.slice(0, bytes[index]) : text)),
    list: async (path) => kernelFailure('ENOENT', `list ${path}`),
  };
}
