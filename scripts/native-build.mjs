// Builds build/Release/{umaprobe.node,libumasim.so}: with node-gyp where it can run without downloading anything,
// with the C++ compiler alone where python3, make or Node's headers are missing.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { compileDirectly } from './direct-build.mjs';
import { findTool, root, run } from './run.mjs';

const require = createRequire(import.meta.url);

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

/** node-gyp.js of the repository, or the one that npm carries and names to install scripts. */
export function nodeGyp() {
  try {
    return require.resolve('node-gyp/bin/node-gyp.js');
  } catch {
    return process.env.npm_config_node_gyp ?? null;
  }
}

/** What node-gyp would lack here, as words; empty when it can run. */
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
  const missing = ['umaprobe.node', 'libumasim.so'].filter((f) => !existsSync(join(root, 'build', 'Release', f)));
  if (missing.length > 0) {
    const found = readdirSync(join(root, 'build', 'Release')).join(', ');
    throw new Error(`the native build left no ${missing.join(' and ')} in build/Release (there: ${found})`);
  }
}
