/** The whole picture: sections in the order in which a person asks. */

import { clean } from '../../base/format.ts';
import type { Snapshot } from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging } from '../text-layout.ts';
import { libraries, ownMemory, processes } from './snapshot-devices.ts';
import { header, verdict } from './snapshot-header.ts';
import { answers, ledgerTable, poolBar } from './snapshot-memory.ts';
import { health } from './snapshot-pressure.ts';
import { tools } from './snapshot-tools.ts';

/** Judgement last: it is what stands next to the prompt. */
export function snapshotPage(snapshot: Snapshot, options: RenderOptions): string[] {
  return join([
    header(snapshot, options),
    [poolBar(snapshot.ledger, options), ...ledgerTable(snapshot, options)],
    ownMemory(snapshot, options),
    answers(snapshot, options),
    tools(snapshot, options),
    processes(snapshot, options),
    [...health(snapshot, options), ...libraries(snapshot, options)],
    notes(snapshot, options),
    verdict(snapshot, options),
  ]);
}

/** What is peculiar about the numbers above, in the words of the document. */
function notes({ devices }: Snapshot, options: RenderOptions): string[] {
  const sentences = new Set(devices.flatMap((device) => device.notes));
  return [...sentences].flatMap((sentence) =>
    hanging(options.unicode ? '· ' : '- ', plain(clean(sentence), options), options.width),
  );
}

function plain(sentence: string, { unicode }: RenderOptions): string {
  return unicode ? sentence : sentence.replaceAll('’', "'");
}

interface Section {
  /** 0 is always shown; of the others the lower ones get the room first. */
  rank: number;
  lines: string[];
}

/** The live picture: as many whole sections as `rows` lines have room for. */
export function watchPage(snapshot: Snapshot, history: string[], options: RenderOptions, rows: number): string[] {
  const sections: Section[] = [
    { rank: 0, lines: header(snapshot, options) },
    { rank: 0, lines: [poolBar(snapshot.ledger, options)] },
    { rank: 3, lines: ledgerTable(snapshot, options) },
    { rank: 0, lines: ownMemory(snapshot, options) },
    { rank: 1, lines: answers(snapshot, options) },
    { rank: 2, lines: history },
    { rank: 6, lines: tools(snapshot, options) },
    { rank: 4, lines: processes(snapshot, options) },
    { rank: 5, lines: health(snapshot, options) },
    { rank: 0, lines: verdict(snapshot, options) },
  ];
  let room = rows + 1;
  const shown = new Set<Section>();
  for (const section of [...sections].sort((a, b) => a.rank - b.rank)) {
    const height = section.lines.length === 0 ? 0 : section.lines.length + 1;
    if (section.rank > 0 && height > room) continue;
    shown.add(section);
    room -= height;
  }
  return join(sections.filter((section) => shown.has(section)).map(({ lines }) => lines)).slice(0, rows);
}

function join(sections: readonly string[][]): string[] {
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}
