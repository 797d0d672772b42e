// npm run reference: the API reference as pages in build/reference, made by TypeDoc from the doc comments of what the
// package exports. A warning, such as an export without a doc comment, is an error; npm run lint makes it in CI.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { areInstalled, installPackages } from './packages.mjs';
import { isMain, main, root, run } from './run.mjs';

const TOOL = 'tools/reference';
const output = join(root, 'build', 'reference');

/** True if TypeDoc is installed, in the version of its lock file. */
export const referenceToolsAreCurrent = () => areInstalled(TOOL);

/** Installs TypeDoc if it has to, and writes the pages. Throws where a doc comment is missing or wrong. */
export async function makeReference() {
  await installPackages(TOOL);
  rmSync(output, { recursive: true, force: true });
  const tools = join(root, TOOL);
  const bin = join(tools, 'node_modules', 'typedoc', 'bin', 'typedoc');
  const args = ['--options', join(tools, 'typedoc.json'), '--out', output, '--logLevel', 'Warn'];
  await run(process.execPath, [bin, ...args], { cwd: tools });
}

if (isMain(import.meta.url)) await main(makeReference);
