/** What a journal says about the runs of an experiment before: their rows, and the configuration that was fatal. */

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../lib/core/journal/index.ts';
import { encode, type JournalRecord } from '../../../../lib/core/journal/records.ts';
import { earlierRuns, experimentOf, nothingToResume } from '../../../../lib/run/profile/journal.ts';
import { gone, newJournalPath, readRecords } from '../../../support/journals.ts';
import { trialOf } from '../../../support/profiles.ts';
import { GB } from '../../../support/units.ts';

const at = '2026-11-20T19:00:00.000Z';
const begin = (run: string, { bootId = 'boot-a', id = 'x', resumes = false } = {}): JournalRecord => ({
  type: 'begin',
  run,
  at,
  bootId,
  ...gone,
  command: 'profile',
  simulated: null,
  device: null,
  experiment: { id, title: 'python train.py', resumes },
});
const common = (run: string, bootId = 'boot-a') => ({ run, at, bootId });
const trial = (run: string, number: number, bs: number, bootId?: string): JournalRecord => ({
  type: 'trial',
  ...common(run, bootId),
  number,
  params: { bs },
});
const after = (run: string, number: number): JournalRecord => ({ type: 'trial-after', ...common(run), number });
const done = (run: string, number: number, bs: number, gb: number): JournalRecord => ({
  type: 'trial-end',
  ...common(run),
  trial: trialOf({ bs }, gb * GB, { number }),
});
const end = (run: string): JournalRecord => ({ type: 'end', ...common(run), state: 'complete' });

const machine = { bootId: 'boot-b', simulated: null };
const oneDone = [begin('one'), trial('one', 1, 2), done('one', 1, 2, 21)];

describe('a run that was lost', () => {
  it('while a command ran names the configuration, which is fatal after another boot', () => {
    const records = [...oneDone, trial('one', 2, 4)];
    const earlier = earlierRuns(records, 'x', machine);
    expect(earlier?.unfinished).toEqual({
      at,
      otherBoot: true,
      params: { bs: 4 },
      sentence: `the machine vanished in trial 2, bs=4, while its command ran (${at}, boot boot-a)`,
    });
    expect(earlier?.fatal).toEqual([{ params: { bs: 4 }, at }]);
    expect(earlier?.trials.map(({ params }) => params)).toEqual([{ bs: 2 }]);
  });

  it('after the command, before the memory was back, names it as well', () => {
    const earlier = earlierRuns([...oneDone, trial('one', 2, 4), after('one', 2)], 'x', machine);
    expect(earlier?.unfinished?.sentence).toContain('after its command had ended, before the memory was back');
    expect(earlier?.fatal).toHaveLength(1);
  });

  it('between trials has no fatal one', () => {
    const earlier = earlierRuns(oneDone, 'x', machine);
    expect(earlier?.unfinished).toMatchObject({ params: null, otherBoot: true });
    expect(earlier?.fatal).toEqual([]);
  });

  it('while the machine went on is named, and its trial may run again', () => {
    const earlier = earlierRuns([...oneDone, trial('one', 2, 4)], 'x', { bootId: 'boot-a', simulated: null });
    expect(earlier?.unfinished).toMatchObject({ otherBoot: false, params: { bs: 4 } });
    expect(earlier?.unfinished?.sentence).toContain('the machine was not restarted');
    expect(earlier?.fatal).toEqual([]);
  });

  it('where no boot has an id counts as one of which the machine vanished', () => {
    const nowhere = (record: JournalRecord): JournalRecord => ({ ...record, bootId: null });
    const records = [...oneDone, trial('one', 2, 4)].map(nowhere);
    const earlier = earlierRuns(records, 'x', { bootId: null, simulated: null });
    expect(earlier?.fatal).toEqual([{ params: { bs: 4 }, at }]);
    expect(earlier?.unfinished).toMatchObject({ otherBoot: true });
  });

  it('on another machine, or of another experiment, says nothing', () => {
    const records = [...oneDone, trial('one', 2, 4)];
    expect(earlierRuns(records, 'y', machine)).toBeNull();
    expect(earlierRuns(records, 'x', { bootId: 'boot-b', simulated: 'gb10' })).toBeNull();
    expect(nothingToResume('/j', records, 'y').message).toContain('it is of another experiment (python train.py)');
    expect(nothingToResume('/j', [...records, begin('two', { id: 'y' }), end('two')], 'y').message).toContain(
      'python train.py',
    );
    expect(nothingToResume('/j', [], 'y').message).toContain('it has no run of a profile');
  });
});

describe('runs that go on with one another', () => {
  it('keep their rows, the newest of each configuration, and every fatal one', () => {
    const records = [
      ...oneDone,
      trial('one', 2, 8),
      begin('two', { resumes: true, bootId: 'boot-b' }),
      trial('two', 2, 4, 'boot-b'),
      done('two', 2, 4, 29),
      end('two'),
    ];
    const earlier = earlierRuns(records, 'x', { bootId: 'boot-c', simulated: null });
    expect(earlier?.trials.map(({ params, peakBytes }) => [params.bs, peakBytes])).toEqual([
      [2, 21 * GB],
      [4, 29 * GB],
    ]);
    expect(earlier?.fatal.map(({ params }) => params)).toEqual([{ bs: 8 }]);
    expect(earlier?.unfinished).toBeNull();
  });

  it('of a configuration that was fatal later have no row any more', () => {
    const records = [...oneDone, end('one'), begin('two', { resumes: true }), trial('two', 1, 2)];
    const earlier = earlierRuns(records, 'x', machine);
    expect(earlier?.trials).toEqual([]);
    expect(earlier?.fatal.map(({ params }) => params)).toEqual([{ bs: 2 }]);
  });

  it('begin anew where the last one did, and the fatal configuration stays fatal', () => {
    const records = [...oneDone, trial('one', 2, 8), begin('two'), trial('two', 1, 2), done('two', 1, 2, 22)];
    const earlier = earlierRuns(records, 'x', machine);
    expect(earlier?.trials.map(({ peakBytes }) => peakBytes)).toEqual([22 * GB]);
    expect(earlier?.fatal.map(({ params }) => params)).toEqual([{ bs: 8 }]);
  });
});

describe('a run that ended before its first trial', () => {
  it('is nothing to resume, and hides no run before it', () => {
    expect(earlierRuns([begin('one'), end('one')], 'x', machine)).toBeNull();
    const records = [...oneDone, begin('two', { resumes: false }), end('two')];
    expect(earlierRuns(records, 'x', machine)?.trials).toHaveLength(1);
    // One that was lost there is named.
    expect(earlierRuns([begin('one')], 'x', machine)?.unfinished).toMatchObject({ params: null });
  });
});

describe('a trial whose command could not be started', () => {
  it('is not fatal: the run ended, and the machine went on', () => {
    const earlier = earlierRuns([...oneDone, trial('one', 2, 4), end('one')], 'x', machine);
    expect([earlier?.fatal, earlier?.unfinished]).toEqual([[], null]);
  });
});

describe('an experiment', () => {
  const one = {
    command: ['a', '{x}'],
    env: { A: '1', B: '2' },
    templates: {},
    plan: [['x', [1, 2]]],
    limitBytes: 5,
    pool: 'host',
  } as const;

  it('is the same whatever the order of its variables, and another one with any other value', () => {
    const { id } = experimentOf(one);
    expect(experimentOf({ ...one, env: { B: '2', A: '1' } }).id).toBe(id);
    for (const more of [
      { command: ['a {x}'] },
      { env: {} },
      { templates: { t: '' } },
      { plan: [] },
      { limitBytes: 6 },
      { pool: 'gpu' as const },
    ])
      expect(experimentOf({ ...one, ...more }).id).not.toBe(id);
  });
});

describe('the journal', () => {
  const heading = {
    command: 'profile',
    device: null,
    simulated: null,
    bootId: 'boot-b',
    experiment: { id: 'x', title: 'a', resumes: false },
  } as const;

  it('has every record of a run on disk, and hands the earlier ones to the next', () => {
    const path = newJournalPath();
    const journal = openJournal(path, heading);
    journal.commit({ type: 'trial', number: 1, params: { bs: 2 } });
    journal.commit({ type: 'trial-after', number: 1 });
    journal.commit({ type: 'trial-end', trial: trialOf({ bs: 2 }, GB) });
    expect(readRecords(path).map(({ type }) => type)).toEqual(['begin', 'trial', 'trial-after', 'trial-end']);
    journal.commit({ type: 'end', state: 'complete' });
    journal.close();
    const next = openJournal(path, heading);
    expect(next.unfinished).toBeNull();
    expect(earlierRuns(next.earlier, 'x', heading)?.trials).toEqual([trialOf({ bs: 2 }, GB)]);
    next.close();
  });

  it('keeps the trials of a lost run when it is compacted', () => {
    const path = newJournalPath();
    openJournal(path, heading).close();
    const many = Array.from({ length: 900 }, (_, index) => done('one', index, index, 1));
    const old = [begin('zero'), end('zero'), begin('one'), ...many, trial('one', 901, 901)];
    writeFileSync(path, old.map(encode).join(''), { mode: 0o600 });
    const next = openJournal(path, { ...heading, bootId: 'boot-c' });
    next.close();
    expect(readFileSync(path).length).toBeGreaterThan(0);
    const kept = earlierRuns(readRecords(path).slice(0, -1), 'x', { bootId: 'boot-c', simulated: null });
    expect(kept?.trials).toHaveLength(900);
    expect(kept?.fatal).toEqual([{ params: { bs: 901 }, at }]);
  });
});
