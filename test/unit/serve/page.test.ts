import { describe, expect, it } from 'vitest';
import { type LiveMachine, livePage, piecesOf, summaryOf } from '../../../lib/show/render/html/live.ts';
import type { ClusterMachine, Snapshot } from '../../../lib/types/index.ts';
import { changed, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

const HOSTILE = '</script><img src=x onerror="alert(1)">\u202e';

function machineOf(snapshot: Snapshot | null, host = 'spark-1'): LiveMachine {
  const machine: ClusterMachine =
    snapshot === null
      ? {
          host,
          state: 'unreachable',
          because: 'Connection refused.',
          next: 'see whether it is on',
          ageMs: null,
          snapshot,
        }
      : { host, state: 'answered', because: null, next: null, ageMs: 0, snapshot };
  return { machine, processes: null };
}

function textOf(live: LiveMachine): string {
  return Object.values(piecesOf(live)).join('\n');
}

describe('a machine on the page', () => {
  it('is told in the words of its judgement', () => {
    const stalled = snapshotOf({ full: 95, some: 99, host: { available: 6e9, free: 2e9 } });
    const text = textOf(machineOf(stalled));
    expect(text).toContain('DANGER');
    expect(text).toContain(stalled.judgement.because);
    for (const { summary } of stalled.judgement.findings) expect(text).toContain(summary);
  });

  it('that did not answer is unknown, with its reason, and has no number', () => {
    const text = textOf(machineOf(null));
    expect(text).toContain('UNKNOWN');
    expect(text).toContain('Connection refused.');
    expect(text).toContain('Next: see whether it is on.');
    expect(text).not.toMatch(/\d [KMG]?i?B\b/);
  });

  it('what is not known is unknown, and never 0', () => {
    const unknown = changed((reading) => {
      reading.pressure = null;
      reading.contiguity = null;
      for (const device of reading.devices) {
        device.allocatable = { immediate: null, afterReclaim: null, safe: null, safeHigh: null };
        device.processes = null;
        device.processesComplete = null;
      }
    });
    const { figures, load, processes } = piecesOf(machineOf(unknown));
    expect(String(figures).match(/class="value">unknown/g)?.length).toBe(3);
    expect(String(load)).toContain('<h3>Pressure</h3><p>unknown');
    expect(String(load)).toContain('<h3>Free blocks</h3><p>unknown');
    expect(String(processes)).toContain('unknown');
    expect(`${figures}${load}`).not.toMatch(/>0 B</);
  });

  it('parts of the bar add up to all of its width', () => {
    const { pool } = piecesOf(machineOf(snapshotOf({ host: { cached: 90 * GiB, free: 8 * GiB } })));
    const widths = [...String(pool).matchAll(/<rect x="[\d.]+%" y="\d+" width="([\d.]+)%"/g)].map(([, width]) =>
      Number(width),
    );
    expect(widths.length).toBeGreaterThan(3);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(100, 1);
  });

  it('foreign names become text', () => {
    const odd = changed((reading) => {
      for (const device of reading.devices) {
        device.name = HOSTILE;
        device.processes = [{ pid: 7, name: HOSTILE, gpuBytes: GiB }];
      }
      reading.kernel.release = HOSTILE;
    });
    const config = { schema: 'umaprobe/live/1', intervalMs: 1000, staleMs: 20_000, hosts: ['a', 'b'] } as const;
    const machines = [machineOf(odd, HOSTILE), machineOf(null)];
    const assets = { script: '', style: '', version: '1' };
    for (const text of [
      livePage(config, machines, HOSTILE, assets),
      summaryOf(machines, HOSTILE).text,
      textOf(machines[0] as LiveMachine),
    ]) {
      expect(text).not.toContain('<img');
      expect(text).not.toContain('\u202e');
    }
  });

  it('that is simulated says so among others', () => {
    const { text } = summaryOf([machineOf(snapshotOf({ simulated: 'gb10' }), 'a'), machineOf(snapshotOf(), 'b')], '');
    expect(text.match(/SIMULATED gb10/g)?.length).toBe(1);
  });

  it('of several the summary is as cluster() says it', () => {
    const { text } = summaryOf([machineOf(snapshotOf(), 'a'), machineOf(null, 'b')], 'b has given no usable answer.');
    expect(text).toContain('b has given no usable answer.');
    expect(text).toMatch(/href="#machine-1">b<.*UNKNOWN.*<td>unknown<\/td>/s);
  });
});
