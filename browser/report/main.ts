/** What makes a report's page live: its charts, their switches, and the button that gives the data back. */
import type { LayoutReport, StressReport, SweepReport } from '../../lib/types/index.ts';
import { type ChartSpec, createChart, type Scales } from '../chart.ts';
import { theme } from '../theme.ts';
import { stressCharts } from './stress.ts';
import { sweepCharts } from './sweep.ts';

type Report = LayoutReport | StressReport | SweepReport;

const text = document.getElementById('report')?.textContent ?? 'null';
const report = JSON.parse(text) as Report | null;
const charts = document.getElementById('charts');

if (report !== null && charts !== null) drawCharts(report, charts);
if (report !== null) offerData();

function specsOf(document: Report): ChartSpec[] {
  switch (document.schema) {
    case 'umaprobe/sweep/1':
      return sweepCharts(document);
    case 'umaprobe/stress/1':
      return stressCharts(document);
    case 'umaprobe/layout/1':
      return [];
  }
}

function drawCharts(document: Report, place: HTMLElement): void {
  const drawn = specsOf(document).map((spec) => createChart(place, spec));
  const scales: Scales = { logX: checked('log-x'), logY: checked('log-y') };
  const draw = (): void => {
    const colours = theme();
    for (const chart of drawn) chart.draw(colours, scales);
  };
  for (const [id, key] of [
    ['log-x', 'logX'],
    ['log-y', 'logY'],
  ] as const) {
    box(id)?.addEventListener('change', () => {
      scales[key] = checked(id);
      draw();
    });
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  // Paper is light whatever the screen is; the style sheet says so, and canvases have to be told.
  matchMedia('print').addEventListener('change', draw);
  draw();
}

function box(id: string): HTMLInputElement | null {
  const element = document.getElementById(id);
  return element instanceof HTMLInputElement ? element : null;
}

function checked(id: string): boolean {
  return box(id)?.checked === true;
}

/** The document that this page shows, as a file: for whoever was sent only the page. */
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
