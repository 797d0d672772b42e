/** The page of a snapshot: the answer first. The rest is shown with --full. */
import { clean } from '../../../base/format.ts';
import type { Snapshot } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging } from '../text-layout.ts';
import { fitting, flow, sections, simulatedBand } from './frame.ts';
import { numberLines } from './snapshot-answer.ts';
import { barLines, legendLine, legendLines } from './snapshot-bar.ts';
import { dedicatedMemoryBars, libraryLines, processTable } from './snapshot-devices.ts';
import { deviceLine, headerLines, verdictLines } from './snapshot-header.ts';
import { ledgerTable, poolBar } from './snapshot-memory.ts';
import { healthLines } from './snapshot-pressure.ts';
import { toolsTable } from './snapshot-tools.ts';

/** The steps by which the first page gets shorter, each besides those before it: verdict and next step are never left out. */
const SHORTER = { plainLegend: 1, noHints: 2, noTools: 3, noBlankLines: 4, noBar: 5, noDevices: 6, noNumbers: 7 };

export function snapshotPage(snapshot: Snapshot, options: RenderOptions, { full = false } = {}): string[] {
  if (full) return fullPage(snapshot, options);
  return fitting(SHORTER.noNumbers, (step) => firstPage(snapshot, options, step), options);
}

function firstPage(snapshot: Snapshot, options: RenderOptions, step: number): string[] {
  const legend = step < SHORTER.plainLegend ? legendLines : legendLine;
  const parts = [
    [...simulatedBand(snapshot.simulated, options), ...verdictLines(snapshot, options)],
    step < SHORTER.noNumbers ? numberLines(snapshot, options, { brief: step >= SHORTER.noTools }) : [],
    step < SHORTER.noDevices ? ownMemoryLines(snapshot, options) : [],
    step < SHORTER.noBar ? [...barLines(snapshot, options), ...legend(snapshot, options)] : [],
    step < SHORTER.noDevices ? unusualLines(snapshot, options) : [],
    step < SHORTER.noHints ? hintLines(options) : [],
  ];
  return step < SHORTER.noBlankLines ? sections(...parts) : parts.flat();
}

function fullPage(snapshot: Snapshot, options: RenderOptions): string[] {
  return sections(
    [...simulatedBand(snapshot.simulated, options), ...verdictLines(snapshot, options)],
    numberLines(snapshot, options),
    headerLines(snapshot, options),
    [poolBar(snapshot.ledger, options), ...ledgerTable(snapshot, options)],
    dedicatedMemoryBars(snapshot, options),
    toolsTable(snapshot, options),
    processTable(snapshot, options),
    [...healthLines(snapshot, options), ...libraryLines(snapshot, options)],
    [...unusualLines(snapshot, options), ...noteLines(snapshot, options)],
  );
}

/** GPUs whose memory is not in the bar of the host's, each with its own bar, and GPUs that programs do not find. */
export function ownMemoryLines(snapshot: Snapshot, options: RenderOptions): string[] {
  const lines = snapshot.devices
    .filter(({ memoryModel, visible }) => memoryModel !== 'unified' || visible === false || snapshot.devices.length > 1)
    .map((device) => options.paint('strong', deviceLine(device, options)));
  return [...lines, ...dedicatedMemoryBars(snapshot, options)];
}

function hintLines(options: RenderOptions): string[] {
  const hints = ['umaprobe --full: everything', 'umaprobe doctor: checks'];
  return flow(hints, options).map((line) => options.paint('dim', line));
}

/** Peculiarities of the numbers above, in the sentences of the document. */
function unusualLines({ ledger }: Snapshot, options: RenderOptions): string[] {
  const overlap = ledger.entries.filter(({ bound, label }) => bound === 'atMost' && label === 'gpuProcesses');
  return bulleted(
    [...ledger.notSplit.map((sentence) => `${sentence}.`), ...overlap.map(({ from }) => `${clean(from)}.`)],
    options,
  );
}

/** Known and usual facts of these devices. */
function noteLines({ devices }: Snapshot, options: RenderOptions): string[] {
  return bulleted(
    devices.flatMap((device) => device.notes.map(clean)),
    options,
  );
}

function bulleted(sentences: readonly string[], { unicode, width }: RenderOptions): string[] {
  return [...new Set(sentences)].flatMap((sentence) =>
    unicode ? hanging('· ', sentence, width) : hanging('- ', sentence.replaceAll('’', "'"), width),
  );
}
