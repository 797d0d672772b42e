/** Asks a machine for what its recorder has written, by ssh. */

import { UmaError } from '../../base/errors.ts';
import { MiB, typedDuration } from '../../base/format.ts';
import { KEEP_HISTORY } from '../../core/memory/remedies.ts';
import type { ClusterMachine, RecordedSession, RecordReport } from '../../types/index.ts';
import { DocumentReader, Lines } from './documents.ts';
import { DEFAULT_DEADLINE_MS } from './hosts.ts';
import { isValid, type MachineAnswer, onlyDocument, unusable } from './judge.ts';
import { answerAtEnd, notStarted } from './read.ts';
import { remoteWord } from './shell.ts';
import { runBySsh } from './ssh.ts';

/** The part of the recording, as for `readRecord()`; the folder is that of the host. */
export interface AskedRecording {
  lastMs: number;
  sessions: number;
  points: number;
  folder?: string;
}

/** Characters of a document: eight sessions of 1000 points, each with its processes and last seconds, have at most 9 million. */
const MOST_RECORDING = 16 * MiB;

export async function askRecording(
  host: string,
  asked: AskedRecording,
  signal: AbortSignal | undefined,
  deadlineMs = DEFAULT_DEADLINE_MS,
): Promise<RecordReport | ClusterMachine> {
  const line = recordingLine(asked);
  const documents = new DocumentReader(MOST_RECORDING);
  const lines = new Lines((text) => documents.line(text));
  try {
    const end = await runBySsh(host, line, { deadlineMs, signal, onText: (text) => lines.push(text) });
    lines.end();
    documents.end();
    return answerAtEnd({ host, line, deadlineMs, end, found: documents.found }, judgeRecording);
  } catch (error) {
    if (!(error instanceof UmaError)) throw error;
    return notStarted(host, error);
  }
}

function recordingLine({ folder, lastMs, points, sessions }: AskedRecording): string {
  const words = ['umaprobe', 'record', 'show', '--json', '--last', typedDuration(lastMs)];
  words.push('--sessions', `${sessions}`, '--points', `${points}`);
  if (folder !== undefined) words.push('--folder', folder);
  return words.map(remoteWord).join(' ');
}

export function judgeRecording(answer: MachineAnswer): RecordReport | ClusterMachine {
  const { host } = answer;
  const only = onlyDocument(answer, 'recording');
  if ('state' in only) return isNothing(answer) ? unusable(host, 'failed', 'nothing was recorded', KEEP_HISTORY) : only;
  const { document } = only;
  if (isRecording(document)) return document;
  const schema: unknown = Reflect.get(document, 'schema');
  if (typeof schema !== 'string' || !/^umaprobe\/record\/\d+$/.test(schema))
    return unusable(host, 'unreadable', 'what came is JSON, and no recording of umaprobe');
  const because = 'what came is no whole recording, or one of another version of umaprobe';
  return unusable(host, 'other-version', because, 'install the same version there');
}

/** The error of `umaprobe record show` where nothing was recorded. */
function isNothing({ found }: MachineAnswer): boolean {
  const { error } = (found[0]?.document ?? {}) as { error?: { code?: unknown } };
  return error?.code === 'ERR_UMA_NOT_FOUND';
}

/** True if it is as its schema says, with times that exist: charts are drawn from them. */
function isRecording(document: object): document is RecordReport {
  if (!isValid('record', document)) return false;
  const { at, sessions } = document as RecordReport;
  return isTime(Date.parse(at)) && sessions.every(hasTimes);
}

/** The last moment that JavaScript has a date for, in milliseconds. */
const LATEST_MS = 8.64e15;

function hasTimes({ gpus, lastAt, lastSeconds, processSeries, series }: RecordedSession): boolean {
  const starts = [lastAt, ...processSeries.at, ...gpus.flatMap(({ at }) => at)].map((at) => Date.parse(at));
  const ends = [...series, ...lastSeconds].map(({ at, spanMs }) => Date.parse(at) + spanMs);
  return [...starts, ...ends].every(isTime);
}

/** A value that is no time compares as false. */
function isTime(ms: number): boolean {
  return ms <= LATEST_MS;
}
