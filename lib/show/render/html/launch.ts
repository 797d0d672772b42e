/** The page of a launch: how it ended, its timeline, the receipt, the plan, and what fit said. */
import { formatBoth, formatBytes, formatDuration } from '../../../base/format.ts';
import type { LaunchFlags, LaunchPlan, LaunchReport, RecordedSession } from '../../../types/index.ts';
import { adviceOf, type LaunchRow, planRows, receiptRows } from '../launch-facts.ts';
import { dayAndTime } from '../record-facts.ts';
import { nearestSection, poolSection, remediesSection, verdictText } from './fit.ts';
import { html, type Markup, scrollTable } from './markup.ts';
import { type Assets, page, timeText } from './page.ts';
import { marksSection, processesSection, timelineSection } from './record.ts';
import { type Figure, figures, list, plateauRow, saveButton, section, tableSection } from './sections.ts';

/** @param session the recording of the launch; null: there is none. */
export function launchHtml(report: LaunchReport, session: RecordedSession | null, assets: Assets): string {
  const { at, durationMs, guard, plan, receipt, simulated } = report;
  return page(
    report,
    {
      title: 'Launch',
      heading: headingOf(report),
      simulated,
      facts: [
        guard === null ? 'not started' : `ran for ${formatDuration(guard.durationMs)}`,
        guard === null ? null : `${formatDuration(durationMs)} with everything around it`,
        timeText(at),
      ],
      sections: [
        html`<section><p class="notice ${outcomeStyle(report)}"><strong class="${outcomeStyle(report)}">${OUTCOMES[report.outcome]}</strong> ${report.summary}</p></section>\n`,
        figures(keyFigures(report)),
        ...recordSections(report, session),
        receipt === null
          ? null
          : section('What it took', rows(receiptRows(receipt, report.record)), flagsLine(receipt.flags)),
        plateausSection(report),
        actionsSection(report),
        section('Plan', rows(planRows(plan)), stepsTable(report), flagsLine(plan.flags)),
        plan.fit === null ? null : poolSection(plan.fit),
        ...adviceSections(plan),
        section('The command', html`<p class="command"><code>${plan.command.join(' ')}</code></p>`, saveButton()),
      ],
    },
    assets,
    session === null ? {} : { recording: session },
  );
}

/** Steps to do first. */
function adviceSections(plan: LaunchPlan): (Markup | null)[] {
  const fit = adviceOf(plan);
  return fit === null ? [] : [remediesSection(fit.remedies), plan.flags === null ? nearestSection(fit) : null];
}

/** The model, or the name of the program: arguments are on the page further down. */
function headingOf({ plan: { command, expected, recognised } }: LaunchReport): string {
  return expected?.model ?? recognised.model ?? command[0]?.split('/').at(-1) ?? 'Launch';
}

const OUTCOMES: Readonly<Record<LaunchReport['outcome'], string>> = {
  planned: 'PLANNED',
  refused: 'NOT STARTED',
  exited: 'ENDED',
  stopped: 'STOPPED BY THE GUARD',
  aborted: 'ABORTED',
};

function outcomeStyle({ guard, outcome, receipt }: LaunchReport): string {
  if (outcome === 'stopped' || outcome === 'refused') return 'warn';
  const isClean = outcome === 'exited' && guard?.exitCode === 0 && (receipt?.headroom ?? -1) >= 0;
  return isClean ? 'good' : 'caution';
}

function keyFigures({ plan, receipt }: LaunchReport): Figure[] {
  const verdict: Figure = { term: 'Fit said', value: verdictText(plan.verdict), more: 'before the start' };
  if (receipt === null) return [verdict];
  const { after, expected, floor, headroom, took } = receipt;
  return [
    verdict,
    {
      term: 'Peak',
      value: formatBytes(took.peak),
      more: expected === null ? 'at any time' : `expected ${formatBytes(expected.total.bytes)}`,
    },
    {
      term: headroom >= 0 ? 'Above the floor' : 'Below the floor',
      value: html`<span class="${headroom >= 0 ? 'good' : 'warn'}">${formatBytes(Math.abs(headroom))}</span>`,
      more: `at the lowest; the floor is ${formatBytes(floor.bytes)}`,
    },
    {
      term: 'Not back afterwards',
      value: after === null ? 'unknown' : after.missing === 0 ? 'nothing' : formatBytes(after.missing),
      more: after === null ? 'it was not read' : `${formatBytes(after.available)} available`,
    },
  ];
}

function recordSections({ outcome, plan }: LaunchReport, session: RecordedSession | null): (Markup | null)[] {
  if (outcome === 'planned' || outcome === 'refused') return [];
  if (session !== null) return [timelineSection(session, 0), processesSection(session), marksSection(session)];
  const why = plan.steps.find(({ step }) => step === 'record')?.text ?? '';
  return [section('Timeline', html`<p>There is no recording. ${why}</p>`)];
}

function rows(all: readonly LaunchRow[]): Markup {
  return list(all.map(([label, text]) => (text === null ? null : [label, text])));
}

function flagsLine(flags: LaunchFlags | null): Markup | null {
  if (flags?.safe == null) return null;
  return html`<p>Flags that keep the floor: <code>${flags.safe}</code></p>`;
}

function plateausSection({ receipt }: LaunchReport): Markup | null {
  return tableSection(
    'Plateaus',
    'Stretches of at least two seconds in which what the launch had taken stayed within 1 % of MemTotal.',
    html`<tr><th scope="col">from, UTC</th><th scope="col">to</th><th scope="col">for</th><th scope="col">taken</th></tr>`,
    (receipt?.took.plateaus ?? []).map(({ from, taken, to }) => plateauRow(from, to, formatBoth(taken))),
  );
}

function actionsSection({ guard }: LaunchReport): Markup | null {
  return tableSection(
    'What the guard did',
    'Oldest first, with what was seen.',
    html`<tr><th scope="col">at, UTC</th><th scope="col" class="left">action</th><th scope="col" class="left">seen</th></tr>`,
    (guard?.actions ?? []).map(
      ({ action, at, sentence }) =>
        html`<tr><th scope="row">${dayAndTime(at)}</th><td class="reason">${action}</td><td class="reason">${sentence}</td></tr>\n`,
    ),
  );
}

function stepsTable({ plan }: LaunchReport): Markup {
  return scrollTable(
    'Steps',
    'The steps of the launch, and what became of each.',
    html`<tr><th scope="col">step</th><th scope="col" class="left">state</th><th scope="col" class="left">what it does</th></tr>`,
    plan.steps.map(
      ({ state, step, text }) =>
        html`<tr><th scope="row">${step}</th><td class="reason">${state}</td><td class="reason">${text}</td></tr>\n`,
    ),
  );
}
