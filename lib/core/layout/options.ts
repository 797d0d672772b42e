/** The options of a layout. */

import { callback, type OptionsOf } from '../../base/options.ts';
import type { LayoutEvent } from '../../types/index.ts';
import { kind, PROBE, type ProbeOptions } from '../probe/options.ts';

/** Options of `layout()`. */
export interface LayoutOptions extends OptionsOf<typeof OWN>, ProbeOptions {}

const OWN = {
  /** Default `device`. */
  kind,
  /** Called with each event. The first allocation waits for a promise of `started`; an error ends the run and is thrown. */
  onEvent: callback<(event: LayoutEvent) => void | Promise<void>>(),
};
export const LAYOUT = { ...OWN, ...PROBE };
