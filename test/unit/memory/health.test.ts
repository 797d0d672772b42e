/** The health verdict: which rule decides, its level and its text. */
import { describe, expect, it } from 'vitest';
import { health } from '../../../lib/memory/health.ts';
import { createPaint } from '../../../lib/render/paint.ts';
import { snapshotPage } from '../../../lib/render/text/snapshot.ts';
import { deviceFailure, timeout } from '../../support/failures.ts';
import { type MachineFixture, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

/** One of two processes that share 60 GiB: NVML counts them in each. */
const GROUP = (pid: number) => ({ pid, name: 'vllm', gpuBytes: 61 * GiB });

describe('health verdict', () => {
  it.each<[string, MachineFixture, string, RegExp]>([
    ['idle', {}, 'ok', /^102\.8 GiB can be loaded/],
    ['a spike', { full: 12 }, 'notice', /12\.0 %.*a spike/],
    ['tasks wait', { some: 12 }, 'notice', /Tasks waited/],
    ['nearly out', { host: { available: 2 * GiB, free: GiB } }, 'danger', /Only 2\.0 GiB/],
    [
      'between 8 GiB and the floor, where stress refuses to start',
      { host: { available: 8.5 * GiB, free: 8.5 * GiB, anonPages: 100 * GiB } },
      'notice',
      /^Only 8\.5 GiB of the unified memory can still be allocated: nothing more should be loaded/,
    ],
    [
      'full swap, with which stress does not start',
      { host: { swapFree: 2 ** 30, available: 38 * GiB, free: 38 * GiB, anonPages: 80 * GiB } },
      'warning',
      /^15\.0 GiB of 16\.0 GiB swap are used, and only 38\.0 GiB are available/,
    ],
    [
      'few large blocks, with which stress does not start',
      { largeShare: 0.002, mediumShare: 0.5 },
      'notice',
      /^Free memory is in small pieces: \d × 32 MiB where the launch of a large model needs 200/,
    ],
    ['low', { host: { available: 7 * GiB, free: 7 * GiB } }, 'warning', /in no counter.*Only 7\.0 GiB/],
    [
      'cache',
      { host: { free: 8 * GiB, cached: 100 * GiB, available: 108 * GiB } },
      'notice',
      /100\.00 of 119\.69 GiB look used but hold copies of files \(page cache\)/,
    ],
    ['phantom', { host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }, 'warning', /9\.3 GiB of the free memory/],
    ['pieces', { largeShare: 0.01 }, 'warning', /fragmented/],
    [
      'huge pages',
      { host: { hugePagesTotal: 1024, hugePagesFree: 512, hugetlb: 2 * GiB } },
      'warning',
      /guidance answers 1\.0 GiB and llama\.cpp 1\.0 GiB/,
    ],
    [
      'known pools',
      { host: { free: 50 * GiB, available: 55 * GiB }, pools: { parameter: 529, bytes: 60 * GiB } },
      'notice',
      /keeps 60\.0 GiB/,
    ],
    [
      'hidden pools',
      { host: { free: 50 * GiB, available: 55 * GiB }, pools: { parameter: 529, bytes: null } },
      'warning',
      /no listed process.*pools/,
    ],
    [
      'processes outside of a container',
      { host: { free: 50 * GiB, available: 55 * GiB }, container: true },
      'notice',
      /^5\d\.\d GiB are in no counter; how much of it GPU processes hold is not known here: this process is in a PID/,
    ],
    [
      'a process of unknown size',
      { host: { free: 50 * GiB, available: 55 * GiB }, processes: [{ pid: 7, name: 'vllm', gpuBytes: null }] },
      'notice',
      /NVML does not report how much memory the processes hold\.$/,
    ],
    [
      'memory that processes share',
      { host: { free: 45 * GiB, available: 50 * GiB }, processes: [GROUP(7), GROUP(8)] },
      'ok',
      /37\.2 GiB can be loaded/,
    ],
    ['no GPU', { gpu: false }, 'notice', /No GPU: neither CUDA nor NVML/],
  ])('%s', (_, fixture, level, text) => {
    const verdict = health(snapshotOf(fixture));
    expect(verdict).toMatchObject({ level, text: expect.stringMatching(text) });
  });

  it('does not call page cache hidden memory if Cached cannot be read', () => {
    const snapshot = snapshotOf({ host: { free: 8 * GiB, cached: null, available: 108 * GiB } });
    snapshot.from['host.cached'] = '/proc/meminfo, Cached: the line has the unit MB, expected kB';
    expect(health(snapshot)).toMatchObject({
      level: 'notice',
      text: 'The use of the memory cannot be split: Cached is missing: page cache is in unattributed (/proc/meminfo, Cached: the line has the unit MB, expected kB).',
    });
  });

  it('is not OK without MemAvailable', () => {
    expect(health(snapshotOf({ host: { available: null } }))).toMatchObject({
      level: 'warning',
      text: expect.stringMatching(/^How much of the unified memory can be allocated is not known: MemAvailable cannot/),
    });
  });

  it('points a real machine without GPU to a simulated one, and a simulated one nowhere', () => {
    expect(health(snapshotOf({ gpu: false })).next).toContain('umaprobe --sim gb10');
    expect(health(snapshotOf({ gpu: false, simulated: 'no-driver' })).next).toBeNull();
  });

  it('does not mention page cache if the GPU has its own memory', () => {
    const fixture: MachineFixture = {
      model: 'discrete',
      host: { free: 8 * GiB, cached: 100 * GiB, available: 108 * GiB },
    };
    expect(health(snapshotOf(fixture))).toMatchObject({
      level: 'ok',
      text: expect.stringContaining('139.6 GiB can be loaded'),
    });
  });

  it.each([
    ['ERR_UMA_TIMEOUT: nvmlInit_v2 answered TIMEOUT: no answer within 10 ms: blocked in nvmlInit_v2', '10 ms'],
    ['ERR_UMA_TIMEOUT: x answered TIMEOUT: an earlier call is still blocked for 62000 ms in x', '1 min 2 s'],
  ])('takes slowness for slowness: %s', (reason, time) => {
    const snapshot = snapshotOf();
    snapshot.libraries.nvml = { ...snapshot.libraries.nvml, state: 'timeout', reason };
    const verdict = health(snapshot);
    expect(verdict).toMatchObject({
      level: 'warning',
      text: expect.stringContaining(`NVML did not answer within ${time}: slow or stuck.`),
    });
    expect(verdict.text + verdict.next).not.toMatch(/hang|reboot/i);
  });

  it('reports a context that was not created in time', () => {
    const snapshot = snapshotOf();
    const failure = deviceFailure('cuda', timeout('cudaMemGetInfo in a child process', 5000));
    Object.assign(snapshot.devices[0] ?? {}, { cuda: null, failures: [failure] });
    expect(health(snapshot).text).toMatch(/^CUDA did not answer within 5\.00 s/);
  });

  it.each<[string, number[], string, RegExp]>([
    ['free', [143_000 * 2 ** 20], 'ok', /^139\.6 GiB can be loaded on the GPU, and nothing/],
    ['full', [GiB / 2], 'warning', /^Only 512\.0 MiB of the 140\.4 GiB of GPU 0 can still be allocated/],
    ['filled by a server', [7 * GiB], 'notice', /^Only 7\.0 GiB of the 140\.4 GiB of GPU 0/],
    ['second full', [100 * GiB, GiB, 2 * GiB], 'warning', /^Only 1\.0 GiB of the 140\.4 GiB of GPU 1/],
    ['all free', [100 * GiB, 90 * GiB], 'ok', /^90\.0 GiB can be loaded on GPU 1, the fullest of 2, and nothing/],
  ])('judges each GPU by its own memory: %s', (_, ownFree, level, text) => {
    expect(health(snapshotOf({ model: 'discrete', ownFree }))).toMatchObject({
      level,
      text: expect.stringMatching(text),
    });
  });

  it('names the process that fills a GPU', () => {
    const processes = [{ pid: 7, name: 'vllm', gpuBytes: 130 * GiB }];
    expect(health(snapshotOf({ model: 'discrete', ownFree: [GiB], processes })).text).toContain(
      'vllm (7) holds 130.0 GiB',
    );
  });

  it('gives no number for a GPU whose memory is unknown', () => {
    const snapshot = snapshotOf({ model: 'discrete' });
    const untold = { cuda: null, nvml: null, allocatable: { immediate: null, afterReclaim: null } };
    Object.assign(snapshot.devices[0] ?? {}, untold);
    expect(health(snapshot)).toMatchObject({ level: 'notice', text: expect.stringMatching(/is not known/) });
  });

  it('counts no CMA among the large blocks', () => {
    const host = { cmaTotal: 0.9 * GiB, cmaFree: 0.9 * GiB };
    expect(health(snapshotOf({ largeShare: 0.255, host })).level).toBe('warning');
    expect(health(snapshotOf({ largeShare: 0.255 })).level).toBe('ok');
    const page = snapshotPage(snapshotOf({ host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }), {
      width: 80,
      paint: createPaint(0),
      unicode: true,
      exact: false,
      hostName: '',
      cut: 100,
    }).join('\n');
    expect(page).toMatch(/not counted: 9\.3 GiB of free CMA/);
    expect(page).toMatch(/Blocks +94\.6 GiB of 97\.8 GiB free/);
  });
});
