/** Two recordings: the newest session of each, the lowest memory and who held the most. */

import { formatDuration } from '../../base/format.ts';
import type { ComparedRow, ComparedSide, CompareReport, RecordedSession, RecordReport } from '../../types/index.ts';
import { differing, directionOf, holdingRows, holdings, row, textOf } from './rows.ts';
import { changeSentence, grewSentence } from './sentences.ts';

export function compareRecords(first: RecordReport, second: RecordReport): CompareReport {
  const [a, b] = [newest(first), newest(second)];
  const bytes = (name: string, of: (session: RecordedSession) => number | null | undefined, path: string) =>
    row('memory', name, 'bytes', [of(a), of(b)], path);
  const lowest = row(
    'answer',
    'lowest available',
    'bytes',
    [a.lowestAvailable?.bytes, b.lowestAvailable?.bytes],
    'lowestAvailable.bytes',
  );
  // Recordings list the largest processes only: one that is missing may have held something.
  const holders = holdingRows(
    'programs',
    [highest(a), highest(b)],
    [false, false],
    'processSeries.processes[].highestHeld',
  );
  const all = [
    lowest,
    row('answer', 'lowest free', 'bytes', [a.lowestFree?.bytes, b.lowestFree?.bytes], 'lowestFree.bytes'),
    row('answer', 'below the floor', 'ms', [a.belowFloorMs, b.belowFloorMs], 'belowFloorMs'),
    row('answer', 'duration', 'ms', [a.durationMs, b.durationMs], 'durationMs'),
    ...holders,
    bytes('total', ({ total }) => total, 'total'),
    bytes('floor', ({ floor }) => floor, 'floor'),
    // No transient, and memory that never moved, are known to be none.
    bytes('deepest transient', ({ transients }) => transients[0]?.bytes ?? 0, 'transients[0].bytes'),
    ...(['fastestFall', 'fastestRise'] as const).map((name) =>
      row(
        'memory',
        name === 'fastestFall' ? 'fastest fall' : 'fastest rise',
        'bytesPerSecond',
        [a[name]?.bytesPerSecond ?? 0, b[name]?.bytesPerSecond ?? 0],
        name,
      ),
    ),
    ...gpuRows(a, b),
    row('settings', 'driver', 'text', [a.driverVersion, b.driverVersion], 'driverVersion'),
    row('settings', 'interval of readings', 'ms', [a.intervalMs, b.intervalMs], 'intervalMs'),
  ];
  const answer =
    lowest.a === lowest.b
      ? 'The lowest available memory is the same.'
      : changeSentence(lowest, 'was available at the lowest');
  return {
    schema: 'umaprobe/compare/1',
    kind: 'record',
    a: sideOf(a),
    b: sideOf(b),
    summary: [answer, grewSentence(holders, 'at its peak')].filter((text) => text !== null).join(' '),
    direction: directionOf(lowest),
    ...differing(all),
    findings: [],
    notes: notesOf(first, second, a, b),
  };
}

/** Sessions are listed from the oldest on, and there is at least one. */
function newest({ sessions }: RecordReport): RecordedSession {
  return sessions.at(-1) as RecordedSession;
}

function sideOf({ deviceName, durationMs, end, endReason, simulated, startedAt }: RecordedSession): ComparedSide {
  const text = `${end} after ${formatDuration(durationMs)}${endReason === null ? '' : ` (${endReason})`}`;
  return {
    at: textOf(startedAt) ?? '',
    simulated: textOf(simulated),
    device: textOf(deviceName),
    verdict: { level: null, text },
  };
}

/** The most that a program of each name held; several of one name add up. */
function highest({ processSeries }: RecordedSession) {
  return holdings(processSeries.processes.map(({ highestHeld, name }) => [name ?? 'unnamed', highestHeld]));
}

function gpuRows(a: RecordedSession, b: RecordedSession): ComparedRow[] {
  const indexes = [...new Set([...a.gpus, ...b.gpus].map(({ index }) => index))];
  const lowest = ({ gpus }: RecordedSession, index: number) =>
    gpus.find((gpu) => gpu.index === index)?.lowestFree.bytes;
  return indexes.map((index) =>
    row(
      `GPU ${index}`,
      'lowest free',
      'bytes',
      [lowest(a, index), lowest(b, index)],
      `gpus[${index}].lowestFree.bytes`,
    ),
  );
}

function notesOf(first: RecordReport, second: RecordReport, a: RecordedSession, b: RecordedSession): string[] {
  const notes: string[] = [];
  for (const [side, { sessions }] of [
    ['A', first],
    ['B', second],
  ] as const)
    if (sessions.length > 1) notes.push(`${side} has ${sessions.length} sessions; the newest is compared.`);
  if (a.hostName !== b.hostName || a.deviceName !== b.deviceName) notes.push('The two are of different machines.');
  for (const [side, { problems }] of [
    ['A', first],
    ['B', second],
  ] as const)
    if (problems.length > 0) notes.push(`${side} has bytes that could not be read.`);
  return notes;
}
