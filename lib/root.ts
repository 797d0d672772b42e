import { fileURLToPath } from 'node:url';

/**
 * The folder of the package, to which all paths of its files are relative. This file must stay one level below it, in
 * lib/ as in dist/, where it becomes part of a bundle.
 */
export const ROOT = fileURLToPath(new URL('../', import.meta.url));
