// Builds build/Release/{umaprobe.node,umaprobe-guard,libumasim.so,…}: with node-gyp if it can run without downloads, else, without
// python3, make or Node's headers, with the C++ compiler alone. It ships: in an installed package without a binary that
// fits, the error of lib/core/native/binding.ts names this command.
//   node scripts/native-build.mjs
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { compileDirectly } from './direct-build.mjs';
import { capture, findTool, isMain, main, root, run } from './run.mjs';

const require = createRequire(import.meta.url);

/** The program of guard(). */
export const guard = 'umaprobe-guard';

/** The program nvidia-smi of the simulated machine. */
export const nvidiaSmi = 'umasim-nvidia-smi';

/** The simulated machine: itself, the libcudart of each CUDA version, and nvidia-smi. */
export const simulator = ['libumasim.so', ...[11, 12, 13].map((version) => `libumasim-cudart${version}.so`), nvidiaSmi];

/** A folder with include/node/node_api.h for the running Node, or null: then node-gyp would have to download one. */
export function nodeDir() {
  const candidates = [
    process.env.npm_config_nodedir,
    dirname(dirname(process.execPath)),
    join(homedir(), '.cache', 'node-gyp', process.versions.node),
  ];
  return candidates.find((folder) => folder && existsSync(join(folder, 'include', 'node', 'common.gypi'))) ?? null;
}

/**
 * The folder of headers of a package that only builds need. An installed umaprobe does not have it: npm then fetches it
 * into build/packages.
 */
function headersOf(name) {
  const folder = join(root, 'build', 'packages');
  const isThere = [root, folder].some((from) => existsSync(join(from, 'node_modules', name, 'package.json')));
  if (!isThere) {
    if (!findTool('npm')) throw new Error(`${name} is needed, and npm is not on PATH to fetch it`);
    const range = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies[name];
    mkdirSync(folder, { recursive: true });
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    capture('npm', ['install', '--prefix', folder, ...flags, `${name}@${range}`]);
  }
  // node-addon-api gives a path relative to the folder in which this process started; the compiler runs in `root`.
  return resolve(require(require.resolve(name, { paths: [root, folder] })).include_dir);
}

/** Folders with node_api.h (Node's own, or those of node-api-headers) and napi.h. */
export function napiHeaders() {
  const folder = nodeDir();
  return {
    node: folder ? join(folder, 'include', 'node') : headersOf('node-api-headers'),
    addon: headersOf('node-addon-api'),
  };
}

/** node-gyp.js of the repository; null in an installed package. */
export function nodeGyp() {
  try {
    return require.resolve('node-gyp/bin/node-gyp.js');
  } catch {
    return null;
  }
}

/** Names of the things that node-gyp lacks here; empty: it can run. */
function lackingForNodeGyp() {
  return [
    nodeGyp() ? null : 'node-gyp',
    findTool('python3') ? null : 'python3',
    findTool('make') ? null : 'make',
    nodeDir() ? null : "Node's headers",
  ].filter((word) => word !== null);
}

/** @param incremental node-gyp keeps the objects whose sources have not changed. The compiler alone compiles everything. */
export async function buildNative({ incremental = false } = {}) {
  const lacking = lackingForNodeGyp();
  if (lacking.length === 0) {
    const jobs = String(availableParallelism());
    const commands = incremental ? ['configure', 'build'] : ['rebuild'];
    const args = [nodeGyp(), ...commands, '--release', `--jobs=${jobs}`, `--nodedir=${nodeDir()}`, '--loglevel=warn'];
    await run(process.execPath, args);
  } else {
    console.error(`native build with the compiler alone (node-gyp would need ${lacking.join(', ')})`);
    await compileDirectly({ headers: napiHeaders, outDir: join(root, 'build', 'Release') });
  }
  const missing = ['umaprobe.node', guard, ...simulator].filter((f) => !existsSync(join(root, 'build', 'Release', f)));
  if (missing.length > 0) {
    const found = readdirSync(join(root, 'build', 'Release')).join(', ');
    throw new Error(`the native build did not write ${missing.join(' and ')} to build/Release (it has ${found})`);
  }
}

if (isMain(import.meta.url)) {
  await main(async () => {
    if (process.platform !== 'linux') throw new Error(`umaprobe reads Linux machines; this is ${process.platform}`);
    await buildNative();
    console.error(`built ${join(root, 'build', 'Release', 'umaprobe.node')}`);
  });
}
