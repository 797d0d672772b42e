/** umaprobe compare: what it reads, and one line for what it cannot compare. All *simulated*. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CompareReport } from '../../../../lib/types/index.ts';
import { runUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const folder = temporaryFolder('compare');
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const printed = (name: string, ...args: string[]) => file(name, runUmaprobe([...args, '--json']).stdout);
const compareJson = (...args: string[]): CompareReport => {
  const ran = runUmaprobe(['compare', ...args, '--json']);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  return parseDocument(ran.stdout) as unknown as CompareReport;
};

let idle = '';
let busy = '';
let sweep = '';
beforeAll(() => {
  idle = printed('idle.json', 'snapshot', '--sim', 'gb10');
  busy = printed('busy.json', 'snapshot', '--sim', 'gb10-busy');
  sweep = printed('sweep.json', 'sweep', '--sim', 'gb10', '--sizes', '1GB,2GB', '--journal', 'none');
});

describe('umaprobe compare', () => {
  it('compares files of snapshots, and machines by a snapshot of each', () => {
    const files = compareJson(idle, busy);
    expect(files.rows).toContainEqual(
      expect.objectContaining({ section: 'programs', name: 'VLLM::EngineCor', a: 0, b: 70 * GiB, change: 70 * GiB }),
    );
    const machines = compareJson('gb10', machineFile('other', { extends: 'gb10-busy' }));
    const changes = ({ rows }: CompareReport) => rows.map(({ change, name }) => [name, change]);
    expect(changes(machines)).toEqual(changes(files));
    expect(compareJson(busy, idle)).toMatchObject({ direction: 'more' });
  });

  it('compares processes, sweeps, and folders of record', () => {
    const processes = (machine: string) => printed(`${machine}.processes.json`, 'processes', '--sim', machine);
    expect(compareJson(processes('gb10'), processes('gb10-busy'))).toMatchObject({
      kind: 'processes',
      direction: 'less',
    });
    expect(compareJson(sweep, sweep)).toMatchObject({ kind: 'sweep', direction: 'alike', rows: [] });
    const recording = join(folder, 'recording');
    runUmaprobe(['record', '--duration', '1s', '--folder', recording, '--sim', 'gb10']);
    expect(compareJson(recording, recording)).toMatchObject({ kind: 'record', direction: 'alike', rows: [] });
  });

  it('writes a page', () => {
    const page = join(folder, 'compare.html');
    const ran = runUmaprobe(['compare', idle, busy, '--html', page]);
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringMatching(/compare\.html: [\d.]+ KiB written/) });
    expect(readFileSync(page, 'utf8')).toContain('VLLM::EngineCor');
    const over = runUmaprobe(['compare', idle, busy, '--html', idle]);
    expect(over).toMatchObject({ code: 2, stderr: expect.stringContaining('one would overwrite the other') });
  });

  it('says in one line what cannot be compared', () => {
    mkdirSync(join(folder, 'empty'));
    const lines = file('lines.json', `${readFileSync(idle, 'utf8')}\n{}`);
    const part = file('part.json', '{"schema":"umaprobe/snapshot/1","host":{}}');
    const stress = file('stress.json', '{"schema":"umaprobe/stress/1"}');
    const none = file('none.json', '{"a":1}');
    const cases: [string[], RegExp][] = [
      [[idle, sweep], /idle\.json" is a snapshot, and ".*sweep\.json" is a sweep: name two of one kind\./],
      [
        [idle, lines],
        /lines\.json" is not one JSON document; expected what snapshot, processes, sweep or record show print/,
      ],
      [[idle, part], /b is umaprobe\/snapshot\/1 without its part "ledger"/],
      [[idle, stress], /stress\.json" has the schema "umaprobe\/stress\/1"; expected/],
      [[idle, none], /none\.json" has no schema; expected/],
      [[idle, join(folder, 'missing.json')], /missing\.json.*there is no such file/],
      [[idle, 'gb11'], /There is no simulated machine "gb11"\. Did you mean gb10\?/],
      [[join(folder, 'empty'), idle], /empty" is a folder without a recording; expected/],
      [[idle], /An argument is missing: umaprobe compare <file\|folder\|name> <file/],
    ];
    for (const [args, message] of cases) {
      const ran = runUmaprobe(['compare', ...args]);
      expect(ran, args.join(' ')).toMatchObject({ stdout: '', stderr: expect.stringMatching(message) });
      expect(ran.code, args.join(' ')).not.toBe(0);
      expect(ran.stderr.trimEnd()).not.toContain('\n');
    }
  });
});
