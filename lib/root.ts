/**
 * The folder of the package, to which all paths of its files are relative. This file must stay one level below it, in
 * lib/ as in dist/, where it becomes part of a bundle.
 *
 * @returns empty in an application's bundle of the format CommonJS, which has no import.meta: then the binary is refused
 *   by name.
 */
export function packageRoot(): string {
  return (import.meta.dirname ?? '').replace(/[^/\\]+$/, '');
}
