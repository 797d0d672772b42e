/** Machine files: those of the page boot, invalid fields are refused, and gb10-590-residue has its residue. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simulate } from '../../../../lib/sim.ts';
import { runUmaprobe } from '../../../support/cli.ts';
import { machineFile, withFastMachine, withMachine } from '../../../support/machines.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const folder = temporaryFolder('machines');

describe('machine files', () => {
  const page = readFileSync(join(ROOT, 'docs/simulated-machine.md'), 'utf8');
  const shown = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map((match) => JSON.parse(String(match[1])));

  it('the page shows some', () => {
    expect(shown.map(({ name }) => name)).toEqual(['no-pressure', 'bad-memory', 'crowded']);
  });

  it.each(shown)('$name of the page boots', async (machine) => {
    const path = join(folder, `${machine.name}.json`);
    writeFileSync(path, JSON.stringify(machine));
    await withMachine(path, ({ record }) => {
      expect(record()).toMatchObject({ machine: machine.name, scale: 1, wedged: null, deaths: [] });
    });
  });

  it.each([
    [{ faults: { corrupt: [{ offset: -1 }] } }, 'offset'],
    [{ faults: { corrupt: [{ offset: 1, bit: 3 }] } }, 'bit'],
    [{ faults: { corrupt: [{ times: 1 }] } }, 'offset'],
    [{ events: [{ atMs: 0, what: 'anon', bytes: 1, afterFirstAllocation: 'yes' }] }, 'afterFirstAllocation'],
    [{ events: [{ atMs: 0, what: 'lost' }] }, 'device'],
    [{ events: [{ atMs: 0, what: 'lost', device: 1 }] }, 'events.0.device is 1; expected the index of a device'],
    [{ events: [{ atMs: 0, what: 'lost', device: 0, cuInit: 'MAYBE' }] }, 'UNKNOWN'],
    [{ faults: { fail: [{ call: 'nvml*', status: 15, device: 1 }] } }, 'faults.fail.0.device is 1; expected the index'],
    [{ files: [{ path: '/etc/passwd', text: '' }] }, 'files.0.path'],
    [{ files: [{ path: '/proc/../etc/passwd', text: '' }] }, 'files.0.path'],
    [{ files: [{ path: '/proc/meminfo', error: 'ENOENT' }] }, 'EOPNOTSUPP'],
    [{ files: [{ path: '/proc/meminfo', text: '', missing: true }] }, 'files.0'],
    [{ timing: { systemBandwidthGBps: 0 } }, 'systemBandwidthGBps'],
    [{ timing: { systemTouchMsPerGiB: null } }, 'systemTouchMsPerGiB'],
  ])('%j is refused, by name', (fields, name) => {
    expect(() => simulate(machineFile('own', fields))).toThrow(name);
  });

  it('the record has the scale of the clock', async () => {
    await withFastMachine('gb10', ({ record }) => expect(record()).toMatchObject({ scale: 20 }));
  });
});

describe('gb10-590-residue', () => {
  const pools = (machine: string) => {
    const { checks } = parseDocument(
      runUmaprobe(['doctor', '--json', '--sim', machine, '--only', 'driver.pools']).stdout,
    ) as unknown as { checks: { status: string; summary: string; evidence?: unknown }[] };
    return checks[0];
  };

  it('doctor reports the memory of the dead process, and the remedy', () => {
    expect(pools('gb10-590-residue')).toMatchObject({ status: 'note' });
    expect(JSON.stringify(pools('gb10-590-residue'))).toMatch(/64\.0 GiB.*drop_caches/s);
    expect(pools('gb10')).toMatchObject({ status: 'pass' });
  });

  it('no process holds that memory', async () => {
    await withMachine('gb10-590-residue', ({ record }) => {
      expect(record()).toMatchObject({ poolBytes: 64 * GiB, live: [] });
    });
  });
});
