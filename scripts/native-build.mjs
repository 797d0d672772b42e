// Builds build/Release/{umaprobe.node,libumasim.so,…}: with node-gyp if it can run without downloads, else, without
// python3, make or Node's headers, with the C++ compiler alone.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { compileDirectly } from './direct-build.mjs';
import { findTool, root, run } from './run.mjs';

const require = createRequire(import.meta.url);

/** The simulated machine: itself, and the libcudart of each CUDA version. */
export const simulator = ['libumasim.so', ...[11, 12, 13].map((version) => `libumasim-cudart${version}.so`)];

/** A folder with include/node/node_api.h for the running Node, or null: then node-gyp would have to download one. */
export function nodeDir() {
  const candidates = [
    process.env.npm_config_nodedir,
    dirname(dirname(process.execPath)),
    join(homedir(), '.cache', 'node-gyp', process.versions.node),
  ];
  return candidates.find((folder) => folder && existsSync(join(folder, 'include', 'node', 'common.gypi'))) ?? null;
}

/** Folder with node_api.h: Node's own, or the node-api-headers package (the same interface, no download). */
export function napiHeaders() {
  const folder = nodeDir();
  if (folder) return join(folder, 'include', 'node');
  try {
    return require('node-api-headers').include_dir;
  } catch {
    return null;
  }
}

/** node-gyp.js of the repository, or npm's own, which npm names to install scripts. */
export function nodeGyp() {
  try {
    return require.resolve('node-gyp/bin/node-gyp.js');
  } catch {
    return process.env.npm_config_node_gyp ?? null;
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

export async function buildNative() {
  const lacking = lackingForNodeGyp();
  if (lacking.length === 0) {
    const jobs = String(availableParallelism());
    const args = [nodeGyp(), 'rebuild', '--release', `--jobs=${jobs}`, `--nodedir=${nodeDir()}`, '--loglevel=warn'];
    await run(process.execPath, args);
  } else {
    console.error(`native build with the compiler alone (node-gyp would need ${lacking.join(', ')})`);
    await compileDirectly({ headers: napiHeaders(), outDir: join(root, 'build', 'Release') });
  }
  const missing = ['umaprobe.node', ...simulator].filter((f) => !existsSync(join(root, 'build', 'Release', f)));
  if (missing.length > 0) {
    const found = readdirSync(join(root, 'build', 'Release')).join(', ');
    throw new Error(`the native build did not write ${missing.join(' and ')} to build/Release (it has ${found})`);
  }
}
