/** Reads a recording and says what happened in each session. */

import { isFailure } from '../../base/facts.ts';
import type { CheckedOf } from '../../base/options.ts';
import { kernelFiles } from '../../core/host/files.ts';
import { native } from '../../core/native/binding.ts';
import type { RecordedSession, RecordReport, SessionEnd } from '../../types/index.ts';
import { folderOf } from './folder.ts';
import type { SegmentHeader } from './format.ts';
import { isRecording } from './live.ts';
import type { READ_RECORD } from './options.ts';
import { SegmentFolder, type SessionFiles } from './segments.ts';
import { type SessionSpan, SessionTally } from './tally.ts';

type CheckedRecordingOptions = CheckedOf<typeof READ_RECORD>;

export async function readRecording(settings: CheckedRecordingOptions): Promise<RecordReport> {
  const started = performance.now();
  const binding = native();
  const machine = binding.simulatedMachine();
  const folder = folderOf(settings.folder, isFailure(machine) ? null : machine);
  const segments = new SegmentFolder(folder, settings.signal);
  const all = await segments.sessions();
  const chosen = settings.sessions === null ? all : all.slice(-settings.sessions);
  const [bootId] = await kernelFiles(binding).read(['/proc/sys/kernel/random/boot_id']);
  const now = { bootId: typeof bootId === 'string' ? bootId.trim() : null, recording: isRecording(folder) };
  const sessions: RecordedSession[] = [];
  for (const files of chosen) {
    const recording = now.recording && files === all.at(-1);
    sessions.push(await readSession(segments, files, settings, { ...now, recording }));
  }
  return {
    schema: 'umaprobe/record/1',
    at: new Date().toISOString(),
    folder,
    sessions,
    problems: segments.problems,
    durationMs: performance.now() - started,
  };
}

interface Now {
  bootId: string | null;
  /** A process holds the lock of the folder, and this is the last session. */
  recording: boolean;
}

/** First its beginning and its end, then everything between: bins need their span before the first frame. */
async function readSession(
  folder: SegmentFolder,
  { header, segments }: SessionFiles,
  { lastMs, points }: CheckedRecordingOptions,
  now: Now,
): Promise<RecordedSession> {
  const { endUs, startUs } = await boundsOf(folder, { header, segments });
  const span: SessionSpan = {
    startUs,
    endUs,
    fromUs: lastMs === null ? Number.NEGATIVE_INFINITY : endUs - lastMs * 1000,
  };
  const tally = new SessionTally(header, span, points);
  for (const [index, { path }] of segments.entries()) {
    // The next segment began before the requested time: this one ended before it.
    if ((segments[index + 1]?.header.bootUs ?? Number.POSITIVE_INFINITY) < span.fromUs) continue;
    await folder.records(path, folder.problems, (record) => {
      tally.add(record);
      return true;
    });
  }
  return tally.report(howItEnded(header, tally.endNote, now));
}

/** Damage is reported by the reading of everything, and not here. */
async function boundsOf(
  folder: SegmentFolder,
  { header, segments }: SessionFiles,
): Promise<{ startUs: number; endUs: number }> {
  const seen: { startUs?: number; endUs?: number; noteUs?: number } = {};
  for (const { path } of segments) {
    await folder.records(path, [], (record) => {
      if (record.kind === 'frame') seen.startUs = record.bootUs;
      return seen.startUs === undefined;
    });
    if (seen.startUs !== undefined) break;
  }
  for (const { path } of segments.toReversed()) {
    await folder.records(path, [], (record) => {
      if (record.kind === 'frame') seen.endUs = record.bootUs + record.durationUs;
      else seen.noteUs = record.bootUs;
      return true;
    });
    if (seen.endUs !== undefined) break;
  }
  const { startUs = header.bootUs, endUs = seen.noteUs ?? header.bootUs } = seen;
  return { startUs, endUs };
}

function howItEnded(header: SegmentHeader, end: Record<string, unknown> | null, now: Now): SessionEnd {
  if (end !== null) return end.shuttingDown === true ? 'shut-down' : 'complete';
  if (now.recording) return 'running';
  if (header.bootId === null || now.bootId === null) return 'unknown';
  return header.bootId === now.bootId ? 'lost' : 'machine-lost';
}
