/** The version of this package. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../root.ts';

let version: string | undefined;

export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
  return version;
}
