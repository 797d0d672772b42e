// The packages of a folder with a lock file: of the checkout, and of each tool of tools/ that needs its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** True if node_modules matches package-lock.json, by npm's own list of installed packages. */
export function packagesAreCurrent(lock, installed) {
  if (!lock || !installed) return false;
  return Object.entries(lock.packages).every(
    ([path, wanted]) => path === '' || wanted.optional || installed.packages[path]?.version === wanted.version,
  );
}

/** True if the packages of a folder are installed, in the versions of its lock file. */
export function areInstalled(folder = '.') {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'];
  return packagesAreCurrent(readJson(join(root, folder, lock)), readJson(join(root, folder, installed)));
}

/** @param folder "tools/schemas"; default: the checkout. */
export async function installPackages(folder = '.') {
  if (areInstalled(folder)) return;
  console.error(`installing packages${folder === '.' ? '' : ` of ${folder}`} (npm ci)`);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run(npm, ['ci', ...flags], { cwd: join(root, folder) });
}
