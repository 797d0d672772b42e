/** Low memory: the sentence when nothing more should be loaded, and when a machine is in danger. */

import { capitalized, formatBytes } from '../base/format.ts';
import type { Snapshot } from '../types/index.ts';
import { isFragmentedMemory } from './contiguity.ts';
import { lowMemory } from './floor.ts';
import { headroom, unifiedDevice } from './headroom.ts';
import { judgePressure } from './pressure.ts';
import { reserveFor } from './safe.ts';
import type { HealthVerdict } from './verdict.ts';

/**
 * The rule of the verdict, and of doctor. On unified memory it begins where a program can load nothing without taking the
 * host below its floor, which is where stress refuses to start. Low memory alone is a notice: healthy machines rest there. With tasks that
 * wait for memory it is a warning; a stall besides is for pressure.ts.
 */
export function nearlyOut(snapshot: Snapshot): HealthVerdict | null {
  const { afterReclaim, safe, total } = headroom(snapshot);
  const { critical, low } = lowMemory(total);
  const unified = unifiedDevice(snapshot) !== undefined;
  // Where nothing is safe for another reason, such as fragmentation, its own rule says so.
  const nothingSafe = safe === 0 && !isFragmentedMemory(snapshot);
  if (afterReclaim === null || (afterReclaim >= low && !nothingSafe)) return null;
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
    ...(unified ? { besideAnswer: `${only}. ${seen}.` } : {}),
    next: `stop a program before you load a model; it should leave at least ${formatBytes(unified ? reserveFor(total, null, null).floor.bytes : low)}`,
  };
}
