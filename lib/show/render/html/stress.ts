/** The HTML page of a stress test. */
import { formatBoth, formatDuration, formatPercent, inGB, inGiB } from '../../../base/format.ts';
import type { StressReport, StressStep } from '../../../types/index.ts';
import { ms, sizeText } from '../numbers.ts';
import { advice } from '../text/stress.ts';
import { type Content, html, type Markup, scrollTable } from './markup.ts';
import type { Assets } from './page.ts';
import { probePage } from './probe-page.ts';
import {
  charts,
  type Figure,
  figures,
  headRow,
  list,
  machineSection,
  section,
  settledSection,
  touchSentence,
} from './sections.ts';

export function stressHtml(report: StressReport, assets: Assets): string {
  return probePage(
    report,
    {
      title: report.mode === 'single' ? 'The largest single block' : 'The most that can be allocated',
      sections: [
        figures(keyFigures(report)),
        outcomeSection(report),
        chartsSection(report),
        settledSection(report.settled),
        stepsSection(report),
        methodSection(report),
        machineSection(report),
      ],
    },
    assets,
  );
}

function keyFigures({ maxBytes, state, kind, mode, verified, cudaMs, durationMs }: StressReport): Figure[] {
  const label = mode === 'single' ? 'Largest block' : 'Maximum';
  return [
    { term: `${label}, ${kind}`, value: `${inGiB(maxBytes)} GiB`, more: `${inGB(maxBytes)} GB`, kind },
    {
      term: 'Ended by',
      value: state,
      more: `after ${formatDuration(durationMs)}, including ${formatDuration(cudaMs)} in CUDA`,
    },
    {
      term: 'Verified',
      value: verified === null ? 'no' : verified.mismatches === 0 ? 'every byte' : `${verified.mismatches} wrong`,
      more: verified === null ? 'needs --verify' : `${inGiB(verified.bytes)} GiB written and read back by the GPU`,
    },
  ];
}

function outcomeSection(report: StressReport): Markup {
  const next = advice(report);
  const { guard } = report;
  const rows: (readonly [string, Content] | null)[] = [
    ['Limited by', report.boundBy],
    next === null ? null : ['What to do', next],
    report.holdMs >= 1 ? ['Held', formatDuration(report.holdMs)] : null,
    guard === null
      ? null
      : [
          'The guard intervened',
          `${guard.reason}; MemAvailable ${formatBoth(guard.memAvailable)}, all programs waited for memory ${formatPercent(guard.pressureFull)} of the time; ` +
            (guard.left
              ? 'the process exited at once'
              : `allocation stopped after ${durationText(guard.stoppedAfterMs)}, all memory freed after ${durationText(guard.freedAfterMs)}`),
        ],
  ];
  return section('How it ended', list(rows));
}

function durationText(ms: number | null): string {
  return ms === null ? 'an unknown time' : formatDuration(ms);
}

function chartsSection({ steps }: StressReport): Markup | null {
  if (steps.length < 2) return null;
  return section('Step by step', charts());
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
  'all programs waited',
];

function stepsSection({ steps: all, mode }: StressReport): Markup {
  const heads = HEADS.map((head) => (mode === 'single' && head === 'added' ? 'block' : head));
  return section(
    'Every step',
    scrollTable(
      'Every step',
      'What each step asked for, what it cost the machine, how long it took, and what was left.',
      headRow(heads, { hasEnd: true }),
      all.map(stepRow),
    ),
  );
}

function stepRow(step: StressStep, index: number): Markup {
  const cells = [
    sizeText(step.requestedBytes),
    inGiB(step.heldBytes),
    step.predictedCost === null ? '' : sizeText(step.predictedCost),
    step.cost === null ? '' : sizeText(step.cost),
    ms(step.allocMs),
    ms(step.touchMs),
    ms(step.verifyMs),
    inGiB(step.memAvailable),
    formatPercent(step.pressureFull),
  ];
  const ended = step.state === 'ok' ? 'ok' : `${step.state}${step.reason === null ? '' : `: ${step.reason}`}`;
  return html`<tr><th scope="row">${index + 1}</th>${cells.map((cell) => html`<td>${cell}</td>`)}<td class="left${step.state === 'ok' ? ' soft' : ''}">${ended}</td></tr>\n`;
}

function methodSection(report: StressReport): Markup {
  const { mode, chunkBytes, resolutionBytes, floor, steps } = report;
  const isWritten = steps.some(({ touchMs }) => touchMs !== null);
  return section(
    'How it was measured',
    html`<p>${
      mode === 'single'
        ? 'One block at a time, each freed before the next: larger as long as it succeeds, then in smaller steps towards the limit.'
        : `Blocks of up to ${sizeText(chunkBytes)} were added and held, smaller ones near the limit, down to ${sizeText(resolutionBytes)}.`
    } ${touchSentence(report, isWritten)} Everything ran in a separate process, whose exit frees the memory.</p>`,
    html`<p>Before each step its cost, predicted from earlier steps, was checked ${
      floor === null ? 'against the memory of the device' : `against the floor of ${formatBoth(floor.bytes)}`
    }; pressure and free blocks of 2 MiB were checked, too, where they matter. A native thread watched the machine throughout.</p>`,
  );
}
