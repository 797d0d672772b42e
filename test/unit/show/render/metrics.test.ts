import { describe, expect, it } from 'vitest';
import { metricsText } from '../../../../lib/show/render/metrics.ts';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { changed, snapshotOf } from '../../../support/snapshots.ts';

const LINE = /^umaprobe_([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\["\\])*",?)+)\})? (-?\d+(?:\.\d+)?)$/;

/** The samples by name, read by a reader of its own; each name has help and type once, before its first sample. */
function samplesOf(snapshot: Snapshot): Map<string, [labels: string, value: number][]> {
  const samples = new Map<string, [string, number][]>();
  let declared = '';
  for (const line of metricsText(snapshot, '1.2.3').trimEnd().split('\n')) {
    const help = /^# HELP umaprobe_([a-z_]+) [^\n]+[.)]$/.exec(line);
    if (help !== null) {
      declared = help[1] as string;
      expect(samples.has(declared), declared).toBe(false);
      samples.set(declared, []);
    } else if (!line.startsWith('# ')) {
      const [, name = line, labels = '', value] = LINE.exec(line) ?? [];
      expect(name).toBe(declared);
      samples.get(name)?.push([labels, Number(value)]);
    }
  }
  return samples;
}

const valuesOf = (snapshot: Snapshot, name: string) =>
  samplesOf(snapshot)
    .get(name)
    ?.map(([, value]) => value);

describe('metrics', () => {
  it('have the parts of MemTotal, which add up to it', () => {
    const snapshot = snapshotOf();
    const parts = valuesOf(snapshot, 'memory_part_bytes') ?? [];
    expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBe(snapshot.host.total);
  });

  it('say what the judgement says', () => {
    const snapshot = snapshotOf();
    const { judgement } = snapshot;
    expect(valuesOf(snapshot, 'safe_to_load_bytes')).toEqual([judgement.safe.bytes]);
    expect(valuesOf(snapshot, 'may_load')).toEqual([1]);
    const stalled = snapshotOf({ full: 95, some: 99, host: { available: 6e9, free: 2e9 } });
    expect(stalled.judgement.mayLoad).toBe('not-now');
    expect(valuesOf(stalled, 'may_load')).toEqual([0]);
    expect(valuesOf(stalled, 'judgement_level')).toEqual([3]);
    expect(samplesOf(stalled).get('finding')?.length).toBe(stalled.judgement.findings.length);
  });

  it('have no line for what is not known, and never 0', () => {
    const unknown = changed((reading) => {
      reading.host.available = null;
      reading.contiguity = null;
      for (const device of reading.devices) {
        device.allocatable = { immediate: null, afterReclaim: null, safe: null, safeHigh: null };
        device.processes = null;
        device.processesComplete = null;
      }
      reading.libraries.cuda.state = 'timeout';
      reading.libraries.nvml.state = 'missing';
    });
    expect(unknown.judgement.mayLoad).toBe('unknown');
    const samples = samplesOf(unknown);
    for (const name of [
      'safe_to_load_bytes',
      'gpu_safe_to_load_bytes',
      'may_load',
      'free_block_bytes',
      'gpu_processes_bytes',
    ])
      expect(samples.has(name), name).toBe(false);
    expect(samples.get('source_up')).toEqual([['source="cuda"', 0]]);
    expect(metricsText(unknown, '1')).not.toMatch(/null|undefined|NaN/);
  });

  it('a list of processes that is not complete has no sum', () => {
    const some = snapshotOf({ processes: [{ pid: 1, name: 'a', gpuBytes: null }] });
    expect(valuesOf(some, 'gpu_processes_bytes')).toBeUndefined();
    expect(valuesOf(snapshotOf({ processes: [{ pid: 1, name: 'a', gpuBytes: 5e9 }] }), 'gpu_processes_bytes')).toEqual([
      5e9,
    ]);
  });

  it('memory that processes share (CUDA IPC) is counted once, as the finding counts it', () => {
    const ranks = [1, 2].map((pid) => ({ pid, name: 'rank', gpuBytes: 90e9 }));
    const snapshot = snapshotOf({ processes: ranks, host: { available: 20e9, free: 15e9 } });
    const found = snapshot.judgement.findings.find(({ id }) => id === 'gpu.programs')?.bytes;
    expect(found).toBeLessThan(180e9);
    expect(valuesOf(snapshot, 'gpu_processes_bytes')).toEqual([found]);
  });

  it('memory of the host is never memory of a GPU', () => {
    expect(valuesOf(snapshotOf(), 'gpu_memory_bytes')).toBeUndefined();
    const discrete = snapshotOf({ model: 'discrete' });
    expect(valuesOf(discrete, 'gpu_memory_bytes')).toEqual([discrete.devices[0]?.nvml?.total]);
    expect(valuesOf(discrete, 'gpu_memory_free_bytes')).toEqual([discrete.devices[0]?.nvml?.free]);
  });

  it('names cannot break a line, nor control a terminal', () => {
    const odd = changed((reading) => {
      for (const device of reading.devices) device.name = 'a "b" \\ \n\u001b[2J';
    });
    expect(samplesOf(odd).get('gpu_info')?.[0]?.[0]).toContain('name="a \\"b\\" \\\\ ??[2J"');
  });

  it('of a simulated machine say so', () => {
    const text = metricsText(snapshotOf({ simulated: 'gb10' }), '1');
    expect(text).toMatch(/^# SIMULATED {2}machine gb10: none of these numbers comes from hardware\n/);
    expect(text).toContain('simulated="gb10"');
  });

  it('as OpenMetrics have the same samples, types info, and an end', () => {
    const snapshot = snapshotOf({ simulated: 'gb10' });
    const samples = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const open = metricsText(snapshot, '1', 'openmetrics');
    expect(samples(open)).toEqual(samples(metricsText(snapshot, '1')));
    expect(open).toMatch(/\n# EOF\n$/);
    expect(open).toContain('# TYPE umaprobe_build info\numaprobe_build_info{');
    for (const line of open.split('\n').filter((each) => each.startsWith('#')))
      expect(line).toMatch(/^# (HELP|TYPE) umaprobe_[a-z_]+ |^# EOF$/);
  });
});
