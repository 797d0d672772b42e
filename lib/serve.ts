/**
 * The entry point `umaprobe/serve`: a page and metrics of the machine, over HTTP.
 *
 * @module umaprobe/serve
 */

import { refuseOldNode } from './base/node-version.ts';

export { serve } from './serve/index.ts';
export type { ServeOptions } from './serve/options.ts';
export type * from './types/serve.ts';

refuseOldNode();
