/** A verdict over a snapshot, as the rules of health.ts and of the files beside it give it. */

import type { Snapshot } from '../types/index.ts';

export type Level = 'ok' | 'notice' | 'warning' | 'danger';

export interface HealthVerdict {
  level: Level;
  text: string;
  /** `text` where the answer (answer.ts) stands beside it; absent: the same. */
  besideAnswer?: string;
  /** What to do or to type; null: nothing. */
  next: string | null;
  /** The part of a full picture that shows why; null: no part shows more. */
  about?: Topic;
}

/** Parts of a picture that a person reads only when one of them matters. */
export type Topic = 'ledger' | 'tools' | 'processes' | 'pressure' | 'libraries';

/** null: the rule does not apply. */
export type Rule = (snapshot: Snapshot) => HealthVerdict | null;
