// The man page of the package, dist/umaprobe.1: from the tables that the parser and the help use.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadLib } from './load-lib.mjs';
import { root } from './run.mjs';

export async function writeManPage() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { manPage } = await loadLib('lib/cli/shell/man-page.ts');
  const { loadCommands } = await loadLib('lib/cli/commands/index.ts');
  const { all } = await loadCommands();
  writeFileSync(join(root, 'dist/umaprobe.1'), manPage(version, all));
}
