/**
 * Finds, loads and types the native binary: on first use, never on import. Node's built-in modules are loaded on first
 * use too: imported here, node:module and node:path take a quarter of the time of importing umaprobe.
 */

import { UmaError } from '../base/errors.ts';
import { ROOT } from '../root.ts';
import type { NativeBinding } from './contract.ts';

/** A loaded binary and its exports. */
interface Loaded {
  path: string;
  binding: NativeBinding;
}

interface NodeGypBuild {
  path(root: string): string;
}
type Bindings = (options: { bindings: string; module_root: string; try: string[][]; path: true }) => string;

/** CMake builds of a source tree (`npx cmake-js compile -O build-cmake`), in the notation of the package bindings. */
const CMAKE_BUILDS = ['Release', 'RelWithDebInfo', 'Debug'].map((kind) => [
  'module_root',
  'build-cmake',
  kind,
  'bindings',
]);

let loaded: Loaded | undefined;

/**
 * The binary's exports. A failed load is not remembered: a later call tries again.
 *
 * @throws UmaError ERR_UMA_LIBRARY_MISSING with every path tried, or with the reason why an existing file cannot be
 *   loaded (then `nativeName` is LOAD_FAILED and `cause` the loader's error).
 */
export function native(): NativeBinding {
  loaded ??= load(ROOT);
  return loaded.binding;
}

/** Path of libumasim.so, the simulated machine, in the folder of the binary. */
export function simulatorLibrary(): string {
  loaded ??= load(ROOT);
  const { dirname, join } = process.getBuiltinModule('node:path');
  const path = join(dirname(loaded.path), 'libumasim.so');
  if (existsSync(path)) return path;
  throw missing('LIBRARY_MISSING', 'libumasim.so', `it is not beside ${loaded.path}. ${remedy()}`);
}

/** @internal Loads the binary of the package at `root`; tests load other folders. */
export function load(root: string): Loaded {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  const path = find(root, require);
  try {
    const binding = require(path) as NativeBinding;
    debug(`loaded ${path}`);
    return { path, binding };
  } catch (cause) {
    // The next candidate is not tried: it might load, but it is another build than the one that comes first.
    throw missing('LOAD_FAILED', path, `the file exists but cannot be loaded: ${messageOf(cause)}. ${remedy()}`, cause);
  }
}

/**
 * The first of: UMAPROBE_BINARY, what node-gyp-build finds (build/Release, build/Debug, prebuilds/), the CMake builds
 * of a source tree.
 */
function find(root: string, require: NodeJS.Require): string {
  const override = process.env.UMAPROBE_BINARY;
  if (override !== undefined && override !== '') {
    const path = process.getBuiltinModule('node:path').resolve(override);
    if (existsSync(path)) return path;
    throw missing('LIBRARY_MISSING', path, 'UMAPROBE_BINARY names a file that does not exist');
  }
  const tried: string[] = [];
  try {
    return (require('node-gyp-build') as NodeGypBuild).path(root);
  } catch (error) {
    tried.push(messageOf(error));
  }
  try {
    return (require('bindings') as Bindings)({
      bindings: 'umaprobe',
      module_root: root,
      try: CMAKE_BUILDS,
      path: true,
    });
  } catch (error) {
    tried.push(messageOf(error));
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

/** What the user can do about it on this platform. */
function remedy(): string {
  if (process.platform !== 'linux')
    return `umaprobe reads the memory of Linux machines; on ${process.platform} it has nothing to read.`;
  if (isMusl())
    return 'umaprobe needs glibc, as the NVIDIA driver does; this is a musl system (Alpine): use a Debian, Ubuntu or Red Hat image.';
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return `umaprobe supports x64 and arm64; this is ${process.arch}. With a C++ compiler: npm rebuild umaprobe.`;
  return 'With a C++ compiler: npm rebuild umaprobe (in a source tree: npx node-gyp rebuild).';
}

function isMusl(): boolean {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return report?.header !== undefined && report.header.glibcVersionRuntime === undefined;
}

/** An error's message on one line. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');
}

function existsSync(path: string): boolean {
  return process.getBuiltinModule('node:fs').existsSync(path);
}

function debug(message: string): void {
  process.getBuiltinModule('node:util').debuglog('umaprobe')(message);
}
