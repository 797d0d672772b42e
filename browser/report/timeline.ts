/** The timeline of a recorded session: its charts, with one zoom. */
import { clockText } from '../../lib/show/render/axis.ts';
import type { RecordedSession } from '../../lib/types/index.ts';
import { createChart } from '../chart.ts';
import type { Theme } from '../theme.ts';
import { createZoom } from '../zoom.ts';
import { zoomButtons } from '../zoom-buttons.ts';
import { pointsOf, secondsOf } from './points.ts';
import { specsOf } from './record.ts';

/** Points of the shortest span that the charts show. */
const LEAST_POINTS = 5;

/** Draws the charts of a session, and returns what draws them again in other colours. */
export function createTimeline(container: HTMLElement, session: RecordedSession): (theme: Theme) => void {
  const points = pointsOf(session);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return () => undefined;
  const whole = { from: secondsOf(first.at), to: secondsOf(last.at) + last.spanMs / 1000 };
  const shortest = points.reduce((least, { spanMs }) => Math.min(least, spanMs), first.spanMs);
  const zoom = createZoom(whole, Math.min(whole.to - whole.from, (LEAST_POINTS * shortest) / 1000));
  container.append(
    zoomButtons(zoom, ({ from, to }) => `${clockText(from, to - from)} to ${clockText(to, to - from)} UTC`),
  );
  const charts = specsOf(session, points, zoom).map((spec) => createChart(container, spec));
  return (theme) => {
    for (const chart of charts) chart.draw(theme, false);
  };
}
