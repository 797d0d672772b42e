/** Why a number is unknown, in as few words as a table has room for. The whole reason stands in the document. */
import { clean } from '../text-layout.ts';

const SHORT: readonly (readonly [RegExp, string])[] = [
  [/\bTIMEOUT\b/, 'no answer in time'],
  [/\bNOT_SUPPORTED\b/, 'not supported'],
  [/\bLIBRARY_MISSING\b/, 'library not installed'],
  [/\bPERMISSION\b/, 'no permission'],
];

export function shortReason(reason: string | undefined): string {
  if (reason === undefined || reason === '') return 'not read';
  const known = SHORT.find(([pattern]) => pattern.test(reason));
  return known === undefined ? withoutCode(reason) : known[1];
}

/** The code is for scripts. */
export function withoutCode(reason: string): string {
  return clean(reason.replaceAll(/ERR_UMA_[A-Z_]+: /g, ''));
}
