/** Files of the package: what browser/ was built into. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '../../base/package-version.ts';
import { packageRoot } from '../../root.ts';
import type { Assets } from '../render/html/page.ts';

/** Script and style of a report's page. */
export function pageAssets(): Assets {
  return assetsOf('report');
}

/** The same of the page of serve. */
export function livePageAssets(): Assets {
  return assetsOf('serve');
}

function assetsOf(folder: string): Assets {
  return {
    script: read(`dist/${folder}/page.js`).trim(),
    style: read('dist/report/page.css').trim(),
    version: packageVersion(),
  };
}

function read(path: string): string {
  return readFileSync(join(packageRoot(), path), 'utf8');
}
