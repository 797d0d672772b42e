/** The command layout on simulated machines. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMachine } from '../../../../lib/sim.ts';
import type { LayoutReport } from '../../../../lib/types/index.ts';
import { runUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('layout');
writeFileSync(join(folder, 'model.json'), '{"weights": "2GB", "kv-cache": 1000000000}');

const layout = (...args: string[]) =>
  runUmaprobe(['layout', ...args], { env: { XDG_STATE_HOME: folder }, cwd: folder });

describe('layout', () => {
  it.each([[['weights=2GB', 'kv-cache=1000000000B']], [['model.json']]])('holds %j', (parts) => {
    const ran = layout(...parts, '--sim', 'gb10', '--json');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const report = parseDocument(ran.stdout) as unknown as LayoutReport;
    expect(report).toMatchObject({ simulated: 'gb10', state: 'complete', preset: null, expectedBytes: 3e9 });
    expect(report.parts.map(({ name, expectedBytes }) => [name, expectedBytes])).toEqual([
      ['weights', 2e9],
      ['kv-cache', 1e9],
    ]);
  });

  it('knows the parts of a model, and writes text, CSV and HTML', () => {
    const ran = layout('--preset', '13b', '--sim', 'gb10', '--csv', 'parts.csv', '--html', 'parts.html');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^feedforward +\[█+\] +10\.00 +9\.31/m);
    expect(ran.stdout).toMatch(/^FITS {2}6 of 6 parts were held at once, 23\.75 GiB \(25\.50 GB\)/m);
    expect(ran.stderr).toContain('parts.csv: ');
  });

  it('prints names from outside without what controls a terminal or a spreadsheet', () => {
    const nasty = 'a\x1b]0;owned\x07\u009b31m\u202e';
    const [device] = loadMachine('gb10').devices as [object];
    const machine = machineFile('nasty', { devices: [{ ...device, name: nasty }], description: nasty });
    writeFileSync(join(folder, 'formula.json'), JSON.stringify({ '=1+2': '1MB' }));
    writeFileSync(join(folder, 'nasty.json'), JSON.stringify({ [nasty]: '1MB' }));
    const csv = layout('formula.json', '--sim', machine, '--csv', '-');
    const json = layout('formula.json', '--sim', machine, '--json');
    const others = [
      layout('formula.json', '--sim', machine),
      layout('nasty.json', '--sim', 'gb10'),
      layout(`${nasty}=0`, '--sim', 'gb10'),
      runUmaprobe(['sim', 'show', machine]),
      runUmaprobe(['--sim', `${nasty}.json`]),
    ];
    for (const { stderr, stdout } of [csv, json, ...others])
      for (const character of ['\x1b', '\x07', '\u009b', '\u202e']) expect(stdout + stderr).not.toContain(character);
    expect(csv.stdout).toMatch(/\r\n.*,a\?\]0;owned\?\?31m\?,.*,'=1\+2,1000000,ok,/);
    expect(parseDocument(json.stdout)).toMatchObject({ device: { name: nasty }, parts: [{ name: '=1+2' }] });
  });

  it('does not replace its file of parts by a report', () => {
    expect(layout('model.json', '--csv', './model.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the parts and --csv name the same file'),
    });
  });

  it('exits with 1 when a part does not fit, and names the part', () => {
    const ran = layout('a=1GB', 'b=500GB', 'c=1GB', '--sim', 'gb10');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^b {2}refused {2}/m);
    expect(ran.stdout).toMatch(/^DOES NOT FIT {2}/m);
  });

  it('refuses a size of two meanings in one line', () => {
    expect(layout('a=1G', '--sim', 'gb10')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^umaprobe: The part a "1G" could mean two sizes[^\n]*\n$/),
    });
  });
});
