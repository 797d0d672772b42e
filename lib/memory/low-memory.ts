/** Low memory: the sentence when nothing more should be loaded, and when a machine is in danger. */

import { capitalized, formatBytes } from '../base/format.ts';
import type { Snapshot } from '../types/index.ts';
import { lowMemory } from './floor.ts';
import { headroom, unifiedDevice } from './headroom.ts';
import { judgePressure } from './pressure.ts';
import type { HealthVerdict } from './verdict.ts';

/**
 * The rule of the verdict, and of doctor. Low memory alone is a notice: healthy machines rest there. With tasks that
 * wait for memory it is a warning; a stall besides is for pressure.ts.
 */
export function nearlyOut(snapshot: Snapshot): HealthVerdict | null {
  const { afterReclaim, total } = headroom(snapshot);
  const { critical, low } = lowMemory(total);
  if (afterReclaim === null || afterReclaim >= low) return null;
  const unified = unifiedDevice(snapshot) !== undefined;
  const only = `Only ${formatBytes(afterReclaim)} of ${unified ? 'the unified memory' : 'the host’s memory'} can still be allocated`;
  if (afterReclaim <= critical)
    return {
      level: 'danger',
      text: `${only}.${unified ? ' Running out of it can freeze this machine instead of failing an allocation.' : ''}`,
      next: 'stop a program before you start another',
    };
  const { state, text } = judgePressure(snapshot);
  const waits = state === 'waiting' || state === 'spike' || state === 'longSpike';
  const seen = state === 'none' ? 'No task waits for it' : capitalized(text);
  return {
    level: waits ? 'warning' : 'notice',
    text: `${only}: nothing more should be loaded. ${seen}.`,
    next: `stop a program before you load a model; it should leave at least ${formatBytes(low)}`,
  };
}
