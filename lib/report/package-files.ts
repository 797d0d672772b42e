/** Files of the package: its version, and what browser/ was built into. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assets } from '../render/html/page.ts';
import { packageRoot } from '../root.ts';

export function packageVersion(): string {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  return version;
}

/** Script and style of a report's page. */
export function pageAssets(): Assets {
  return {
    script: read('dist/report/page.js').trim(),
    style: read('dist/report/page.css').trim(),
    version: packageVersion(),
  };
}

function read(path: string): string {
  return readFileSync(join(packageRoot(), path), 'utf8');
}
