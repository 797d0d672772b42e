/** Defaults of the options of record(); the help text of the command names them. */

import { MiB } from '../../base/format.ts';

export const DEFAULT_RECORD_BYTES = 64 * MiB;
