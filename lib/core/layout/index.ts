import { lazy } from '../../base/lazy.ts';
import type { LayoutReport } from '../../types/index.ts';
import type { LayoutOptions } from './options.ts';

const load = lazy(() => import('./run.ts'));

/**
 * Holds several blocks at once, like the parts of a model, in a child process: reports the bytes that were requested
 * and allocated, the memory that the machine lost, and whether all of it came back.
 *
 * @example
 * ```ts
 * import { layout } from 'umaprobe';
 *
 * const { overheadBytes, settled } = await layout({ weights: 8e9, cache: 2e9 });
 * console.log(overheadBytes, settled.missing);
 * ```
 *
 * @param parts name → bytes (each 1 to 2^53 − 1, at most 1000 of them), allocated and touched in this order; or
 *   `'13b'`: the parts of a model of 13 billion parameters, 25.5 GB.
 * @throws as `sweep()`. The report's `state` says how the layout ended; an early end is not an error.
 */
export async function layout(
  parts: Readonly<Record<string, number>> | '13b',
  options: LayoutOptions = {},
): Promise<LayoutReport> {
  return (await load()).runLayout(parts, options);
}
