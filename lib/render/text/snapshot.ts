/** The page of a snapshot: sections in the order in which a person asks. */
import { clean } from '../../base/format.ts';
import type { Snapshot } from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging } from '../text-layout.ts';
import { sections } from './frame.ts';
import { dedicatedMemory, libraries, processes } from './snapshot-devices.ts';
import { header, verdict } from './snapshot-header.ts';
import { allocatableLines, ledgerTable, poolBar } from './snapshot-memory.ts';
import { memoryHealth } from './snapshot-pressure.ts';
import { tools } from './snapshot-tools.ts';

/** The verdict is last: next to the prompt. */
export function snapshotPage(snapshot: Snapshot, options: RenderOptions): string[] {
  return sections(
    header(snapshot, options),
    [poolBar(snapshot.ledger, options), ...ledgerTable(snapshot, options)],
    dedicatedMemory(snapshot, options),
    allocatableLines(snapshot, options),
    tools(snapshot, options),
    processes(snapshot, options),
    [...memoryHealth(snapshot, options), ...libraries(snapshot, options)],
    notes(snapshot, options),
    verdict(snapshot, options),
  );
}

/** What is peculiar about the numbers above, in the sentences of the document. */
function notes({ devices }: Snapshot, { unicode, width }: RenderOptions): string[] {
  const sentences = new Set(devices.flatMap((device) => device.notes.map(clean)));
  return [...sentences].flatMap((sentence) =>
    unicode ? hanging('· ', sentence, width) : hanging('- ', sentence.replaceAll('’', "'"), width),
  );
}
