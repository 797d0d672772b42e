/** Asks before an action, where somebody is there to answer. */
import { createInterface } from 'node:readline';
import type { Context } from './command.ts';

type Asking = Pick<Context, 'stderr' | 'stdin'>;

export function canAsk({ stderr, stdin }: Asking): boolean {
  return stdin.isTTY === true && stderr.isTty;
}

/** True for y and yes. Anything else is a no, the end of the input, too. */
export async function confirm({ stderr, stdin }: Asking, question: string): Promise<boolean> {
  stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: stdin });
  const answer = await new Promise<string | null>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(null));
  });
  lines.close();
  if (answer === null) stderr.write('\n');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
