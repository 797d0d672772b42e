/** Machine files: what the page shows can be booted, what is new in them is checked, and one tells its story. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadMachine, simulate } from '../../../lib/sim.ts';
import { checked, ROOT, umaprobe } from '../../support/cli.ts';

const GiB = 2 ** 30;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'umaprobe-machines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A machine file of its own: gb10 and these fields. */
function file(fields: Record<string, unknown>): string {
  const path = join(folder, 'own.json');
  const base = { schema: 'umaprobe/machine/1', name: 'own', description: 'One of a test.', extends: 'gb10' };
  writeFileSync(path, JSON.stringify({ ...base, ...fields }));
  return path;
}

describe('machine files', () => {
  const page = readFileSync(join(ROOT, 'docs/simulated-machine.md'), 'utf8');
  const shown = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map((match) => JSON.parse(String(match[1])));

  it('the page shows some', () => {
    expect(shown.map(({ name }) => name)).toEqual(['bad-memory', 'crowded']);
  });

  it.each(shown)('$name of the page boots', (machine) => {
    const path = join(folder, `${machine.name}.json`);
    writeFileSync(path, JSON.stringify(machine));
    const simulation = simulate(loadMachine(path));
    expect(simulation.record()).toMatchObject({ machine: machine.name, scale: 1, wedged: null, deaths: [] });
    simulation.close();
  });

  it.each([
    [{ faults: { corrupt: [{ offset: -1 }] } }, 'offset'],
    [{ faults: { corrupt: [{ offset: 1, bit: 3 }] } }, 'bit'],
    [{ faults: { corrupt: [{ times: 1 }] } }, 'offset'],
    [{ events: [{ atMs: 0, what: 'anon', bytes: 1, afterFirstAllocation: 'yes' }] }, 'afterFirstAllocation'],
    [{ timing: { systemBandwidthGBps: 0 } }, 'systemBandwidthGBps'],
    [{ timing: { systemTouchMsPerGiB: null } }, 'systemTouchMsPerGiB'],
  ])('%j is refused, by name', (fields, name) => {
    expect(() => simulate(loadMachine(file(fields)))).toThrow(name);
  });

  it('the record tells the scale of the clock', () => {
    const simulation = simulate(loadMachine('gb10'), { scale: 20 });
    expect(simulation.record()).toMatchObject({ scale: 20 });
    simulation.close();
  });
});

describe('gb10-590-residue', () => {
  const pools = (machine: string) => {
    const { checks } = checked(
      umaprobe(['doctor', '--json', '--sim', machine, '--only', 'driver.pools']).stdout,
    ) as unknown as { checks: { status: string; summary: string; evidence?: unknown }[] };
    return checks[0];
  };

  it('doctor says what the dead process left, and what to do', () => {
    expect(pools('gb10-590-residue')).toMatchObject({ status: 'warn' });
    expect(JSON.stringify(pools('gb10-590-residue'))).toMatch(/64\.0 GiB.*drop_caches/s);
    expect(pools('gb10')).toMatchObject({ status: 'pass' });
  });

  it('no process holds it', () => {
    const simulation = simulate(loadMachine('gb10-590-residue'));
    expect(simulation.record()).toMatchObject({ poolBytes: 64 * GiB, live: [] });
    simulation.close();
  });
});
