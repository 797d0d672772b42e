/** Journals: made-up records, and the journals of probes. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode, type JournalRecord, parseJournal } from '../../lib/core/journal/records.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { GiB } from './units.ts';

/** The path of a journal that does not exist yet. */
export function newJournalPath(): string {
  return join(temporaryFolder('journal'), 'journal.jsonl');
}

export function readRecords(path: string): JournalRecord[] {
  const parsed = parseJournal(readFileSync(path));
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed.records;
}

export const heading = { command: 'stress', device: 0, simulated: null, bootId: 'boot-b' } as const;
export const at = '2026-11-20T19:00:00.000Z';
/** A process that does not exist: no pid is this large. */
export const gone = { pid: 4_194_400, startTicks: 1 };

export const begin = (run: string, bootId = 'boot-a'): JournalRecord => ({
  type: 'begin',
  run,
  at,
  bootId,
  ...gone,
  command: 'stress',
  simulated: null,
  device: 0,
});
export const step = (run: string, held: number, target: number, bootId = 'boot-a'): JournalRecord => ({
  type: 'step',
  run,
  at,
  bootId,
  ...gone,
  kind: 'device',
  heldBytes: held,
  targetBytes: target,
});
export const result = (run: string, held: number): JournalRecord => ({
  type: 'result',
  run,
  at,
  bootId: 'boot-a',
  state: 'ok',
  heldBytes: held,
});
export const end = (run: string): JournalRecord => ({ type: 'end', run, at, bootId: 'boot-a', state: 'complete' });

/** The run ended without a result while it went from 96 GiB to 100 GiB. */
export const lost = [begin('one'), step('one', 0, 96 * GiB), result('one', 96 * GiB), step('one', 96 * GiB, 100 * GiB)];
/** A run that ended well, and one that was lost. */
export const whole = [...[begin('zero'), step('zero', 0, GiB), result('zero', GiB), end('zero')], ...lost];
export const bytesOf = (records: JournalRecord[]) => Buffer.from(records.map(encode).join(''));
/** The machine that reads the journal, booted again since. */
export const laterBoot = { simulated: null, bootId: 'boot-b' };
export const dead = () => false;
