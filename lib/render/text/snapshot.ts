/** The page of a snapshot: sections in the order in which a person asks. */
import { clean } from '../../base/format.ts';
import type { Snapshot } from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging } from '../text-layout.ts';
import { sections } from './frame.ts';
import { dedicatedMemoryBars, libraryLines, processTable } from './snapshot-devices.ts';
import { headerLines, verdictLines } from './snapshot-header.ts';
import { allocatableLines, ledgerTable, poolBar } from './snapshot-memory.ts';
import { healthLines } from './snapshot-pressure.ts';
import { toolsTable } from './snapshot-tools.ts';

/** The verdict is last: next to the prompt. */
export function snapshotPage(snapshot: Snapshot, options: RenderOptions): string[] {
  return sections(
    headerLines(snapshot, options),
    [poolBar(snapshot.ledger, options), ...ledgerTable(snapshot, options)],
    dedicatedMemoryBars(snapshot, options),
    allocatableLines(snapshot, options),
    toolsTable(snapshot, options),
    processTable(snapshot, options),
    [...healthLines(snapshot, options), ...libraryLines(snapshot, options)],
    noteLines(snapshot, options),
    verdictLines(snapshot, options),
  );
}

/** What is peculiar about the numbers above, in the sentences of the document. */
function noteLines({ devices, ledger }: Snapshot, { unicode, width }: RenderOptions): string[] {
  const overlap = ledger.entries.filter(({ bound, label }) => bound === 'atMost' && label === 'gpuProcesses');
  const sentences = new Set([
    ...ledger.notSplit.map((sentence) => `${sentence}.`),
    ...overlap.map(({ from }) => `${clean(from)}.`),
    ...devices.flatMap((device) => device.notes.map(clean)),
  ]);
  return [...sentences].flatMap((sentence) =>
    unicode ? hanging('· ', sentence, width) : hanging('- ', sentence.replaceAll('’', "'"), width),
  );
}
