/**
 * A recording as JSON Lines: one object a line with its `type` and its session, in the order of time, so that jq, DuckDB
 * or pandas read it without knowing the document. Sizes are bytes; null is not read.
 */
import type { RecordedSession, RecordReport } from '../../types/index.ts';

export function recordJsonLines({ problems, sessions }: RecordReport): string {
  const lines: object[] = [
    ...sessions.flatMap(linesOf),
    ...problems.map((problem) => ({ type: 'problem', ...problem })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The facts of the session come first, then its contents, each at its time. */
function linesOf(session: RecordedSession): object[] {
  const {
    gpus,
    id,
    kernelMessages,
    lastSeconds: _,
    marks,
    notes,
    plateaus,
    processSeries,
    series,
    transients,
    ...rest
  } = session;
  const { processes: __, ...facts } = rest;
  const timed: { type: string; session: string; at: string }[] = [];
  const add = (type: string, at: string, values: object): void => {
    timed.push({ type, session: id, at, ...values });
  };
  for (const point of series) add('point', point.at, point);
  for (const mark of marks) add('mark', mark.at, mark);
  for (const message of kernelMessages) add('kernel', message.at, message);
  for (const transient of transients) add('transient', transient.at, transient);
  for (const plateau of plateaus) add('plateau', plateau.from, plateau);
  for (const note of notes) add('note', note.at, note);
  for (const [place, at] of processSeries.at.entries())
    for (const { gpuBytes, held, name, pid } of processSeries.processes) {
      const values = { pid, name, held: held[place] ?? null, gpuBytes: gpuBytes[place] ?? null };
      if (values.held !== null) add('process', at, values);
    }
  for (const { index, at, total, used } of gpus)
    for (const [place, time] of at.entries()) {
      const bytes = used[place] ?? 0;
      add('gpu', time, { index, used: bytes, free: total - bytes });
    }
  // The sort is stable: lines of the same time stay in the order above.
  timed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const lowest = gpus.map(({ at: _, used: __, ...gpu }) => gpu);
  return [{ type: 'session', session: id, ...facts, gpus: lowest }, ...timed];
}
