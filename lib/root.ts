import { fileURLToPath } from 'node:url';

/**
 * The package's own folder. This file must stay one level below it, in lib/ as in dist/, where it becomes part of a
 * bundle: everything that reads a file of the package starts from here.
 */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));
