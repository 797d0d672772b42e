// Other versions of Node: the npm packages node-linux-<arch>, installed by npm into a cache folder.
//   node scripts/fetch-node.mjs x64 22     prints the path of the binary
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { capture, isMain, main } from './run.mjs';

const cache = process.env.UMAPROBE_NODE_CACHE ?? join(homedir(), '.cache', 'umaprobe', 'node');

/** Path of a node binary for an architecture and major version; installed on first use. */
export function nodeBinary(arch, major) {
  const folder = join(cache, `${arch}-${major}`);
  const binary = join(folder, 'node_modules', `node-linux-${arch}`, 'bin', 'node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  // --force: npm refuses packages of another architecture; here the binary is a file for an emulator.
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--force'];
  capture('npm', ['install', '--prefix', folder, ...flags, `node-linux-${arch}@^${major}`]);
  if (!existsSync(binary)) throw new Error(`node-linux-${arch}@^${major} was installed but has no ${binary}`);
  return binary;
}

if (isMain(import.meta.url)) {
  await main(() => {
    const [arch, major] = process.argv.slice(2);
    if (!arch || !major) throw new Error('expected an architecture and a major version, as in: fetch-node.mjs x64 22');
    console.log(nodeBinary(arch, major));
  });
}
