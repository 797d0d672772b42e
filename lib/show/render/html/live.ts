/**
 * The page of `umaprobe serve`: a frame that stays, and pieces in it that are replaced with each reading. Every sentence and number
 * comes from the judgement of the machine and from what the terminal shows; the page has no rule of its own.
 */
import { clean, formatBoth, formatBytes, formatCount, formatPercent, UNKNOWN } from '../../../base/format.ts';
import { answer, answeredDevice } from '../../../core/memory/answer.ts';
import { bytesInBlocks, formatBlockSize } from '../../../core/memory/contiguity.ts';
import { headroom, totalOf } from '../../../core/memory/headroom.ts';
import type {
  ClusterMachine,
  Finding,
  Level,
  LivePage,
  ProcessesReport,
  Psi,
  Remedy,
  Snapshot,
} from '../../../types/index.ts';
import { groupRow, otherRow, type ProcessRow, processesByPid, remainderRows } from '../text/process-rows.ts';
import { CAN_BE, FREE } from '../text/snapshot-answer.ts';
import { poolParts, poolTitle } from '../text/snapshot-bar.ts';
import { shortReason } from '../text/snapshot-devices.ts';
import { LEVELS, MODEL_LABELS } from '../text/snapshot-header.ts';
import { blocksText, swapText } from '../text/snapshot-pressure.ts';
import { barPicture, cellBar } from './bar.ts';
import { html, type Markup, scrollTable } from './markup.ts';
import { type Assets, page } from './page.ts';
import { figures, list, section } from './sections.ts';

/** One machine at one reading. */
export interface LiveMachine {
  machine: ClusterMachine;
  /** null: they are read of the server's own machine alone. A text: why they are not known. */
  processes: ProcessesReport | string | null;
}

/** Parts of the section of a machine, by the name of the element that they fill. */
export type Pieces = Readonly<Record<string, Markup>>;

/**
 * The page with the pieces of one reading, which is all that a browser without scripts shows.
 *
 * @param summary of several machines, as cluster() says it; null: there is one.
 */
export function livePage(
  config: LivePage,
  machines: readonly LiveMachine[],
  summary: string | null,
  assets: Assets,
): string {
  const { hosts } = config;
  return page(
    config,
    {
      title: 'Live',
      heading: hosts.length > 1 ? `${hosts.length} machines` : (hosts[0] ?? UNKNOWN),
      simulated: hosts.length > 1 ? null : (machines[0]?.machine.snapshot?.simulated ?? null),
      facts: [],
      sections: [
        html`<p id="connection" class="small soft" role="status">One reading; a script makes it live.</p>`,
        summary === null
          ? null
          : section('All machines', html`<div id="summary">${summaryOf(machines, summary)}</div>`),
        html`<section id="stops" hidden></section>\n`,
        ...machines.map((machine, index) =>
          frameOf(machine, index, hosts.length > 1 ? clean(machine.machine.host) : 'Now'),
        ),
      ],
      live: true,
    },
    assets,
  );
}

/** Table of the bytes that can be loaded on each machine, in the user's order. */
export function summaryOf(machines: readonly LiveMachine[], summary: string): Markup {
  const scale = Math.max(1, ...machines.map(({ machine }) => machine.snapshot?.host.total ?? 0));
  const rows = machines.map(({ machine: { because, host, snapshot } }, index) => {
    const safe = snapshot?.judgement.safe.bytes ?? null;
    const simulated = snapshot === null || snapshot.simulated === null ? '' : ` SIMULATED ${clean(snapshot.simulated)}`;
    const bar = safe === null ? null : cellBar(safe, { scale, most: snapshot?.host.total ?? scale });
    return html`<tr><th scope="row"><a href="#machine-${index}">${clean(host)}</a>${simulated}</th><td class="left">${levelOf(snapshot)}</td><td>${formatBytes(safe)}</td><td>${bar}</td><td class="reason">${snapshot?.judgement.because ?? because ?? UNKNOWN}</td></tr>\n`;
  });
  return html`<p class="notice">${summary}</p>${scrollTable(
    'All machines',
    'What can be loaded on each machine, of its memory.',
    html`<tr><th scope="col">machine</th><th scope="col" class="left">verdict</th><th scope="col">safe to load</th><th scope="col">of all</th><th scope="col" class="left">because</th></tr>`,
    rows,
  )}`;
}

/** Frame of a machine's section. The script fills in the age of the reading, and the history. */
/** @param heading the name of the machine, where there are several. */
function frameOf(live: LiveMachine, index: number, heading: string): Markup {
  const { facts, ...pieces } = piecesOf(live);
  const put = ([name, content]: [string, Markup | undefined]): Markup =>
    html`<div data-piece="${name}">${content ?? null}</div>\n`;
  return html`<section id="machine-${index}" data-machine="${index}"><h2>${heading}</h2>
${put(['facts', facts])}<p class="small soft" data-age></p><p class="notice warn" data-stale hidden></p>
<div data-known>${Object.entries(pieces).map(put)}</div>
<h3>History</h3><div class="timeline" data-charts></div><div data-history></div>
<noscript><p class="soft">The history needs JavaScript; the numbers above do not.</p></noscript></section>\n`;
}

export function piecesOf({ machine, processes }: LiveMachine): Pieces {
  const { because, next, snapshot } = machine;
  if (snapshot === null) {
    const step = next === null ? null : html`<p>Next: ${next}.</p>`;
    const verdict = html`<p class="notice warn">${levelOf(null)} ${because ?? UNKNOWN}</p>${step}`;
    const empty = ['figures', 'pool', 'load', 'findings', 'processes'].map((name) => [name, html``]);
    return { facts: html``, verdict, ...Object.fromEntries(empty) };
  }
  return {
    facts: factsOf(snapshot),
    verdict: verdictOf(snapshot),
    figures: figures(figuresOf(snapshot)),
    pool: poolOf(snapshot),
    load: html`${pressureOf(snapshot)}${blocksOf(snapshot)}`,
    findings: findingsOf(snapshot.judgement.findings),
    processes: html`${gpusOf(snapshot)}${processesOf(snapshot, processes)}`,
  };
}

const COLOURS: Readonly<Record<Level, string>> = { ok: 'good', notice: 'good', warning: 'caution', danger: 'warn' };

/** "WARNING" in its colour; without a reading "UNKNOWN". */
function levelOf(snapshot: Snapshot | null): Markup {
  if (snapshot === null) return html`<strong class="warn">UNKNOWN</strong>`;
  const { level } = snapshot.judgement;
  return html`<strong class="${COLOURS[level]}">${LEVELS[level][0]}</strong>`;
}

function factsOf({ devices, driver, kernel, simulated }: Snapshot): Markup {
  const facts = [
    simulated === null ? null : `SIMULATED machine ${simulated}`,
    ...devices.map(({ memoryModel, name }) => `${name ?? 'unnamed GPU'}, ${MODEL_LABELS[memoryModel]}`),
    driver.version === null ? null : `driver ${driver.version}`,
    kernel.release === null ? null : `Linux ${kernel.release}`,
  ];
  return html`<p class="facts">${[...new Set(facts)]
    .filter((fact) => fact !== null)
    .map(clean)
    .join(' · ')}</p>`;
}

function verdictOf(snapshot: Snapshot): Markup {
  const { because, findings, level, next } = snapshot.judgement;
  const remedy = findings.find((finding) => finding.remedy?.text === next)?.remedy ?? null;
  const step = next === null ? null : html`<p>Next: ${stepOf({ text: next, command: remedy?.command ?? null })}</p>`;
  return html`<p class="notice ${COLOURS[level]}">${levelOf(snapshot)} ${answer(snapshot)}. ${because}</p>${step}`;
}

/** The step, with its command unless the text has that already. */
function stepOf({ command, text }: Pick<Remedy, 'command' | 'text'>): Markup {
  return command === null || text.includes(command) ? html`${text}.` : html`${text}: <code>${command}</code>`;
}

/** Figures of the GPU that the answer is about; of the host if there is none. */
function figuresOf(snapshot: Snapshot) {
  const { devices, judgement } = snapshot;
  const device = answeredDevice(snapshot);
  const { afterReclaim, immediate } = device?.allocatable ?? headroom(snapshot);
  const where = device === undefined || devices.length === 1 ? '' : ` on GPU ${device.index}`;
  return [
    { term: 'Safe to load', value: formatBytes(judgement.safe.bytes), more: judgement.safe.from },
    { term: `${FREE}${where}`, value: formatBytes(immediate), more: 'what the next allocation gets at once' },
    { term: `${CAN_BE}${where}`, value: formatBytes(afterReclaim), more: 'with files in cache given back' },
  ];
}

/** The parts of MemTotal, which add up to it. */
function poolOf(snapshot: Snapshot): Markup {
  const { total } = snapshot.ledger;
  const parts = poolParts(snapshot);
  const label = parts.map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`).join(', ');
  const rows = parts.map(
    ({ bytes, name, note, style }) =>
      html`<tr><th scope="row"><span class="part-${style}"><span class="name">${name}</span></span></th><td>${formatBytes(bytes)}</td><td class="reason">${note}</td></tr>\n`,
  );
  return html`<h3>${poolTitle(snapshot, formatBoth(total))}</h3>${barPicture({
    parts: parts.map(({ bytes, letter, style }) => ({ bytes, letter, style: `part-${style}` })),
    scale: total,
    label,
  })}${scrollTable(
    'Where the memory is',
    'Parts of MemTotal. They add up to it.',
    html`<tr><th scope="col">part</th><th scope="col">size</th><th scope="col" class="left">what it is</th></tr>`,
    [...rows, html`<tr class="total"><th scope="row">MemTotal</th><td>${formatBytes(total)}</td><td></td></tr>`],
  )}`;
}

function pressureOf({ from, host, pressure }: Snapshot): Markup {
  const swap = swapText(host, formatBytes);
  const note = swap === null ? null : list([['Swap', swap]]);
  if (pressure === null) return html`<h3>Pressure</h3><p>unknown: ${shortReason(from.pressure)}</p>${note}`;
  const row = (name: string, { avg10, avg60, avg300 }: Psi): Markup =>
    html`<tr><th scope="row">${name}</th>${[avg10, avg60, avg300].map((value) => html`<td>${formatPercent(value)}</td>`)}</tr>`;
  return html`<h3>Pressure</h3>${scrollTable(
    'Pressure',
    'Share of time in which tasks waited for memory.',
    html`<tr><th scope="col">waited</th><th scope="col">last 10 s</th><th scope="col">1 min</th><th scope="col">5 min</th></tr>`,
    [row('some tasks', pressure.some), row('all tasks', pressure.full)],
  )}${note}`;
}

function blocksOf({ contiguity, from, host }: Snapshot): Markup {
  if (contiguity === null) return html`<h3>Free blocks</h3><p>unknown: ${shortReason(from.contiguity)}</p>`;
  const rows = contiguity
    .toReversed()
    .map(
      ({ blockBytes, freeBlocks }) =>
        html`<tr><th scope="row">${formatBlockSize(blockBytes)}</th><td>${formatCount(freeBlocks)}</td><td>${formatBytes(bytesInBlocks(contiguity, blockBytes))}</td></tr>\n`,
    );
  return html`<h3>Free blocks</h3><p>${blocksText(host, contiguity, formatBytes)}.</p><details data-keep="blocks"><summary>Every size</summary>${scrollTable(
    'Free blocks',
    'Free memory of the host by the size of its blocks.',
    html`<tr><th scope="col">size</th><th scope="col">blocks</th><th scope="col">in blocks of this size or more</th></tr>`,
    rows,
  )}</details>`;
}

function findingsOf(findings: readonly Finding[]): Markup {
  if (findings.length === 0) return html`<h3>Findings</h3><p>None.</p>`;
  const articles = findings.map(({ cause, remedy, severity, summary }) => {
    const why = cause === null ? null : html`<p>${cause}</p>`;
    const step = remedy === null ? null : html`<p>What to do: ${stepOf(remedy)}</p>`;
    return html`<article><h4>${summary}<span class="chip ${COLOURS[severity]}">${LEVELS[severity][0]}</span></h4>${why}${step}</article>`;
  });
  return html`<h3>Findings</h3>${articles}`;
}

/** GPUs with memory of their own, and each of several. */
function gpusOf(snapshot: Snapshot): Markup | null {
  const { devices, host } = snapshot;
  if (devices.length === 1 && devices[0]?.memoryModel === 'unified') return null;
  const rows = devices.map((device) => {
    const { immediate, safe } = device.allocatable;
    const sizes = [totalOf(device, host.total), immediate, safe].map((bytes) => html`<td>${formatBytes(bytes)}</td>`);
    return html`<tr><th scope="row">GPU ${device.index} ${clean(device.name ?? 'unnamed')}</th>${sizes}</tr>\n`;
  });
  if (rows.length === 0) return null;
  return html`<h3>GPUs</h3>${scrollTable(
    'GPUs',
    'What each GPU can use.',
    html`<tr><th scope="col">GPU</th><th scope="col">all</th><th scope="col">free</th><th scope="col">safe to load</th></tr>`,
    rows,
  )}`;
}

/** Groups of processes that are listed: the largest. */
const SHOWN = 12;

function processesOf(snapshot: Snapshot, processes: LiveMachine['processes']): Markup {
  if (typeof processes === 'string') return html`<h3>Who holds memory</h3><p>unknown: ${processes}</p>`;
  if (processes === null) return gpuProcessesOf(snapshot);
  const byPid = processesByPid(processes);
  const rows = [
    ...processes.groups.slice(0, SHOWN).map((group) => groupRow(group, byPid, null)),
    ...otherRow(processes.groups.slice(SHOWN)),
    ...remainderRows(processes),
  ];
  // A row that is no process has only its size as a number.
  const row = ({ file, gpu, held, pid, swap, who }: ProcessRow): Markup =>
    html`<tr><th scope="row">${who.trim()}</th><td>${pid ?? ''}</td><td>${formatBytes(held)}</td>${[
      gpu,
      swap,
      file,
    ].map((bytes) => html`<td>${pid === null && bytes === null ? '' : formatBytes(bytes)}</td>`)}</tr>\n`;
  const limits = processes.limits.map((limit) => html`<p class="small soft">${limit}</p>`);
  return html`<h3>Who holds memory</h3>${scrollTable(
    'Who holds memory',
    'What the machine gets back when each ends, its memory of the GPU, in swap, and its files in cache.',
    html`<tr><th scope="col">process</th><th scope="col">pid</th><th scope="col">held</th><th scope="col">GPU</th><th scope="col">swap</th><th scope="col">files</th></tr>`,
    rows.map(row),
  )}${limits}`;
}

/** Processes of NVML's list, for a machine of which no more is known. */
function gpuProcessesOf({ devices }: Snapshot): Markup {
  const rows = devices.flatMap(({ index, processes }) =>
    (processes ?? [])
      .toSorted((a, b) => (b.gpuBytes ?? -1) - (a.gpuBytes ?? -1))
      .slice(0, SHOWN)
      .map(
        ({ gpuBytes, name, pid }) =>
          html`<tr><th scope="row">${clean(name ?? UNKNOWN)}</th><td>${pid}</td><td>GPU ${index}</td><td>${formatBytes(gpuBytes)}</td></tr>\n`,
      ),
  );
  const unlisted = devices.flatMap(({ from, index, processes }) =>
    processes === null ? [html`<p>GPU ${index}: unknown, ${shortReason(from.processes)}</p>`] : [],
  );
  if (rows.length === 0) return html`<h3>GPU programs</h3>${unlisted.length === 0 ? html`<p>None.</p>` : unlisted}`;
  return html`<h3>GPU programs</h3>${scrollTable(
    'GPU programs',
    'Processes that hold memory of a GPU.',
    html`<tr><th scope="col">process</th><th scope="col">pid</th><th scope="col">on</th><th scope="col">holds</th></tr>`,
    rows,
  )}${unlisted}`;
}
