/** Finds, loads and types the native binary: on first use, never on import. */

import { accessSync, chmodSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { UmaError } from '../../base/errors.ts';
import { packageRoot } from '../../root.ts';
import type { NativeBinding } from './contract.ts';
import { explainFailedLoad, failedLoad, whyUnfit } from './load-failure.ts';

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

/** A bundler copies the code, not the binary, the children's entry points and the data that lie beside it. */
const BUNDLED =
  'umaprobe was bundled into another program, without its native binary and the programs that it starts: mark it external ' +
  "(esbuild --external:umaprobe, Vite ssr.external, webpack externals, Next.js serverExternalPackages; see umaprobe's docs/bundlers.md)";

let loaded: Loaded | undefined;

/**
 * The binary's exports. A failed load is not remembered: a later call tries again.
 *
 * @throws UmaError ERR_UMA_LIBRARY_MISSING with every path tried, or with the reason why an existing file cannot be
 *   loaded (then `nativeName` is LOAD_FAILED and `cause` the loader's error).
 */
export function native(): NativeBinding {
  loaded ??= load(packageRoot());
  return loaded.binding;
}

/** Path of libumasim.so, the simulated machine, in the folder of the binary. */
export function simulatorLibrary(): string {
  return fileBeside('libumasim.so');
}

/** @throws UmaError ERR_UMA_LIBRARY_MISSING. */
function fileBeside(name: string): string {
  loaded ??= load(packageRoot());
  const path = join(dirname(loaded.path), name);
  if (existsSync(path)) return path;
  throw missing('LIBRARY_MISSING', name, `it is not beside ${loaded.path}: install umaprobe again`);
}

/**
 * The program of `guard()`, in the folder of the binary: what to start, and the arguments that come first.
 *
 * @throws UmaError ERR_UMA_LIBRARY_MISSING.
 */
export function guardProgram(): { file: string; args: string[] } {
  return { file: programBeside('umaprobe-guard'), args: [] };
}

/**
 * The program nvidia-smi of the simulated machine, in the folder of the binary.
 *
 * @throws UmaError ERR_UMA_LIBRARY_MISSING.
 */
export function nvidiaSmiProgram(): string {
  return programBeside('umasim-nvidia-smi');
}

/** A file that lost its executable bit, as in some archives, gets it back. */
function programBeside(name: string): string {
  const path = fileBeside(name);
  try {
    accessSync(path, constants.X_OK);
  } catch {
    try {
      chmodSync(path, 0o755);
    } catch (cause) {
      throw missing('LOAD_FAILED', path, 'the file may not be executed: chmod +x it', cause);
    }
  }
  return path;
}

/** @internal Loads the binary of the package at `root`; tests load other folders. */
export function load(root: string): Loaded {
  const path = find(root);
  const unfit = whyUnfit(path);
  if (unfit !== null) throw missing('LOAD_FAILED', path, `the file exists but cannot be loaded: ${unfit}`);
  try {
    const require = createRequire(path);
    const binding = require(path) as NativeBinding;
    // An import of node:util would take 0.3 ms of `import 'umaprobe'`.
    (require('node:util') as typeof import('node:util')).debuglog('umaprobe')(`loaded ${path}`);
    return { path, binding };
  } catch (cause) {
    // The next candidate is not tried: it might load, but it is another build than the first.
    throw missing(
      'LOAD_FAILED',
      path,
      `the file exists but cannot be loaded: ${messageOf(cause).replace(`${path}: `, '').replace(/\.$/, '')}. ${explainFailedLoad(failedLoad(path, root, cause))}`,
      cause,
    );
  }
}

/**
 * The first of: UMAPROBE_BINARY, what node-gyp-build finds (build/Release, build/Debug, prebuilds/), the CMake builds
 * of a source tree.
 */
function find(root: string): string {
  const override = process.env.UMAPROBE_BINARY;
  if (override !== undefined && override !== '') {
    const path = resolve(override);
    if (existsSync(path)) return path;
    throw missing('LIBRARY_MISSING', path, 'UMAPROBE_BINARY names a file that does not exist');
  }
  refuseBundle(root);
  const require = createRequire(import.meta.url);
  const tried: unknown[] = [];
  try {
    return (require('node-gyp-build') as NodeGypBuild).path(root);
  } catch (error) {
    tried.push(error);
  }
  try {
    return (require('bindings') as Bindings)({
      bindings: 'umaprobe',
      module_root: root,
      try: CMAKE_BUILDS,
      path: true,
    });
  } catch (error) {
    tried.push(error);
  }
  throw missing(
    'LIBRARY_MISSING',
    'umaprobe.node',
    `no native binary for ${process.platform}-${process.arch}. ${explainFailedLoad(failedLoad(null, root, tried[0]))} Tried: ${tried.map(messageOf).join(' ')}`,
  );
}

function missing(name: string, call: string, message: string, cause?: unknown): UmaError {
  const failure = { source: 'umaprobe', call, status: null, name, message } as const;
  return new UmaError('ERR_UMA_LIBRARY_MISSING', failure, cause === undefined ? undefined : { cause });
}

/**
 * Throws if this code was copied out of its package, into the bundle of an application: the folder of a bundle is that
 * of another package, or none, and a search there could find that package's addon.
 *
 * @throws UmaError ERR_UMA_LIBRARY_MISSING, nativeName BUNDLED.
 */
export function refuseBundle(root: string): void {
  let isPackage = false;
  try {
    const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name?: unknown };
    isPackage = root !== '' && name === 'umaprobe';
  } catch (error) {
    const load = failedLoad(null, root, error);
    if (load.denied !== null) throw missing('LIBRARY_MISSING', 'umaprobe.node', explainFailedLoad(load), error);
  }
  if (!isPackage) throw missing('BUNDLED', 'umaprobe.node', BUNDLED);
}

/** An error's message on one line. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');
}
