/** A remedy in words: the commands in it are not broken by a wrap. */
import type { Remedy } from '../../../types/index.ts';
import { hanging } from '../text-layout.ts';

/** The remedy beside its label. */
export function remedyLines(
  label: string,
  { command, text }: Pick<Remedy, 'command' | 'text'>,
  width: number,
): string[] {
  const byUmaprobe = text.match(/\(or: [^)]*\)/)?.[0];
  return hanging(
    label,
    text,
    width,
    [command, byUmaprobe].filter((part) => part !== null && part !== undefined),
  );
}
