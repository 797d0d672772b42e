/** A verdict over a snapshot, as the rules of health.ts and of the files beside it give it. */

import type { Snapshot } from '../types/index.ts';

export type Level = 'ok' | 'notice' | 'warning' | 'danger';

export interface HealthVerdict {
  level: Level;
  text: string;
  /** What to do or to type; null: nothing. */
  next: string | null;
}

/** null: the rule does not apply. */
export type Rule = (snapshot: Snapshot) => HealthVerdict | null;
