/**
 * The entry point `umaprobe/models`: what a model takes, and whether it fits.
 *
 * @module umaprobe/models
 */

import { refuseOldNode } from './base/node-version.ts';

export { estimate, estimateTable, openModel } from './models/estimate/index.ts';
export { fit } from './models/fit/index.ts';
export type * from './types/models.ts';

refuseOldNode();
