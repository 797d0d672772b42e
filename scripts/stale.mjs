// Whether a build output is up to date: a stamp file has the digest of the sources that it was built from. Modification
// times would be wrong after a switch of branches and in a copy of the tree.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './run.mjs';

/** Digest of the sources in the folders, the single files, and values such as the architecture. */
export function digest(folders, files, values = []) {
  const hash = createHash('sha256').update(values.join('\0'));
  const paths = [...files];
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (/\.(cc|c|h|map|ts|mjs)$/.test(name)) paths.push(join(folder, name));
    }
  }
  for (const path of paths) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** Builds unless the stamp has the digest `now` and every output exists. The stamp is written last. */
export async function unlessCurrent({ what, stamp, now, outputs, build }) {
  const path = join(root, stamp);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  if (before === now && outputs.every((output) => existsSync(join(root, output)))) return;
  const started = performance.now();
  await build();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, now);
  console.error(`${what} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
