/** What record() does where an option is missing; the help text of the command says so. */

import { MiB } from '../../base/format.ts';

export const DEFAULT_RECORD_BYTES = 64 * MiB;
