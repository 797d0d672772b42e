/** Files of the package: what browser/ was built into. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from '../../base/package-version.ts';
import { packageRoot } from '../../root.ts';
import type { Assets } from '../render/html/page.ts';

/** Script and style of the page of a report, or of serve. */
export function pageAssets(page: 'report' | 'serve'): Assets {
  const read = (path: string): string => readFileSync(join(packageRoot(), 'dist', path), 'utf8').trim();
  return { script: read(`${page}/page.js`), style: read('report/page.css'), version: packageVersion() };
}
