// Tells whether a build output is up to date: a stamp file lists what it was built from, with a digest of each file.
// Modification times would be wrong after a switch of branches and in a copy of the tree.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './run.mjs';

/** First line of the stamp of a build that did not finish. */
const UNFINISHED = 'unfinished\n';

/** Sources of an output, one a line: the sources in the folders, single files, and values such as the architecture. */
export function manifest(folders, files, values = []) {
  const paths = [...files];
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (/\.(cc|c|h|map|ts|mjs)$/.test(name)) paths.push(join(folder, name));
    }
  }
  const digest = (path) =>
    createHash('sha256')
      .update(readFileSync(join(root, path)))
      .digest('hex');
  return [...values, ...paths.map((path) => `${path} ${digest(path)}`)].join('\n');
}

/** Names of the lines that only one of two manifests has: files that are new, changed or gone, and values. */
export function changesBetween(before, now) {
  const [old, current] = [before.split('\n'), now.split('\n')];
  const lines = [...old.filter((line) => !current.includes(line)), ...current.filter((line) => !old.includes(line))];
  return [...new Set(lines.map((line) => line.split(' ')[0]))];
}

/** Returns whether every output exists and was built from `now`. */
export function isCurrent({ stamp, now, outputs }) {
  const path = join(root, stamp);
  return (
    existsSync(path) && readFileSync(path, 'utf8') === now && outputs.every((output) => existsSync(join(root, output)))
  );
}

/**
 * Builds unless the stamp says `now` and every output exists. `build` gets the changes since the last build, or null if
 * they are not known. The stamp's first line tells of a build that runs or has failed.
 */
export async function unlessCurrent({ what, stamp, now, outputs, build }) {
  if (isCurrent({ stamp, now, outputs })) return;
  const path = join(root, stamp);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  const started = performance.now();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${UNFINISHED}${now}`);
  await build(before === null ? null : changesBetween(before.replace(UNFINISHED, ''), now));
  writeFileSync(path, now);
  console.error(`${what} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
