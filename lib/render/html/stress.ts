/** The page of a stress test. */

import { formatBoth, formatDuration, formatPercent, inGB, inGiB } from '../../base/format.ts';
import type { StressReport, StressStep } from '../../types/index.ts';
import { ms, sizeWords } from '../numbers.ts';
import { advice } from '../text/stress.ts';
import { type Content, html, type Markup } from './markup.ts';
import { type Assets, page } from './page.ts';
import { type Figure, figures, list, machine, section, settledSection, touchSentence } from './sections.ts';

export function stressHtml(report: StressReport, assets: Assets): string {
  return page(
    report,
    {
      what: report.mode === 'single' ? 'The largest single block' : 'The most that can be allocated',
      sections: [
        figures(keyFigures(report)),
        outcome(report),
        charts(report),
        settledSection(report.settled),
        steps(report),
        method(report),
        machine(report),
      ],
    },
    assets,
  );
}

function keyFigures({ maxBytes, state, kind, mode, verified, cudaMs, durationMs }: StressReport): Figure[] {
  const what = mode === 'single' ? 'Largest block' : 'Maximum';
  return [
    { term: `${what}, ${kind}`, value: `${inGiB(maxBytes)} GiB`, more: `${inGB(maxBytes)} GB`, kind },
    {
      term: 'Ended by',
      value: state,
      more: `after ${formatDuration(durationMs)}, of it ${formatDuration(cudaMs)} in CUDA`,
      kind: null,
    },
    {
      term: 'Verified',
      value: verified === null ? 'no' : verified.mismatches === 0 ? 'every byte' : `${verified.mismatches} wrong`,
      more:
        verified === null ? 'asked for with --verify' : `${inGiB(verified.bytes)} GiB written and read back by the GPU`,
      kind: null,
    },
  ];
}

function outcome(report: StressReport): Markup {
  const next = advice(report);
  const { guard } = report;
  const rows: (readonly [string, Content] | null)[] = [
    ['What bound it', report.boundBy],
    next === null ? null : ['Next', next],
    report.holdMs >= 1 ? ['Held', formatDuration(report.holdMs)] : null,
    guard === null
      ? null
      : [
          'The guard intervened',
          `${guard.reason}; MemAvailable ${formatBoth(guard.memAvailable)}, pressure full ${formatPercent(guard.pressureFull)}; ` +
            (guard.left
              ? 'the process left at once'
              : `allocation stopped after ${after(guard.stoppedAfterMs)}, all freed after ${after(guard.freedAfterMs)}`),
        ],
  ];
  return section('How it ended', list(rows));
}

function after(milliseconds: number | null): string {
  return milliseconds === null ? 'an unknown time' : formatDuration(milliseconds);
}

function charts({ steps }: StressReport): Markup | null {
  if (steps.length < 2) return null;
  return section(
    'Step by step',
    html`<div id="charts"></div><noscript><p class="soft">The charts need JavaScript; every number of theirs stands in the table below.</p></noscript>`,
  );
}

const HEADS = [
  'step',
  'added',
  'held, GiB',
  'cost, predicted',
  'cost',
  'allocation, ms',
  'touch, ms',
  'verify, ms',
  'MemAvailable, GiB',
  'pressure full',
];

function steps({ steps: all, mode }: StressReport): Markup {
  const heads = HEADS.map((head) => (mode === 'single' && head === 'added' ? 'block' : head));
  return section(
    'Every step',
    html`<div class="scroll"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}<th scope="col" class="left"></th></tr></thead><tbody>${all.map(row)}</tbody></table></div>`,
  );
}

function row(step: StressStep, index: number): Markup {
  const cells = [
    sizeWords(step.requestedBytes),
    inGiB(step.heldBytes),
    step.predictedCost === null ? '' : sizeWords(step.predictedCost),
    step.cost === null ? '' : sizeWords(step.cost),
    ms(step.allocMs),
    ms(step.touchMs),
    ms(step.verifyMs),
    inGiB(step.memAvailable),
    formatPercent(step.pressureFull),
  ];
  const words = step.state === 'ok' ? '' : `${step.state}${step.reason === null ? '' : `: ${step.reason}`}`;
  return html`<tr><th scope="row">${index + 1}</th>${cells.map((cell) => html`<td>${cell}</td>`)}<td class="left">${words}</td></tr>\n`;
}

function method(report: StressReport): Markup {
  const { mode, chunkBytes, resolutionBytes, floor } = report;
  return section(
    'How it was measured',
    html`<p>${
      mode === 'single'
        ? 'One block at a time, each freed before the next: larger while it succeeds, then closer to the edge.'
        : `Blocks of up to ${sizeWords(chunkBytes)} were added and kept, smaller ones near the edge, down to ${sizeWords(resolutionBytes)}.`
    } ${touchSentence(report)} All of it in a process of its own, whose end gives the memory back.</p>`,
    html`<p>Before each step its cost, predicted from the steps before, was checked ${
      floor === null ? 'against the memory of the device' : `against the floor of ${formatBoth(floor.bytes)}`
    }; pressure and free blocks of 2 MiB, too, where they matter. Between the steps a thread that needs no JavaScript watched the machine.</p>`,
  );
}
