/** The script of a report's page: its charts, their switches, and the button that saves the data. */
import type {
  LaunchReport,
  ProfileReport,
  RecordedSession,
  RecordReport,
  StressReport,
  SweepReport,
} from '../../lib/types/index.ts';
import { createChart } from '../chart.ts';
import { type ChartSpec, prefersLog } from '../lines.ts';
import { type Theme, theme } from '../theme.ts';
import { profileCharts } from './profile.ts';
import { stressCharts } from './stress.ts';
import { sweepCharts } from './sweep.ts';
import { createTimeline } from './timeline.ts';

/** Reports with charts. The pictures of the others are part of their markup. */
type ChartedReport = LaunchReport | ProfileReport | RecordReport | StressReport | SweepReport;

const text = textOf('report');
const report = JSON.parse(text) as ChartedReport | null;
const charts = document.getElementById('charts');

if (report?.schema === 'umaprobe/record/1') drawTimelines(report.sessions);
else if (report?.schema === 'umaprobe/launch/1') drawRecording();
else if (report !== null && charts !== null) drawCharts(report, charts);
if (report !== null) offerData();

function specsOf(document: ChartedReport): ChartSpec[] {
  switch (document.schema) {
    case 'umaprobe/sweep/1':
      return sweepCharts(document);
    case 'umaprobe/stress/1':
      return stressCharts(document);
    case 'umaprobe/profile/1':
      return profileCharts(document);
    default:
      return [];
  }
}

function drawCharts(document: ChartedReport, container: HTMLElement): void {
  const specs = specsOf(document);
  const charts = specs.map((spec) => createChart(container, spec));
  let log = prefersLog(specs);
  const draw = (): void => {
    const colours = theme();
    for (const chart of charts) chart.draw(colours, log);
  };
  offerAxes(log, (chosen) => {
    log = chosen;
    draw();
  });
  drawInEveryTheme(draw);
}

/** The text of an element that carries data; "null": the page has none. */
function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? 'null';
}

/** That of a launch, where it was recorded. */
function drawRecording(): void {
  const session = JSON.parse(textOf('recording')) as RecordedSession | null;
  if (session !== null) drawTimelines([session]);
}

/** A session has its own place, and its own zoom. */
function drawTimelines(sessions: readonly RecordedSession[]): void {
  const draws: ((theme: Theme) => void)[] = [];
  for (const container of document.querySelectorAll<HTMLElement>('.timeline')) {
    const session = sessions[Number(container.dataset.session)];
    if (session !== undefined) draws.push(createTimeline(container, session));
  }
  drawInEveryTheme(() => {
    const colours = theme();
    for (const draw of draws) draw(colours);
  });
}

function drawInEveryTheme(draw: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  // Paper is always light: the style sheet knows, but canvases have to be drawn again.
  matchMedia('print').addEventListener('change', draw);
  draw();
}

/** Both axes are linear, or both logarithmic: on one logarithmic axis a straight line looks exponential. */
function offerAxes(log: boolean, choose: (log: boolean) => void): void {
  const axes = document.getElementById('axes');
  if (axes === null) return;
  axes.hidden = false;
  for (const radio of axes.querySelectorAll('input')) {
    radio.checked = (radio.value === 'log') === log;
    radio.addEventListener('change', () => choose(radio.value === 'log'));
  }
}

/** Offers the document as a file, to a reader who has only the page. */
function offerData(): void {
  const button = document.getElementById('save');
  if (!(button instanceof HTMLButtonElement)) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    link.download = 'umaprobe-report.json';
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
