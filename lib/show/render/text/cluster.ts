/** Several machines on one screen: the answer, the weakest machine first, who holds what, and what to do. */
import { clean, formatBytes } from '../../../base/format.ts';
import { answeredDevice } from '../../../core/memory/answer.ts';
import { largestHolder } from '../../../core/memory/findings/available.ts';
import { totalOf } from '../../../core/memory/headroom.ts';
import type {
  ClusterCheck,
  ClusterMachine,
  ClusterRank,
  ClusterReport,
  ClusterState,
  HostDifference,
  Snapshot,
} from '../../../types/index.ts';
import { VERDICTS } from '../fit-parts.ts';
import { amount, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, padEnd, padStart, table, truncate, widthOf } from '../text-layout.ts';
import { labelled, sections, simulatedBand } from './frame.ts';
import { remedyLines } from './remedy.ts';
import { LEVELS } from './snapshot-header.ts';

/** Machines that have room for a paragraph each on a screen of 23 lines. */
const FEW = 3;
/** Columns of a host name. */
const NAME_WIDTH = 24;

const STATES: Readonly<Record<ClusterState, string>> = {
  answered: '',
  unreachable: 'UNREACHABLE',
  timeout: 'NO ANSWER',
  failed: 'FAILED',
  unreadable: 'UNREADABLE',
  'other-version': 'OTHER VERSION',
  stale: 'STALE',
  doubled: 'DOUBLED',
  missing: 'MISSING',
};

const NO_ANSWER: readonly [label: string, style: Style] = ['UNKNOWN', 'danger'];

export function clusterPage(report: ClusterReport, options: RenderOptions): string[] {
  const { differences, level, machines, summary } = report;
  const simulated = machines.flatMap(({ snapshot }) => (snapshot === null ? [] : [snapshot.simulated]));
  const details = machines.length > FEW ? machines.filter(isAmiss).slice(0, 2) : machines;
  return sections(
    [
      ...bandLines(simulated, options),
      ...labelled(...(level === null ? NO_ANSWER : LEVELS[level]), clean(summary), options),
    ],
    machines.length > FEW ? machineTable(machines, options) : [],
    ...details.map((machine) => machineLines(machine, options)),
    noteLines(simulated, differences, options),
  );
}

function isAmiss({ snapshot }: ClusterMachine): boolean {
  return snapshot === null || snapshot.judgement.level === 'warning' || snapshot.judgement.level === 'danger';
}

function bandLines(simulated: readonly (string | null)[], options: RenderOptions): string[] {
  const names = [...new Set(simulated.filter((name) => name !== null))];
  return simulatedBand(names.length === 0 ? null : names.join(', '), options);
}

/** A simulated machine among real ones is none to count on; ranks of one program mostly want the same kernel and driver. */
function noteLines(
  simulated: readonly (string | null)[],
  differences: readonly HostDifference[],
  { width }: RenderOptions,
): string[] {
  const names = [...new Set(simulated)].filter((name) => name !== null);
  const isMixed = names.length > 0 && simulated.includes(null);
  const mixed = isMixed ? [`Simulated machines (${names.map(clean).join(', ')}) stand among real ones.`] : [];
  return [...mixed, ...differences.map(({ summary }) => clean(summary))].flatMap((note) =>
    hanging('note  ', note, width),
  );
}

function labelOf({ snapshot, state }: ClusterMachine): readonly [label: string, style: Style] {
  return snapshot === null ? [STATES[state], 'danger'] : LEVELS[snapshot.judgement.level];
}

function machineTable(machines: readonly ClusterMachine[], options: RenderOptions): string[] {
  const rows = machines.map((machine) => {
    const { because, host, snapshot } = machine;
    return [
      truncate(clean(host), NAME_WIDTH),
      labelOf(machine)[0],
      snapshot === null ? '' : amount(snapshot.judgement.safe.bytes, options),
      snapshot === null ? clean(because ?? '') : (holderOf(snapshot) ?? clean(snapshot.judgement.because)),
    ];
  });
  const [heading = '', ...lines] = table(
    ['left', 'left', 'right', 'flexible'],
    [['machine', '', 'can be loaded', 'who holds it, or why'], ...rows],
    options.width,
  );
  return [
    options.paint('heading', heading),
    ...lines.map((line, index) => {
      const [label, style] = labelOf(machines[index] as ClusterMachine);
      return line.replace(`  ${label}`, `  ${options.paint(style, label)}`);
    }),
  ];
}

/** "vllm (7) holds 60.0 GiB.": the GPU process that holds the most; null: none is known. */
function holderOf({ devices }: Snapshot): string | null {
  return largestHolder(devices.flatMap(({ processes }) => processes ?? [])).trim() || null;
}

function machineLines(machine: ClusterMachine, options: RenderOptions): string[] {
  const { because, host, next, snapshot } = machine;
  if (snapshot === null)
    return paragraph(host, labelOf(machine), because ?? '', { text: next, command: null }, options);
  const { judgement } = snapshot;
  const { findings, safe } = judgement;
  const device = answeredDevice(snapshot);
  const total = device === undefined ? null : totalOf(device, snapshot.host.total);
  const room =
    safe.bytes === null
      ? 'How much can be loaded is not known.'
      : `${amount(safe.bytes, options)} of ${amount(total, options)} can be loaded.`;
  const holder = holderOf(snapshot);
  const sentence = [room, judgement.because, holder === null || judgement.because.includes(holder) ? '' : holder];
  const command = findings.find(({ remedy }) => remedy?.text === judgement.next)?.remedy?.command ?? null;
  const remedy = { text: judgement.next, command };
  return paragraph(host, labelOf(machine), sentence.filter((part) => part !== '').join(' '), remedy, options);
}

/** A host, its label, a sentence beside them, and what to do below. */
function paragraph(
  host: string,
  [label, style]: readonly [label: string, style: Style],
  sentence: string,
  remedy: { text: string | null; command: string | null },
  { paint, unicode, width }: RenderOptions,
): string[] {
  const name = truncate(clean(host), NAME_WIDTH);
  const head = `${name}  ${label}  `;
  const [first = '', ...more] = hanging(head, clean(sentence), width);
  const painted = `${paint('strong', name)}  ${paint(style, label)}  `;
  const { command, text } = remedy;
  const arrow = `${' '.repeat(widthOf(head))}${unicode ? '→' : '->'} `;
  return [
    first.startsWith(head) ? painted + first.slice(head.length) : first,
    ...more,
    ...(text === null ? [] : remedyLines(arrow, { text: clean(text), command }, width)),
  ];
}

export function clusterCheckPage(report: ClusterCheck, options: RenderOptions): string[] {
  const { complete, differences, need, ranks, summary, verdict } = report;
  const simulated = ranks.filter(({ fit }) => fit !== null).map((rank) => rank.simulated);
  const label = complete ? VERDICTS[verdict] : ([VERDICTS[verdict][0], 'danger'] as const);
  return sections(
    [...bandLines(simulated, options), ...labelled(...label, clean(summary), options)],
    [...rankTable(ranks, options), ...needLines(need, options)],
    ...ranks.filter(({ fit }) => fit?.verdict !== 'fits').map((rank) => rankLines(rank, options)),
    noteLines(simulated, differences, options),
  );
}

function rankLabel({ fit, state }: ClusterRank): readonly [label: string, style: Style] {
  return fit === null ? [STATES[state], 'danger'] : VERDICTS[fit.verdict];
}

/** One line for each machine. */
function rankTable(ranks: readonly ClusterRank[], options: RenderOptions): string[] {
  const labels = ranks.map((rank) => rankLabel(rank)[0]);
  const names = ranks.map(({ host }) => truncate(clean(host), NAME_WIDTH));
  const amounts = ranks.map(({ fit }) => (fit === null ? '' : amount(fit.limit.bytes, options)));
  const [nameWidth, labelWidth, amountWidth] = [names, labels, amounts].map((texts) => Math.max(...texts.map(widthOf)));
  return ranks.map((rank, index) => {
    const [label, style] = rankLabel(rank);
    const name = padEnd(names[index] ?? '', nameWidth ?? 0);
    const room = padStart(amounts[index] ?? '', amountWidth ?? 0);
    const isKnown = rank.fit !== null && rank.fit.limit.bytes !== null;
    const text = rank.fit === null ? '' : isKnown ? `  ${room} can be loaded` : '  what can be loaded is not known';
    return `${name}  ${options.paint(style, label)}${' '.repeat((labelWidth ?? 0) - label.length)}${text}`.trimEnd();
  });
}

function needLines(need: ClusterCheck['need'], options: RenderOptions): string[] {
  if (need === null) return [];
  const { bytes, high } = need;
  const size = high > bytes ? `${amount(bytes, options)} to ${amount(high, options)}` : amount(bytes, options);
  return [options.paint('dim', `Each is to hold ${size}.`)];
}

/** The reason why it does not fit there, and each step that would help. */
function rankLines({ because, fit, host, judgement, next }: ClusterRank, options: RenderOptions): string[] {
  const name = truncate(clean(host), NAME_WIDTH);
  const arrow = `${' '.repeat(widthOf(name) + 2)}${options.unicode ? '→' : '->'} `;
  const isAmiss = judgement?.level === 'warning' || judgement?.level === 'danger';
  const cause = isAmiss ? ` ${judgement.because}` : '';
  const sentence = fit === null ? (because ?? '') : `${fit.summary}${fit.summary.includes(cause.trim()) ? '' : cause}`;
  const remedies = (fit?.remedies ?? []).map(({ command, gains, text }) => ({
    command,
    text: `${text}${gains === null || gains === 0 ? '' : `: ${formatBytes(gains)} more`}`,
  }));
  const own = fit === null ? next : remedies.length === 0 && isAmiss ? judgement.next : null;
  return [
    ...hanging(`${name}  `, clean(sentence), options.width).map((line, index) =>
      index === 0 ? options.paint('strong', name) + line.slice(name.length) : line,
    ),
    ...[...remedies, ...(own === null ? [] : [{ text: own, command: null }])].flatMap(({ command, text }) =>
      remedyLines(arrow, { text: clean(text), command }, options.width),
    ),
  ];
}
