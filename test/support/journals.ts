/** A journal of which the last run vanished while taking 96 GiB to 100 GiB. */

import { encode, type JournalRecord } from '../../lib/journal/records.ts';

export const heading = { command: 'stress', device: 0, simulated: null, bootId: 'boot-b' } as const;
export const at = '2026-11-20T19:00:00.000Z';
export const GiB = 2 ** 30;
/** A process that is gone: no pid is this large. */
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
export const end = (run: string): JournalRecord => ({ type: 'end', run, at, bootId: 'boot-a', state: 'done' });

/** "The machine vanished while taking 96 GiB to 100 GiB." */
export const lost = [begin('one'), step('one', 0, 96 * GiB), result('one', 96 * GiB), step('one', 96 * GiB, 100 * GiB)];
export const whole = [...[begin('zero'), step('zero', 0, GiB), result('zero', GiB), end('zero')], ...lost];
export const bytesOf = (records: JournalRecord[]) => Buffer.from(records.map(encode).join(''));
export const machine = { simulated: null, bootId: 'boot-b' };
export const dead = () => false;
