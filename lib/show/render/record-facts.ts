/** End and figures of a recorded session, for the terminal and for the page. */
import { formatBytes, formatCount, formatDuration, inGiB } from '../../base/format.ts';
import type { FastestChange, RecordedGpu, RecordedGrowth, RecordedSession, SessionEnd } from '../../types/index.ts';

interface EndFacts {
  label: string;
  style: 'ok' | 'notice' | 'warning' | 'danger';
  sentence: string;
}

const ENDS: Readonly<Record<SessionEnd, EndFacts>> = {
  running: { label: 'RUNNING', style: 'ok', sentence: 'The recording goes on.' },
  complete: { label: 'ENDED', style: 'ok', sentence: 'The recorder was stopped' },
  'shut-down': { label: 'SHUT DOWN', style: 'ok', sentence: 'The machine was shut down.' },
  'machine-lost': {
    label: 'MACHINE LOST',
    style: 'danger',
    sentence: 'The machine stopped without a shutdown: a freeze, the power button or a reset.',
  },
  lost: { label: 'LOST', style: 'warning', sentence: 'The recorder was killed, and the machine went on.' },
  unknown: { label: 'UNKNOWN', style: 'notice', sentence: 'How it ended is not known: there is no boot id.' },
};

export function endOf({ end, endReason }: Pick<RecordedSession, 'end' | 'endReason'>): EndFacts {
  const facts = ENDS[end];
  if (end !== 'complete') return facts;
  return { ...facts, sentence: `${facts.sentence}${endReason === null ? '' : ` (${endReason})`}.` };
}

/** "2026-11-22 09:09:54". */
export function dayAndTime(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

/** "09:09:54.303". */
export function timeOfDay(at: string): string {
  return at.slice(11, 23);
}

/** "2026-11-22 09:09:54 to 09:12:00 UTC, 2 min 6 s". */
export function spanText({ durationMs, lastAt, startedAt }: RecordedSession): string {
  const sameDay = startedAt.slice(0, 10) === lastAt.slice(0, 10);
  const end = sameDay ? lastAt.slice(11, 19) : dayAndTime(lastAt);
  return `${dayAndTime(startedAt)} to ${end} UTC, ${formatDuration(durationMs)}`;
}

function belowFloorText({ belowFloorMs, floor }: RecordedSession): string {
  return belowFloorMs > 0
    ? `${formatDuration(belowFloorMs)} below ${formatBytes(floor)}`
    : `never (${formatBytes(floor)})`;
}

/** "1.25 GiB/s at 09:09:54.303"; null: it never moved. */
function rateText(change: FastestChange | null): string | null {
  return change === null ? null : `${inGiB(change.bytesPerSecond)} GiB/s at ${timeOfDay(change.at)}`;
}

/** "NVIDIA GB10, driver 580.142"; null: there is none. */
function gpuText({ deviceName, driverVersion }: RecordedSession): string | null {
  if (deviceName === null && driverVersion === null) return null;
  return [deviceName ?? 'unnamed GPU', ...(driverVersion === null ? [] : [`driver ${driverVersion}`])].join(', ');
}

/** "121.3 GiB of 139.8 GiB free at 09:09:54.303; python (4711) held 18.2 GiB". */
function lowestGpuText({ lowestFree: { at, bytes, holders }, total }: RecordedGpu): string {
  const held = holders.map(
    ({ gpuBytes, name, pid }) =>
      `${name ?? 'a program'} (${pid}) held ${gpuBytes === null ? 'an unknown size' : formatBytes(gpuBytes)}`,
  );
  return [`${formatBytes(bytes)} of ${formatBytes(total)} free at ${timeOfDay(at)}`, ...held].join('; ');
}

/** The figures of a session by name; null is left out. */
export function figuresOf(session: RecordedSession): [name: string, value: string | null][] {
  const { lostFrames, lowestAvailable, lowestFree } = session;
  const lowest = (value: RecordedSession['lowestFree']) =>
    value && `${formatBytes(value.bytes)} at ${timeOfDay(value.at)}`;
  return [
    ['lowest available', lowest(lowestAvailable)],
    ['lowest free', lowest(lowestFree)],
    ...session.gpus.map((gpu): [string, string] => [`lowest on GPU ${gpu.index}`, lowestGpuText(gpu)]),
    ['below the floor', belowFloorText(session)],
    ['fastest fall', rateText(session.fastestFall)],
    ['fastest rise', rateText(session.fastestRise)],
    ['GPU and driver', gpuText(session)],
    ['lost frames', lostFrames > 0 ? formatCount(lostFrames) : null],
  ];
}

/** "python3 (1234) grew by 1.8 GiB per hour over 9 h 0 min, by 16.2 GiB in all. At this rate …" */
export function growthText({ bytes, bytesPerHour, from, memory, name, pid, to, usedUpInMs }: RecordedGrowth): string {
  const where = memory === 'gpu' ? ' of GPU memory' : '';
  const over = formatDuration(Date.parse(to) - Date.parse(from));
  const grew = `${name ?? 'A process'} (${pid}) grew by ${formatBytes(bytesPerHour)}${where} per hour over ${over}, by ${formatBytes(bytes)} in all.`;
  if (usedUpInMs === null) return grew;
  return `${grew} At this rate what was left above the floor is used up in ${formatDuration(usedUpInMs)}.`;
}

/** "largest processes 2.10 s before the lowest available"; null: there is no list. */
export function lowestProcessesTitle({ lowestAvailable, lowestProcesses }: RecordedSession): string | null {
  if (lowestAvailable === null || lowestProcesses === null) return null;
  const afterMs = Date.parse(lowestProcesses.at) - Date.parse(lowestAvailable.at);
  return `largest processes ${formatDuration(Math.abs(afterMs))} ${afterMs > 0 ? 'after' : 'before'} the lowest available`;
}
