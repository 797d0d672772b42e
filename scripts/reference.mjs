// npm run reference: the API reference as pages in build/reference, made by TypeDoc from the doc comments of what the
// package exports. A warning, such as an export without a doc comment, is an error; npm run lint makes it in CI.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { packagesAreCurrent, readJson } from './bootstrap.mjs';
import { isMain, main, root, run } from './run.mjs';

const tools = join(root, 'tools', 'reference');
const output = join(root, 'build', 'reference');

/** Whether TypeDoc is installed, in the version of its lock file. */
export function referenceToolsAreCurrent() {
  const installed = readJson(join(tools, 'node_modules', '.package-lock.json'));
  return packagesAreCurrent(readJson(join(tools, 'package-lock.json')), installed);
}

/** Installs TypeDoc if it has to, and writes the pages. Throws where a doc comment is missing or wrong. */
export async function makeReference() {
  if (!referenceToolsAreCurrent()) {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['ci', '--prefix', tools, ...flags]);
  }
  rmSync(output, { recursive: true, force: true });
  const bin = join(tools, 'node_modules', 'typedoc', 'bin', 'typedoc');
  const args = ['--options', join(tools, 'typedoc.json'), '--out', output, '--logLevel', 'Warn'];
  await run(process.execPath, [bin, ...args], { cwd: tools });
}

if (isMain(import.meta.url)) await main(makeReference);
