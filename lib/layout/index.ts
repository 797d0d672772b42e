import { checkChoice, checkFunction } from '../base/arguments.ts';
import { KINDS } from '../memory/kinds.ts';
import type { LayoutOptions, LayoutReport } from '../types/index.ts';

/** Loaded by the first layout: a program that only imports umaprobe should not pay for it. */
let run: typeof import('./run.ts').runLayout | undefined;

/**
 * Holds several blocks at once, as a model's parts are, in a child process: what was asked for, what was allocated, what
 * the machine lost by it, and whether all of it came back.
 *
 * @param parts name → bytes (each 1 to 2^53 − 1, at most 1000 of them), allocated and touched in this order; or `'13b'`:
 *   the parts of a model of 13 billion parameters, 25.5 GB.
 * @throws as `sweep()`. How the layout ends is in `state` of the report and is no error.
 */
export async function layout(
  parts: Readonly<Record<string, number>> | '13b',
  options: LayoutOptions = {},
): Promise<LayoutReport> {
  const { onPart } = options;
  const kind = checkChoice('kind', KINDS, options.kind ?? 'device');
  checkFunction('onPart', onPart);
  const [{ checkProbeOptions }, { checkParts }] = await Promise.all([
    import('../probe/options.ts'),
    import('./parts.ts'),
  ]);
  const probe = checkProbeOptions(options, null);
  const checked = checkParts(parts);
  run ??= (await import('./run.ts')).runLayout;
  return run({ probe, kind, ...checked, onPart });
}
