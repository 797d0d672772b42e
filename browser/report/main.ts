/** The script of a report's page: its charts, their switches, and the button that saves the data. */
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

function drawCharts(document: Report, container: HTMLElement): void {
  const drawn = specsOf(document).map((spec) => createChart(container, spec));
  const scales: Scales = { logX: isChecked('log-x'), logY: isChecked('log-y') };
  const draw = (): void => {
    const colours = theme();
    for (const chart of drawn) chart.draw(colours, scales);
  };
  for (const [id, key] of [
    ['log-x', 'logX'],
    ['log-y', 'logY'],
  ] as const) {
    checkbox(id)?.addEventListener('change', () => {
      scales[key] = isChecked(id);
      draw();
    });
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  // Paper is always light: the style sheet knows, but canvases have to be drawn again.
  matchMedia('print').addEventListener('change', draw);
  draw();
}

function checkbox(id: string): HTMLInputElement | null {
  const element = document.getElementById(id);
  return element instanceof HTMLInputElement ? element : null;
}

function isChecked(id: string): boolean {
  return checkbox(id)?.checked === true;
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
