/** Whatever another machine sends as its recording: it is refused with a reason, or the page can draw it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pointsOf, secondsOf } from '../../../browser/report/points.ts';
import { addHistory, addPoint, emptyCourse } from '../../../browser/serve/course.ts';
import { stopsMarkup, stopsOf } from '../../../browser/serve/stops.ts';
import { judgeRecording } from '../../../lib/run/cluster/recording.ts';
import { clockText } from '../../../lib/show/render/axis.ts';
import type { RecordReport, SeriesPoint } from '../../../lib/types/index.ts';
import { recordOf, sessionOf } from '../../support/reports.ts';

const sent = recordOf({
  sessions: [sessionOf({ series: sessionOf().series.slice(0, 4), lastSeconds: sessionOf().series.slice(4, 6) })],
});
const points = sessionOf().series;

/** Where a document has a value. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

function changed(document: object, path: readonly string[], to: unknown): object {
  const copy = structuredClone(document);
  const last = path.at(-1);
  if (last === undefined) return typeof to === 'object' && to !== null ? to : { to };
  let part: object = copy;
  for (const key of path.slice(0, -1)) part = Reflect.get(part, key) as object;
  Reflect.set(part, last, to);
  return copy;
}

/** As the page does. */
function draw({ sessions }: RecordReport): void {
  const course = emptyCourse();
  addPoint(course, points.at(-2) as SeriesPoint);
  addHistory(course, sessions);
  addPoint(course, points.at(-1) as SeriesPoint);
  const times = [...pointsOf(course), ...course.gpus.flatMap(({ at }) => at.map((time) => ({ at: time, spanMs: 0 })))];
  for (const { at, spanMs } of times) clockText(secondsOf(at) + spanMs / 1000, 1);
  for (const at of course.processSeries.at) clockText(secondsOf(at), 1);
  stopsMarkup([{ host: 'a', stops: stopsOf(sessions), knowsStops: true }]);
}

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(Number.MAX_VALUE, 8.64e15, -1, 0, '0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'),
  fc.constantFrom('2026-02-31T00:00:00.000Z', '2026-11-20T24:00:00.000Z', '2026-11-20T18:00:61.000Z', '__proto__'),
);

it('each value replaced by another one', () => {
  let accepted = 0;
  const paths = pathsOf(sent);
  fc.assert(
    fc.property(fc.constantFrom(...paths), odd, (path, to) => {
      const judged = judgeRecording({
        host: 'a',
        found: [{ document: changed(sent, path, to), problem: null }],
        cameAt: 0,
      });
      if ('state' in judged) return judged.state !== 'answered' && /^[^\p{Cc}]+\.$/u.test(judged.because ?? '');
      accepted += 1;
      draw(judged);
      return true;
    }),
    { numRuns: 2000 },
  );
  expect(accepted).toBeGreaterThan(10);
});
