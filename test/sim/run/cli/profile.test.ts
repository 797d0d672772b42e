/** The profile command on simulated machines: every way a trial ends, what it is given, and its reports. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProfileReport, ProfileTrial } from '../../../../lib/types/index.ts';
import { CLI, type CliResult, runUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const folder = temporaryFolder('profile');

/** Without a recording: two at a time in one folder are refused. */
function run(...args: string[]): CliResult {
  return runUmaprobe(['profile', '--sim', 'gb10', '--no-record', '--journal', 'none', ...args]);
}
function json(...args: string[]): ProfileReport {
  const { stderr, stdout } = run('--json', ...args);
  if (stdout === '') throw new Error(stderr);
  return parseDocument(stdout) as unknown as ProfileReport;
}
const rows = ({ trials }: ProfileReport) =>
  trials.map(({ params, status }) => `${Object.values(params).join('/')} ${status}`);
const sh = (script: string) => ['--', 'sh', '-c', script];

describe('a trial (simulated)', () => {
  it('fills in arguments, variables and templates', () => {
    const templates = join(folder, 'templates');
    mkdirSync(templates);
    writeFileSync(join(templates, 'train.json'), '{"bs": {bs}, "text": "{{bs}}"}');
    const out = join(folder, 'seen');
    const command = `echo "{bs} $SEQ $(cat {file:train.json}) $1" >> ${out}`;
    const values = ['--vary', 'bs=1,2', '--vary', 'seq=8,16', '--env', 'SEQ=s{seq}', '--templates', templates];
    const report = json(...values, '--', 'sh', '-c', command, 'sh', 'a b;{seq}');
    expect(rows(report)).toEqual(['1/8 ok', '2/8 ok', '1/16 ok', '2/16 ok']);
    expect(readFileSync(out, 'utf8').split('\n').slice(0, 2)).toEqual([
      '1 s8 {"bs": 1, "text": "{bs}"} a b;8',
      '2 s8 {"bs": 2, "text": "{bs}"} a b;8',
    ]);
  });

  it('takes nothing where it takes nothing: free pages in the processors’ lists are available at each time', () => {
    const machine = machineFile('lists', { memory: { freeInCpuLists: 4 * GiB } });
    const where = ['--sim', machine, '--no-record', '--journal', 'none', '--json'];
    const { stdout } = runUmaprobe(['profile', ...where, '--vary', 'n=0.2', '--', 'sleep', '{n}']);
    const { phases, peakBytes } = (parseDocument(stdout) as unknown as ProfileReport).trials[0] as ProfileTrial;
    for (const bytes of [peakBytes, phases.plateau, phases.after])
      expect(Math.abs((bytes ?? 0) - (phases.start ?? 0))).toBeLessThan(GiB);
  });

  it('ends at a line, after some steps, or with the command; the metric is of its last line', () => {
    const steps =
      'i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo "step $i 1,0$i.5 tok/s {n}"; sleep 0.02; done; echo end';
    const byStep = json(
      '--vary',
      'n=1',
      '--steps',
      '^step',
      '--step-count',
      '4',
      '--metric',
      '([0-9.,]+) tok/s',
      ...sh(steps),
    );
    expect(byStep.trials[0]).toMatchObject({ status: 'ok', notes: null });
    expect(byStep.trials[0]?.metric).toBeLessThan(1030);
    const ready = json('--vary', 'n=1', '--ready', 'step 3 ', ...sh(`${steps}; sleep 60`));
    expect(ready.trials[0]).toMatchObject({ status: 'ok' });
    expect(ready.durationMs).toBeLessThan(15_000);
    const byItself = json(
      '--vary',
      'n=1',
      '--ready',
      'never',
      '--steps',
      '^step',
      '--step-count',
      '99',
      ...sh('echo step {n}'),
    );
    expect(byItself.trials[0]).toMatchObject({ status: 'ok', notes: 'it ended after 1 of 99 steps' });
  });

  it('that fails, is ended by a signal or takes too long is not safe, and what failed is quoted', () => {
    const failed = json('--vary', 'n=1,2,4', ...sh('[ {n} -lt 2 ] || { echo CUDA out of memory >&2; exit 3; }'));
    expect(rows(failed)).toEqual(['1 ok', '2 out-of-memory']);
    expect(failed.trials[1]).toMatchObject({ exitCode: 3, notes: 'exit code 3: CUDA out of memory' });
    const signal = json('--vary', 'n=1,2', ...sh('kill -SEGV $$ {n}'));
    expect(signal).toMatchObject({ state: 'failed', safe: null, trials: [{ signal: 'SIGSEGV' }] });
    const late = json('--vary', 'n=1', '--trial-time', '300ms', ...sh('sleep 30 {n}'));
    expect(late.trials[0]).toMatchObject({ status: 'failed', notes: 'it ran longer than 300 ms' });
  });
});

describe('memory that does not come back (simulated)', () => {
  it('ends the profile: the next trial would be measured too small', () => {
    const events = [{ atMs: 0, afterFirstAllocation: true, what: 'anon', bytes: 8 * GiB }];
    const where = ['--sim', machineFile('kept', { events }), '--no-record', '--journal', 'none', '--json'];
    const grow = [process.execPath, CLI, 'sim', 'grow', '--gpu', '--curve', '0.1s:{n}GB'];
    const { code, stdout } = runUmaprobe(['profile', ...where, '--wait', '2s', '--vary', 'n=1,2', '--', ...grow]);
    const report = parseDocument(stdout) as unknown as ProfileReport;
    expect([code, report.state, rows(report)]).toEqual([6, 'not-clean', ['1 ok']]);
    expect(report.reason).toMatch(/^After n=1: .* did not come back within 2\.00 s, /);
  });
});

describe('a bisection (simulated)', () => {
  it('finds the largest number', () => {
    const report = json('--bisect', 'slots=1..64', ...sh('[ {slots} -le 37 ]'));
    expect(report.safe?.params.slots).toBeGreaterThanOrEqual(36);
    expect(report.safe?.params.slots).toBeLessThanOrEqual(37);
    expect(report.bisection).toEqual({ name: 'slots', from: 1, to: 64 });
  });
});

describe('output (simulated)', () => {
  it('is a table with the answer, Markdown and CSV', () => {
    const { code, stderr, stdout } = run('--vary', 'n=1,2', '--output', ...sh('echo hello {n}'));
    expect(code).toBe(0);
    expect(stderr).toContain('hello 2');
    expect(stdout).toContain('SIMULATED  machine gb10');
    expect(stdout).toContain('SAFE  n 2 is the largest safe configuration');
    const markdown = run('--vary', 'n=1', '--markdown', '-', ...sh(': {n}'));
    expect(markdown.stdout).toContain('| n | peak\\_mem\\_gb |');
    const csv = run('--vary', 'n=1', '--csv', '-', ...sh(': {n}'));
    expect(csv.stdout).toMatch(/^trial,at,simulated,boot_id,n,peak_mem_gb/);
  });
});

describe('wrong usage', () => {
  it('of a program that is not there is said before anything is lost', () => {
    const { code, stderr } = run('--vary', 'n=1', '--', 'no-such-program', '{n}');
    expect(code).toBe(1);
    expect(stderr).toContain('start no-such-program: there is no such program (ENOENT');
  });

  it('does not explode: a line of 20,000 characters and a nested repetition take no time', () => {
    const before = performance.now();
    const report = json(
      '--vary',
      'n=1',
      '--ready',
      '(a+)+$',
      '--metric',
      '((x+x+)+)y',
      ...sh('head -c 20000 /dev/zero | tr "\\0" a; echo "! {n}"; head -c 20000 /dev/zero | tr "\\0" x; echo'),
    );
    expect(report.trials[0]?.status).toBe('ok');
    expect(performance.now() - before).toBeLessThan(15_000);
  });
});
