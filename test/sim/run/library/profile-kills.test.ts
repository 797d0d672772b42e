/**
 * Everything is killed (-9) in each phase of each trial, and the machine starts again: the next run names the
 * configuration, keeps all earlier rows, and --resume goes on below it.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTicks } from '../../../../lib/core/host/process.ts';
import { encode, type JournalRecord } from '../../../../lib/core/journal/records.ts';
import type { ProfileReport } from '../../../../lib/types/index.ts';
import { exitOf, runUmaprobe, startUmaprobe } from '../../../support/cli.ts';
import { newJournalPath, readRecords } from '../../../support/journals.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait.ts';

/** Says in which part of its run it is. With 4 it stays in the first one while there is a file $STAYS. */
const PROGRAM =
  'echo start {bs}; while [ {bs} = 4 ] && [ -e "$STAYS" ]; do sleep 0.05; done; sleep 0.2; echo peak {bs}; sleep 0.2';

/** A simulated machine has just been started; this computer goes on, and the program takes none of its memory. */
type Where = 'gb10' | 'here';

function args(where: Where, journal: string, ...more: string[]): string[] {
  const machine = where === 'here' ? [] : ['--sim', where];
  const options = ['--no-record', '--journal', journal, '--output', '--vary', 'bs=2,4,8'];
  return ['profile', ...machine, ...options, ...more, '--', 'sh', '-c', PROGRAM];
}

function newStay(): string {
  const file = join(temporaryFolder('stays'), 'stays');
  writeFileSync(file, '');
  return file;
}

function nextRun(where: Where, journal: string, ...more: string[]): ProfileReport {
  const { stderr, stdout } = runUmaprobe(args(where, journal, '--json', ...more));
  if (stdout === '') throw new Error(stderr);
  return parseDocument(stdout) as unknown as ProfileReport;
}
const rows = ({ trials }: ProfileReport) => trials.map(({ earlier, params, status }) => [params.bs, status, earlier]);

function recordsOf(journal: string): JournalRecord[] {
  try {
    return readRecords(journal);
  } catch {
    return []; // not made yet, or a record that is being written
  }
}

/** A moment of a trial: when it has come, from the records and the output so far. */
const MOMENTS: readonly (readonly [
  string,
  (trial: number, records: readonly JournalRecord[], output: string) => boolean,
])[] = [
  ['begin', (trial, records) => records.some((one) => one.type === 'trial' && one.number === trial)],
  ['start', (trial, _, output) => output.includes(`start ${2 ** trial}`)],
  ['peak', (trial, _, output) => output.includes(`peak ${2 ** trial}`)],
  ['after', (trial, records) => records.some((one) => one.type === 'trial-after' && one.number === trial)],
];

/** Kills this profile, its guard and its command, each by its own number. */
function killAll(records: readonly JournalRecord[], profile: number): void {
  const kill = (pid: number): void => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {} // it has ended
  };
  kill(profile);
  for (const record of records)
    if (record.type === 'trial-process' && startTicks(record.pid) === record.startTicks) kill(record.pid);
}

const secondCommandOf = (journal: string) =>
  waitFor('the command of trial 2', () =>
    recordsOf(journal).find((one) => one.type === 'trial-process' && one.number === 2),
  );

/** As after the power button: every record is of an earlier boot. */
function startAgain(journal: string): JournalRecord[] {
  const records = readRecords(journal).map((record) => ({ ...record, bootId: 'the-boot-before' }));
  writeFileSync(journal, records.map(encode).join(''));
  return records;
}

async function killedAt(
  trial: number,
  moment: (typeof MOMENTS)[number],
): Promise<{ journal: string; records: JournalRecord[] }> {
  const journal = newJournalPath();
  const child = startUmaprobe(args('gb10', journal));
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = exitOf(child);
  await waitFor(`the ${moment[0]} of trial ${trial}`, () => moment[1](trial, recordsOf(journal), output));
  killAll(recordsOf(journal), child.pid as number);
  expect(await ended).toBe('SIGKILL');
  // A command that had just been started is not in the journal yet; its guard lets it end.
  return { journal, records: startAgain(journal) };
}

describe.each([1, 2, 3])('killed in trial %i (simulated)', (trial) => {
  it.each(MOMENTS)('at its %s', async (...moment) => {
    const { journal, records } = await killedAt(trial, moment);
    const fatal = 2 ** trial;
    const done = records.filter(({ type }) => type === 'trial-end').length;
    // What was over when the signal came is a row.
    if (done === trial) return;
    expect(done).toBe(trial - 1);
    const earlier = [2, 4, 8].filter((bs) => bs < fatal).map((bs) => [bs, 'ok', true]);
    const resumed = nextRun('gb10', journal, '--resume');
    expect(resumed.unfinished).toMatchObject({ otherBoot: true, params: { bs: fatal } });
    expect(resumed.unfinished?.sentence).toMatch(
      new RegExp(`^the machine vanished in trial ${trial}, bs=${fatal}, (while its command ran|after its command)`),
    );
    expect(rows(resumed)).toEqual([...earlier, [fatal, 'machine-lost', false]]);
    expect(resumed.safe?.params ?? null).toEqual(trial === 1 ? null : { bs: fatal / 2 });
    // Without --resume the trials are made again, and the fatal one is not.
    if (trial !== 2) return;
    const anew = nextRun('gb10', journal);
    expect(rows(anew)).toEqual([
      [2, 'ok', false],
      [4, 'machine-lost', false],
    ]);
  });
});

describe('a journal', () => {
  it('of another experiment is not resumed, and stays as it was (simulated)', () => {
    const journal = newJournalPath();
    nextRun('gb10', journal);
    const before = readRecords(journal).length;
    for (const _ of ['first', 'second']) {
      const { code, stderr } = runUmaprobe(args('gb10', journal, '--resume', '--limit', '50GB'));
      expect([code, stderr]).toEqual([
        5,
        expect.stringContaining('it is of another experiment (sh -c echo start {bs}'),
      ]);
    }
    expect(readRecords(journal).slice(0, before).length).toBe(before);
    expect(rows(nextRun('gb10', journal, '--resume'))).toEqual([
      [2, 'ok', true],
      [4, 'ok', true],
      [8, 'ok', true],
    ]);
  });

  it('of a profile that still runs is refused', async () => {
    const journal = newJournalPath();
    const stays = newStay();
    const child = startUmaprobe(args('here', journal), { STAYS: stays });
    const ended = exitOf(child);
    await waitFor('a trial', () => recordsOf(journal).find(({ type }) => type === 'trial'));
    const { code, stderr } = runUmaprobe(args('here', journal));
    rmSync(stays);
    expect([code, stderr]).toEqual([5, expect.stringContaining('a profile of process')]);
    expect(await ended).toBe(0);
  });

  it('of a profile that was killed while the machine went on lets its trial run again', async () => {
    const journal = newJournalPath();
    const child = startUmaprobe(args('here', journal), { STAYS: newStay() });
    const ended = exitOf(child);
    await secondCommandOf(journal);
    killAll(recordsOf(journal), child.pid as number);
    await ended;
    const resumed = nextRun('here', journal, '--resume');
    expect(resumed.unfinished).toMatchObject({ otherBoot: false, params: { bs: 4 } });
    expect(rows(resumed)).toEqual([
      [2, 'ok', true],
      [4, 'ok', false],
      [8, 'ok', false],
    ]);
  });

  it('of a profile that Ctrl-C ended has its rows, and nothing is unfinished', async () => {
    const journal = newJournalPath();
    const child = startUmaprobe(args('here', journal, '--json'), { STAYS: newStay() });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    const ended = exitOf(child);
    await secondCommandOf(journal);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    const report = parseDocument(stdout) as unknown as ProfileReport;
    expect(rows(report)).toEqual([
      [2, 'ok', false],
      [4, 'aborted', false],
    ]);
    expect(report).toMatchObject({ state: 'aborted', safe: { params: { bs: 2 } } });
    const resumed = nextRun('here', journal, '--resume');
    expect(resumed.unfinished).toBeNull();
    expect(rows(resumed).map(([, , earlier]) => earlier)).toEqual([true, false, false]);
  });
});
