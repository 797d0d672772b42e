/** Odd machines from their files to the verdict: what is not readable is null with its reason, and never OK. All *simulated*. */

import { describe, expect, it } from 'vitest';
import { loadMachine } from '../../../../lib/sim.ts';
import type { CheckResult, DoctorReport } from '../../../../lib/types/index.ts';
import { runUmaprobe, snapshotJson } from '../../../support/cli.ts';
import { machineFile, withNvml } from '../../../support/machines.ts';
import { ODD_LINES, ODD_TOTALS } from '../../../support/odd-meminfo.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GiB, MiB } from '../../../support/units.ts';

let machines = 0;
function machineWithFiles(files: Record<string, string | null>, changes: object = {}, base = 'gb10'): string {
  const list = Object.entries(files).map(([path, text]) => (text === null ? { path, missing: true } : { path, text }));
  return machineFile(`odd-${machines++}`, { files: list, ...changes }, base);
}

function doctorOn(machine: string, only: string): CheckResult[] {
  const { checks } = parseDocument(
    runUmaprobe(['doctor', '--json', '--sim', machine, '--only', only]).stdout,
  ) as unknown as DoctorReport;
  return checks;
}

/** /proc/meminfo of an idle Spark with these lines instead of its own. */
function meminfo(changes: Record<string, string | null>): string {
  const kB: Record<string, number> = {
    ...{ MemTotal: 125_506_464, MemFree: 8_000_000, MemAvailable: 116_000_000, Buffers: 262_144 },
    ...{ Cached: 108_000_000, SwapCached: 0, 'Active(file)': 40_000_000, 'Inactive(file)': 60_000_000 },
    ...{ SwapTotal: 16_777_216, SwapFree: 16_777_216, AnonPages: 4_718_592, Shmem: 65_536, KReclaimable: 655_360 },
    ...{ SReclaimable: 655_360, SUnreclaim: 524_288, KernelStack: 24_576, PageTables: 49_152, CmaTotal: 0, CmaFree: 0 },
  };
  const lines = Object.entries(kB).map(([key, value]) =>
    key in changes ? changes[key] : `${key}: ${String(value).padStart(15)} kB\n`,
  );
  return `${lines.filter((line) => line !== null).join('')}HugePages_Total:       0\nHugePages_Free:        0\n`;
}

describe('a meminfo that no kernel writes (simulated)', () => {
  it('has null with its reason for each odd line', () => {
    // Each field once: one machine shows them all.
    const byField = new Map(ODD_LINES.filter(({ text }) => text.endsWith('\n')).map((odd) => [odd.field, odd]));
    const lines = [...byField.values()].map(({ text }) => text.split('\n').slice(1).join('\n'));
    const text = `MemTotal:       125506464 kB\n${lines.join('')}`;
    const { from, host } = snapshotJson(['--sim', machineWithFiles({ '/proc/meminfo': text })]);
    for (const { field, why } of byField.values()) {
      expect(host[field], field).toBeNull();
      expect(from[`host.${field}`]).toBe(why);
    }
    expect(byField.size).toBeGreaterThan(6);
  });

  it('without Cached: page cache is no hidden memory, in the picture, in doctor and in the verdict', () => {
    const machine = machineWithFiles({ '/proc/meminfo': meminfo({ Cached: 'Cached:   108000 MB\n' }) });
    const snapshot = snapshotJson(['--sim', machine]);
    expect(snapshot.ledger.notSplit).toEqual(['Cached is missing: page cache is in no counter']);
    expect(snapshot.judgement).toMatchObject({
      level: 'notice',
      because: expect.stringMatching(
        /^The use of the memory cannot be split: Cached is missing: .*unit MB, expected kB\)\.$/,
      ),
    });
    const page = runUmaprobe(['snapshot', '--full', '--sim', machine]).stdout;
    expect(page).toMatch(/not attributed \(see below\)/);
    expect(page).toMatch(/· Cached is missing: page cache is in no counter\./);
    expect(page).not.toMatch(/no counter and no listed process|Infinity|NaN/);
    expect(doctorOn(machine, 'memory.unattributed')).toMatchObject([{ status: 'unknown' }]);
  });

  it('without a plausible MemAvailable: a warning, and no number', () => {
    const machine = machineWithFiles({ '/proc/meminfo': meminfo({ MemAvailable: 'MemAvailable:  900000000 kB\n' }) });
    const snapshot = snapshotJson(['--sim', machine]);
    expect(snapshot.devices[0]?.allocatable.afterReclaim).toBeNull();
    expect(snapshot.judgement).toMatchObject({
      level: 'warning',
      because: expect.stringMatching(/is more than MemTotal/),
    });
    expect(doctorOn(machine, 'memory.available')).toMatchObject([{ status: 'warn' }]);
  });

  it.each(ODD_TOTALS)('whose MemTotal says nothing is an error in one line: %s', (_, text, message) => {
    const { code, stderr, stdout } = runUmaprobe(['snapshot', '--sim', machineWithFiles({ '/proc/meminfo': text })]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/ {2}at /);
    expect(stdout).toBe('');
    expect(code).not.toBe(0);
  });
});

describe('other odd files (simulated)', () => {
  it('buddyinfo, vmstat and PSI without numbers are null with their reasons', () => {
    const huge = '9'.repeat(400);
    const { contiguity, from, kernel, pressure } = snapshotJson([
      '--sim',
      machineWithFiles({
        '/proc/buddyinfo': `Node 0, zone   Normal  1 2 ${huge}\n`,
        '/proc/vmstat': `pgscan_direct ${huge}\npgsteal_direct 7\noom_kill -1\n`,
        '/proc/pressure/memory': `some avg10=${huge} avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n`,
      }),
    ]);
    expect([contiguity, pressure, kernel.pgscanDirect, kernel.oomKill]).toEqual([null, null, null, null]);
    expect(kernel.pgstealDirect).toBe(7);
    expect(from.contiguity).toBe('/proc/buddyinfo: the text is not in the kernel’s format');
    expect(from.pressure).toBe('/proc/pressure/memory: the text is not in the kernel’s format');
    expect(from['kernel.pgscanDirect']).toBe('/proc/vmstat: no readable counter pgscan_direct');
  });

  it('without PSI the verdict is not OK, and says what is not known', () => {
    const machine = machineWithFiles({ '/proc/pressure/memory': null });
    const verdict = snapshotJson(['--sim', machine]).judgement;
    expect(verdict).toMatchObject({
      level: 'notice',
      because: expect.stringMatching(/^Whether tasks wait for memory is not known/),
    });
    expect(doctorOn(machine, 'pressure')).toMatchObject([{ status: 'unknown' }]);
  });

  it('a spike of 10 s is a note on a healthy Spark, and the beginning of a freeze on one at rest with 4.9 GiB', () => {
    const psi = 'avg10=61.95 avg60=15.04 avg300=3.21 total=9800000\n';
    const files = { '/proc/pressure/memory': `some ${psi}full ${psi}` };
    expect(snapshotJson(['--sim', machineWithFiles(files)]).judgement).toMatchObject({
      level: 'notice',
      because: expect.stringMatching(/62\.0 % of the last 10 s: a spike/),
    });
    const resting = machineWithFiles(files, {}, 'gb10-resting');
    expect(snapshotJson(['--sim', resting]).judgement).toMatchObject({
      level: 'danger',
      because: expect.stringMatching(/with only 4\.9 GiB available: this is how a freeze begins/),
    });
    expect(doctorOn(resting, 'pressure')).toMatchObject([{ status: 'fail' }]);
  });
});

describe('a Spark at rest with 4.9 GiB (simulated)', () => {
  it('is no danger: nothing more should be loaded', () => {
    expect(snapshotJson(['--sim', 'gb10-resting']).judgement).toMatchObject({
      level: 'notice',
      because: expect.stringMatching(/^Only 4\.9 GiB of the unified memory .*the host needs them\. No task waits/),
    });
    const { code, stdout } = runUmaprobe(['doctor', '--sim', 'gb10-resting']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Ray’s memory monitor kills workers below 6\.0 GiB/)]);
  });

  it('is one on which a running Ray would kill its workers', () => {
    const processes = [
      ...loadMachine('gb10-resting').processes,
      { name: 'raylet', pid: 4_200_099, gpuBytes: 0, anonBytes: 0 },
    ];
    const machine = machineFile('ray', { processes }, 'gb10-resting');
    expect(doctorOn(machine, 'tools.thresholds')).toMatchObject([
      {
        status: 'warn',
        summary: expect.stringMatching(/^Ray’s memory monitor kills workers below 6\.0 GiB available: 4\.9 GiB are/),
        remedy: { text: 'start Ray with RAY_memory_monitor_refresh_ms=0' },
      },
    ]);
  });
});

describe('devices whose memory NVML misreports (simulated)', () => {
  const WITHOUT_CUDA = { hang: [], fail: [], missingSymbols: [], missingLibraries: ['cudart', 'cuda'] };

  it('an integrated GPU with a carve-out never has more than CUDA’s total, and never NVML’s number', () => {
    const [device] = snapshotJson(['--sim', 'n1x']).devices;
    expect(device).toMatchObject({
      memoryModel: 'unified',
      nvml: { total: 8128 * MiB, free: 7929 * MiB },
      allocatable: { afterReclaim: 46_477 * MiB },
    });
    expect(device?.cuda?.total).toBe(46_477 * MiB);
    expect(device?.from.allocatable).toMatch(/at most CUDA's own total of 45\.4 GiB less 0 B that processes hold$/);
    const processes = [{ name: 'vllm', pid: 4_200_001, gpuBytes: 30 * GiB, anonBytes: 0 }];
    const [busy] = snapshotJson(['--sim', machineFile('n1x-busy', { processes }, 'n1x')]).devices;
    expect(busy?.allocatable.afterReclaim).toBe(46_477 * MiB - 30 * GiB);
  });

  it('without libcuda its number is nobody’s answer', () => {
    const snapshot = snapshotJson(['--sim', machineFile('n1x-no-cuda', { faults: WITHOUT_CUDA }, 'n1x')]);
    expect(snapshot.devices[0]).toMatchObject({
      memoryModel: 'unknown',
      allocatable: { immediate: null, afterReclaim: null },
      views: { nvidiaSmi: 7929 * MiB },
    });
    const { because: text, level } = snapshot.judgement;
    expect(level).toBe('warning');
    expect(text).not.toMatch(/can be allocated|7\.7 GiB/);
  });

  it('a coherent GPU in MIG mode is not taken for unified without CUDA', () => {
    const { devices } = withNvml(loadMachine('gh200'), { memory: 'NOT_SUPPORTED', migMode: 1 });
    const [device] = snapshotJson([
      '--sim',
      machineFile('gh200-mig', { devices, faults: WITHOUT_CUDA }, 'gh200'),
    ]).devices;
    expect(device).toMatchObject({
      addressingMode: 'ATS',
      migMode: { current: true },
      memoryModel: 'unknown',
      allocatable: { immediate: null, afterReclaim: null },
    });
    expect(device?.from.memoryModel).toMatch(/MIG mode/);
  });
});
