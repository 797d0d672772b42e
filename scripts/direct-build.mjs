// Builds the targets of binding.gyp with a C++ compiler alone. Flags, definitions and libraries are read from
// binding.gyp; a key that this reader does not know is an error, never silently ignored.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { findTool, inParallel, root, run } from './run.mjs';

const require = createRequire(import.meta.url);
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

/** The package gives its path relative to the folder in which this process started; the compiler runs in `root`. */
function includeDir() {
  return resolve(require('node-addon-api').include_dir);
}

function expand(value) {
  return value
    .replaceAll('<(module_root_dir)', root)
    .replace(/^<!\(node -p "require\('node-addon-api'\)\.include_dir"\)$/, includeDir);
}

/** Compiler and linker arguments of one target of binding.gyp. */
export function targetFlags(gyp, target) {
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
      ...(target.include_dirs ?? []).map((folder) => `-I${expand(folder)}`),
    ],
    link: [...(target.type === 'executable' ? [] : ['-shared']), '-pthread', ...(target.ldflags ?? []).map(expand)],
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
  if (!headers) throw new Error("Node's headers were not found: install node-api-headers or set npm_config_nodedir");
  const gyp = readGyp(readFileSync(join(root, 'binding.gyp'), 'utf8'));
  rmSync(outDir, { recursive: true, force: true });
  // A target that depends on another is linked after it.
  const links = { first: [], after: [] };
  const compiles = [];
  for (const target of gyp.targets) {
    const name = target.target_name;
    if (!sources[name])
      throw new Error(`scripts/direct-build.mjs does not know where the sources of target ${name} are`);
    const flags = targetFlags(gyp, target);
    const objectDir = join(outDir, 'obj', name);
    const objects = sourcesOf(name).map((file) => {
      const object = join(objectDir, objectName(file));
      mkdirSync(dirname(object), { recursive: true });
      compiles.push(() => run(compiler, ['-c', ...flags.compile, `-I${headers}`, `native/${file}`, '-o', object]));
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
