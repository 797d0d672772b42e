/** Finds, loads and types the native binary: on first use, never on import. */

import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { UmaError } from '../base/errors.ts';
import { ROOT } from '../root.ts';
import type { NativeBinding } from './contract.ts';

/** A binary that was found, and what it exports. */
interface Loaded {
  path: string;
  binding: NativeBinding;
}

interface NodeGypBuild {
  path(root: string): string;
}
type Bindings = (options: { bindings: string; module_root: string; try: string[][]; path: true }) => string;

const require = createRequire(import.meta.url);

/** With the binary and not with the import: node:fs and node:util make up half of what importing umaprobe costs. */
function existsSync(path: string): boolean {
  return (require('node:fs') as typeof import('node:fs')).existsSync(path);
}

function debug(words: string): void {
  (require('node:util') as typeof import('node:util')).debuglog('umaprobe')(words);
}

/** Where CMake leaves its builds in a source tree (`npx cmake-js compile -O build-cmake`), and gyp its Debug one. */
const SOURCE_TREE = ['Release', 'RelWithDebInfo', 'Debug'].map((kind) => [
  'module_root',
  'build-cmake',
  kind,
  'bindings',
]);

let loaded: Loaded | undefined;

/**
 * The binary's exports. A failed load is not remembered: build it, call again.
 *
 * @throws UmaError ERR_UMA_LIBRARY_MISSING with every path that was tried, or, where a file was found, why it cannot be
 *   loaded (`nativeName` is then LOAD_FAILED and `cause` the loader's error).
 */
export function native(): NativeBinding {
  loaded ??= load(ROOT);
  return loaded.binding;
}

/** libumasim.so, the simulated machine: it lies beside the binary. */
export function simulatorLibrary(): string {
  loaded ??= load(ROOT);
  const path = join(dirname(loaded.path), 'libumasim.so');
  if (existsSync(path)) return path;
  throw missing('LIBRARY_MISSING', 'libumasim.so', `it is not beside ${loaded.path}. ${remedy()}`);
}

/** @internal `native()` for the package in another folder; for tests. */
export function load(root: string): Loaded {
  const path = find(root);
  try {
    const binding = require(path) as NativeBinding;
    debug(`loaded ${path}`);
    return { path, binding };
  } catch (cause) {
    // The next candidate would perhaps load, but it is another build: nobody wants numbers from a binary that the one
    // in front of it hides.
    throw missing('LOAD_FAILED', path, `the file is there but cannot be loaded: ${text(cause)}. ${remedy()}`, cause);
  }
}

/**
 * The first of: UMAPROBE_BINARY, what node-gyp-build finds (build/Release, build/Debug, prebuilds/), the CMake builds of a
 * source tree.
 */
function find(root: string): string {
  const override = process.env.UMAPROBE_BINARY;
  if (override !== undefined && override !== '') {
    const path = resolve(override);
    if (existsSync(path)) return path;
    throw missing('LIBRARY_MISSING', path, 'UMAPROBE_BINARY names a file that does not exist');
  }
  const tried: string[] = [];
  try {
    return (require('node-gyp-build') as NodeGypBuild).path(root);
  } catch (error) {
    tried.push(text(error));
  }
  try {
    return (require('bindings') as Bindings)({ bindings: 'umaprobe', module_root: root, try: SOURCE_TREE, path: true });
  } catch (error) {
    tried.push(text(error));
  }
  throw missing(
    'LIBRARY_MISSING',
    'umaprobe.node',
    `no native binary for ${process.platform}-${process.arch}. ${remedy()} Tried: ${tried.join(' ')}`,
  );
}

function missing(name: string, call: string, message: string, cause?: unknown): UmaError {
  const failure = { source: 'umaprobe', call, status: null, name, message } as const;
  return new UmaError('ERR_UMA_LIBRARY_MISSING', failure, cause === undefined ? undefined : { cause });
}

/** What to do about it, on this platform. */
function remedy(): string {
  if (process.platform !== 'linux')
    return `umaprobe reads the memory of Linux machines; on ${process.platform} it has nothing to read.`;
  if (isMusl())
    return 'umaprobe needs glibc, as the NVIDIA driver does; this is a musl system (Alpine): use a Debian, Ubuntu or Red Hat image.';
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return `umaprobe is made for x64 and arm64; this is ${process.arch}. With a C++ compiler: npm rebuild umaprobe.`;
  return 'With a C++ compiler: npm rebuild umaprobe (in a source tree: npx node-gyp rebuild).';
}

function isMusl(): boolean {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return report?.header !== undefined && report.header.glibcVersionRuntime === undefined;
}

/** An error's message on one line. */
function text(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');
}
