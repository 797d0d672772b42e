// Builds the targets of binding.gyp with a C++ compiler alone. Flags, definitions and libraries are read from
// binding.gyp; a key that this reader does not know is an error, never silently ignored.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findTool, inParallel, root, run } from './run.mjs';

const ofGuard =
  /^(base|host|machine|run\/supervisor)\/|^(nvml\/(nvml|queries)|run\/record\/shared_readings|runtime\/thread_priority)\.cc$/;
const isLibcudart = (path) => path.startsWith('sim/libcudart/');
/** The sources of each target, as binding.gyp has them. */
const sources = {
  umaprobe: (path) => !/^(sim|run\/supervisor)\//.test(path),
  'umaprobe-guard': (path) => ofGuard.test(path),
  umasim: (path) => path.startsWith('sim/') && !/^sim\/(libcudart|programs)\//.test(path),
  'umasim-nvidia-smi': (path) => path === 'sim/programs/nvidia_smi.cc',
  ...Object.fromEntries([11, 12, 13].map((version) => [`umasim-cudart${version}`, isLibcudart])),
};
const PROGRAMS = ['umaprobe-guard', 'umasim-nvidia-smi'];
const outputOf = (target) => {
  if (target === 'umaprobe') return 'umaprobe.node';
  return PROGRAMS.includes(target) ? target : `lib${target}.so`;
};
/** Keys of binding.gyp that this reader handles. */
const known = new Set([
  'target_name',
  'type',
  'product_dir',
  'product_prefix',
  'sources',
  'include_dirs',
  'defines',
  'defines!',
  'libraries',
  'ldflags',
  'dependencies',
  'cflags_cc',
  'cflags_cc!',
  'cflags!',
  'conditions',
]);

/** binding.gyp as data. The format is a Python literal; this file is kept to JSON with whole-line comments. */
export function readGyp(text) {
  try {
    return JSON.parse(text.replace(/^\s*#.*$/gm, ''));
  } catch (error) {
    throw new Error(
      `binding.gyp must stay JSON with whole-line # comments, for builds without python: ${error.message}`,
    );
  }
}

/** @param headers folder of napi.h. */
function expand(value, headers = '') {
  return value
    .replaceAll('<(module_root_dir)', root)
    .replace(/^<!\(node -p "require\('node-addon-api'\)\.include_dir"\)$/, headers);
}

/** binding.gyp; npm would run node-gyp for a package that has it in its root, so the one that ships is in native/. */
function readBuild() {
  const path = ['', 'native'].map((folder) => join(root, folder, 'binding.gyp')).find(existsSync);
  return readGyp(readFileSync(path, 'utf8'));
}

/** Compiler and linker arguments of one target of binding.gyp; `headers`: folder of napi.h. */
export function targetFlags(gyp, target, headers) {
  const unknown = [...Object.keys(target), ...Object.keys(gyp.target_defaults)].filter((key) => !known.has(key));
  if (unknown.length > 0)
    throw new Error(`scripts/direct-build.mjs does not know ${unknown.join(', ')} of binding.gyp`);
  return {
    compile: [
      '-O2',
      '-DNDEBUG',
      '-fPIC',
      '-pthread',
      ...(gyp.target_defaults.cflags_cc ?? []),
      ...(target.cflags_cc ?? []),
      ...(target.defines ?? []).map((name) => `-D${name}`),
      ...(target.include_dirs ?? []).map((folder) => `-I${expand(folder, headers)}`),
    ],
    link: [
      ...(target.type === 'executable' ? [] : ['-shared']),
      '-pthread',
      ...(target.ldflags ?? []).map((flag) => expand(flag)),
    ],
    libraries: target.libraries ?? [],
  };
}

/** Paths of a target's sources, relative to native/. */
export function sourcesOf(target) {
  return readdirSync(join(root, 'native'), { recursive: true })
    .filter((path) => path.endsWith('.cc') && sources[target](path))
    .sort();
}

/** Object file of a source, with its folder, because cuda/reader.cc and nvml/reader.cc have the same name. */
export function objectName(source) {
  return source.replace(/\.cc$/, '.o');
}

export async function compileDirectly({ headers, outDir }) {
  const compiler = process.env.CXX ?? ['c++', 'g++', 'clang++'].find((name) => findTool(name));
  if (!compiler) throw new Error('no C++ compiler on PATH (looked for c++, g++, clang++): install g++ or set CXX');
  const { node, addon } = headers();
  const gyp = readBuild();
  rmSync(outDir, { recursive: true, force: true });
  // A target that depends on another is linked after it.
  const links = { first: [], after: [] };
  const compiles = [];
  for (const target of gyp.targets) {
    const name = target.target_name;
    if (!sources[name])
      throw new Error(`scripts/direct-build.mjs does not know where the sources of target ${name} are`);
    const flags = targetFlags(gyp, target, addon);
    const objectDir = join(outDir, 'obj', name);
    const objects = sourcesOf(name).map((file) => {
      const object = join(objectDir, objectName(file));
      mkdirSync(dirname(object), { recursive: true });
      compiles.push(() => run(compiler, ['-c', ...flags.compile, `-I${node}`, `native/${file}`, '-o', object]));
      return object;
    });
    const needed = target.dependencies ?? [];
    const libraries = [...needed.map((other) => join(outDir, outputOf(other))), ...flags.libraries];
    const output = ['-o', join(outDir, outputOf(name))];
    const link = () =>
      run(compiler, [...flags.link, `-Wl,-soname,${outputOf(name)}`, ...objects, ...libraries, ...output]);
    links[needed.length === 0 ? 'first' : 'after'].push(link);
  }
  await inParallel(compiles);
  await inParallel(links.first);
  await inParallel(links.after);
}
