// docs/reference: the API reference, made by TypeDoc from the doc comments of what the package exports. A warning, such
// as an export without a doc comment, is an error.
//   node scripts/reference.mjs          says whether docs/reference is what the doc comments make
//   node scripts/reference.mjs --write  makes it again (npm run format does)
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packagesAreCurrent, readJson } from './bootstrap.mjs';
import { isMain, main, root, run } from './run.mjs';

const tools = join(root, 'tools', 'reference');
const kept = join(root, 'docs', 'reference');
const made = join(root, 'build', 'reference');

/** Whether TypeDoc is installed, in the version of its lock file. */
export function referenceToolsAreCurrent() {
  const installed = readJson(join(tools, 'node_modules', '.package-lock.json'));
  return packagesAreCurrent(readJson(join(tools, 'package-lock.json')), installed);
}

async function typedoc() {
  if (!referenceToolsAreCurrent()) {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['ci', '--prefix', tools, ...flags]);
  }
  rmSync(made, { recursive: true, force: true });
  const bin = join(tools, 'node_modules', 'typedoc', 'bin', 'typedoc');
  const args = ['--options', join(tools, 'typedoc.json'), '--out', made, '--logLevel', 'Warn'];
  await run(process.execPath, [bin, ...args], { cwd: tools });
}

function pagesOf(folder) {
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.md')) : [];
}

/** Files of docs/reference that are not what TypeDoc makes; empty: it is current. */
function stale() {
  const names = new Set([...pagesOf(made), ...pagesOf(kept)]);
  const text = (folder, name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null);
  return [...names].filter((name) => text(made, name) !== text(kept, name));
}

/** Throws, or with `write` mends it, where docs/reference is not what the doc comments make. */
export async function checkReference({ write = false } = {}) {
  await typedoc();
  const names = stale();
  if (names.length === 0) return;
  if (!write)
    throw new Error(`docs/reference (${names.join(', ')}) is not what the doc comments make: run npm run reference`);
  rmSync(kept, { recursive: true, force: true });
  cpSync(made, kept, { recursive: true });
}

if (isMain(import.meta.url)) await main(() => checkReference({ write: process.argv.includes('--write') }));
