// Checks that the shipped binaries load on every supported machine: the right architecture, only libraries of glibc and
// symbols up to the floor, no compiler runtime, and no export that could replace a symbol of another library.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { architecture, dynamicSymbols, neededLibraries } from './elf.mjs';
import { floor, isAboveFloor } from './glibc-floor.mjs';
import { guard, nvidiaSmi, simulator } from './native-build.mjs';
import { isMain, main, root } from './run.mjs';

export const files = ['umaprobe.glibc.node', guard, ...simulator];

const allowedLibraries =
  /^(libumasim\.so|libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|ld-linux-(x86-64|aarch64)\.so\.\d)$/;
/** Permitted exports: the two entry points of Node-API; the C functions of the simulated libraries; of a program any. */
const allowedExports = (file) => {
  if (file === 'umaprobe.glibc.node') return /^(napi_register_module_v1|node_api_module_get_api_version_v1)$/;
  return file === guard || file === nvidiaSmi ? /./ : /^(?!_Z|__cxa_|__gxx_)/;
};

/** The problem with an exported symbol, or null. */
function problemOfExport(symbol, exported) {
  const isMarker = symbol.name === symbol.version || symbol.type === 'NOTYPE';
  return isMarker || symbol.bind === 'LOCAL' || exported.test(symbol.name) ? null : `exports ${symbol.name}`;
}

/** The problem with an imported symbol, or null. */
function problemOfImport(symbol) {
  if (symbol.version !== null) {
    if (!isAboveFloor(symbol.version)) return null;
    return `asks for ${symbol.name}@${symbol.version}, above GLIBC_${floor}`;
  }
  // Weak symbols may be absent (hooks of transactional memory and profiling). Node provides napi_* and node_api_*,
  // libumasim what each libcudart and nvidia-smi take from it.
  if (symbol.bind !== 'GLOBAL' || /^(napi|node_api|umasim_cudart|umasim_nvidia)_/.test(symbol.name)) return null;
  return `leaves ${symbol.name} undefined: glibc ${floor} has no such symbol`;
}

/** Problems of one file, each the rest of a sentence that starts with its path. */
export function problemsOfFile(path, { arch, exported }) {
  if (!existsSync(path)) return ['is missing: run npm run prebuilds'];
  const builtFor = architecture(path);
  const symbols = dynamicSymbols(path).map((symbol) =>
    symbol.defined ? problemOfExport(symbol, exported) : problemOfImport(symbol),
  );
  const strays = neededLibraries(path).filter((library) => !allowedLibraries.test(library));
  return [
    builtFor === arch ? null : `is built for ${builtFor}`,
    ...strays.map((library) => `needs ${library}`),
    ...symbols,
  ].filter((problem) => problem !== null);
}

/** Problems of the prebuild of an architecture, in a folder of the package, as sentences. */
export function problemsOf(arch, folder = root) {
  return files.flatMap((file) => {
    const path = join('prebuilds', `linux-${arch}`, file);
    return problemsOfFile(join(folder, path), { arch, exported: allowedExports(file) }).map(
      (problem) => `${path} ${problem}`,
    );
  });
}

if (isMain(import.meta.url)) {
  await main(() => {
    const problems = ['x64', 'arm64'].flatMap(problemsOf);
    if (problems.length > 0) throw new Error(`prebuilds not fit to ship:\n  ${problems.join('\n  ')}`);
    console.log(`prebuilds/linux-{x64,arm64}: glibc up to ${floor}, no compiler runtime, no stray exports`);
  });
}
