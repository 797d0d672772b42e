/**
 * The folder of the package, to which all paths of its files are relative. This file must stay one level below it, in
 * lib/ as in dist/, where it becomes part of a bundle. Asked on first use: `import.meta` takes a tenth of the time of
 * importing umaprobe.
 *
 * @returns empty in an application's bundle of the format CommonJS, which has no import.meta: then the binary is refused
 *   by name.
 */
export function packageRoot(): string {
  // The path is cut as text: the first URL of a process takes 0.25 ms.
  return (import.meta.dirname ?? '').replace(/[^/\\]+$/, '');
}
