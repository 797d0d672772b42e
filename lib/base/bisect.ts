/** The largest whole number that is accepted, where everything below an accepted one is accepted, too. */

/**
 * @param accepted a number that is accepted, with its answer.
 * @param refused a larger one that is not.
 * @returns the largest that is accepted, with its answer.
 */
export async function bisect<Answer>(
  accepted: { at: number; answer: Answer },
  refused: number,
  ask: (at: number) => Promise<Answer>,
  accepts: (answer: Answer) => boolean,
): Promise<{ at: number; answer: Answer }> {
  let [best, high] = [accepted, refused];
  while (high - best.at > 1) {
    const at = Math.floor((best.at + high) / 2);
    const answer = await ask(at);
    if (accepts(answer)) best = { at, answer };
    else high = at;
  }
  return best;
}
