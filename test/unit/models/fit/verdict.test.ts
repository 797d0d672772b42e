/** The verdict over machine and program, on made-up machines. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import type { FitNeed, FitOptions, FitProgram, FitReport } from '../../../../lib/types/index.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { writeTensors } from '../../../support/tiny-models.ts';
import { GiB } from '../../../support/units.ts';

async function ask(need: FitNeed | number, machine: MachineFixture = {}, options: FitOptions = {}): Promise<FitReport> {
  const report = await fitInto({
    ...(typeof need === 'number' ? { bytes: need } : need),
    snapshot: snapshotOf(machine),
    ...options,
  });
  parseDocument(JSON.stringify(report));
  return report;
}

const safe = (machine: MachineFixture = {}): number => snapshotOf(machine).devices[0]?.allocatable.safe as number;

/** A need whose real size may differ. */
function between(low: number, bytes: number, high: number): FitNeed {
  return { estimate: { total: { bytes, low, high }, terms: [{ name: 'weights', bytes, low, high }] } };
}

const exact = (bytes: number) => ({ bytes, low: bytes, high: bytes });

/** A 7B model in BF16 with 8,192 tokens of context. */
const MODEL: FitNeed = {
  estimate: {
    total: { bytes: 20 * GiB, low: 18 * GiB, high: 24 * GiB },
    terms: [
      { name: 'weights', bytes: 14 * GiB, low: 14 * GiB, high: 14 * GiB },
      { name: 'kv-cache', bytes: 4 * GiB, low: 4 * GiB, high: 4 * GiB },
      { name: 'activations', bytes: GiB, low: 0, high: 4 * GiB },
      { name: 'runtime', bytes: GiB, low: 0, high: 2 * GiB },
    ],
    kvBytesPerToken: 512 * 1024,
    use: { context: 8192, sequences: 1 },
    model: { layers: 32 },
  },
};

describe('the machine’s verdict', () => {
  it('fits to the last byte of what can be loaded, and not one more', async () => {
    const limit = safe();
    expect(await ask(limit)).toMatchObject({ verdict: 'fits', headroom: 0, shortBy: 0, binding: 'machine' });
    expect(await ask(limit + 1)).toMatchObject({ verdict: 'no', headroom: null, shortBy: 1 });
  });

  it('is tight where only the upper end does not fit', async () => {
    const limit = safe();
    const report = await ask(between(1, limit, limit + 5));
    expect(report).toMatchObject({ verdict: 'tight', shortBy: 5, headroom: 0 });
    expect(report.inequality).toMatchObject({ relation: '>', left: { name: 'need, at most', bytes: limit + 5 } });
    expect(report).toMatchObject({ expectedFits: true, limit: { after: null } });
  });

  it('counts the peak of loading', async () => {
    const limit = safe();
    const total = { bytes: limit - 10, low: 1, high: limit - 10 };
    const peak = { bytes: limit + 10, low: 1, high: limit + 10 };
    expect((await ask({ estimate: { total, terms: [], loading: { peak } } })).verdict).toBe('no');
  });

  it('names what would make room, and no more than is needed', async () => {
    const processes = [
      { pid: 11, name: 'VLLM::EngineCor', gpuBytes: 60 * GiB },
      { pid: 12, name: 'ollama', gpuBytes: 20 * GiB },
    ];
    const machine = { processes, host: { available: 30 * GiB, free: 20 * GiB } };
    const report = await ask(60 * GiB, machine);
    expect(report.verdict).toBe('fits-after');
    expect(report.remedies.map(({ text }) => text)).toEqual([
      'stop VLLM::EngineCor (11), which holds 60.0 GiB of GPU memory',
    ]);
    expect((await ask(110 * GiB, machine)).verdict).toBe('no');
    const first = report.limit.after ?? 0;
    const both = await ask(between(1, first, first + GiB), machine);
    expect([both.verdict, both.remedies.length]).toEqual(['fits-after', 2]);
  });

  it('gives back huge pages, which no GPU program uses', async () => {
    const host = { available: 60 * GiB, hugePagesTotal: 20_480, hugePagesFree: 20_480, hugetlb: 40 * GiB };
    const report = await ask(80 * GiB, { host });
    expect(report.verdict).toBe('fits-after');
    expect(report.remedies[0]).toMatchObject({
      command: 'echo 0 | sudo tee /proc/sys/vm/nr_hugepages',
      gains: 40 * GiB,
      needsRoot: true,
    });
  });

  it('counts the memory of a GPU that has its own', async () => {
    const machine: MachineFixture = { model: 'discrete', ownFree: [50 * GiB] };
    expect((await ask(49 * GiB, machine)).verdict).toBe('fits');
    expect((await ask(51 * GiB, machine)).verdict).toBe('no');
  });

  it.each([
    'compute-buffer-host',
    'data-workers',
    'host-process',
    'offloaded-parameters',
    'offloaded-optimizer',
    'offloaded-activations',
  ])('does not count %s for a GPU that has its own memory', async (name) => {
    const terms = [
      { name: 'weights', ...exact(40 * GiB) },
      { name, ...exact(20 * GiB) },
    ];
    const need = { estimate: { total: exact(60 * GiB), terms } };
    const report = await ask(need, { model: 'discrete', ownFree: [50 * GiB] });
    expect(report).toMatchObject({ verdict: 'fits', need: exact(40 * GiB), hostNeed: exact(20 * GiB) });
  });

  it('gives back page cache on the NUMA node of a GH200', async () => {
    const machine: MachineFixture = { model: 'coherent', ownFree: [52 * GiB], cacheOnNode: 88 * GiB };
    const report = await ask(100 * GiB, machine);
    expect(report.verdict).toBe('fits-after');
    expect(report.remedies[0]).toMatchObject({
      text: 'give back the page cache on the GPU’s NUMA node',
      command: expect.stringContaining('drop_caches'),
      gains: 88 * GiB,
      needsRoot: true,
    });
  });

  it('names another GPU before it has a program stopped, unless a GPU was named', async () => {
    const machine: MachineFixture = {
      model: 'discrete',
      ownFree: [GiB, 100 * GiB],
      processes: [{ pid: 11, name: 'vllm', gpuBytes: 60 * GiB }],
    };
    const report = await ask(50 * GiB, machine);
    expect(report.verdict).toBe('fits-after');
    expect(report.remedies.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^start it on GPU 1, on which \S+ GiB can be loaded: CUDA_VISIBLE_DEVICES=GPU-\S+$/),
    ]);
    const named = await ask(50 * GiB, machine, { device: 0 });
    expect(named.remedies.map(({ text }) => text)).toEqual([expect.stringMatching(/^stop vllm/)]);
  });

  it.each([
    ['no GPU', { gpu: false }],
    ['MemAvailable is missing', { host: { available: null } }],
    ['the memory model is unknown', { model: 'unknown' as const }],
  ])('is unknown, and never "fits": %s', async (_, machine) => {
    for (const program of [undefined, 'vllm', 'torch'] as const) {
      const report = await ask(1, machine, program === undefined ? {} : { program });
      expect(report).toMatchObject({ verdict: 'unknown', binding: null, headroom: null });
      expect(report.summary).toMatch(/^It is not known whether 1 B fit: ./);
    }
  });

  it('is not-now where every GPU is hidden', async () => {
    const report = await ask(1, { visible: { variable: '1', hidden: [0] } });
    expect(report).toMatchObject({ verdict: 'not-now', binding: 'machine', headroom: null });
    expect(report.summary).toMatch(/^CUDA_VISIBLE_DEVICES="1" hides the GPU/);
  });

  it('is unknown of a file without tensors, which holds a vocabulary', async () => {
    const path = join(temporaryFolder('fit-verdict'), 'vocabulary.gguf');
    writeTensors(path, 'llama', {});
    for (const program of ['vllm', 'llama.cpp', 'ollama', 'torch'] as const) {
      const report = await fitInto({ model: path, snapshot: snapshotOf(), program });
      expect([report.verdict, report.programs[0]?.flags]).toEqual(['unknown', null]);
      expect(report.summary).toContain('the weights are not known');
    }
  });

  it('is not-now while the machine refuses any load, and no where even all of its memory is too little', async () => {
    const stalled = { full: 92, host: { available: 9 * GiB, free: 9 * GiB } };
    expect((await ask(GiB / 4, stalled)).verdict).toBe('not-now');
    expect((await ask(2 * GiB, stalled)).verdict).toBe('not-now');
    expect((await ask(500 * GiB, stalled)).verdict).toBe('no');
  });

  it('is no where the steps do not suffice: they are not advised, and the most that they give is said', async () => {
    const busy = {
      host: { free: 17 * GiB, available: 36 * GiB },
      processes: [{ pid: 7, name: 'vllm', gpuBytes: 70 * GiB }],
    };
    const { programs, remedies, summary, verdict } = await ask(105 * GiB, busy);
    expect([verdict, remedies]).toEqual(['no', []]);
    // Whatever a program would try by its own reading.
    expect(programs.map((own) => own.verdict)).toEqual(programs.map(() => 'no'));
    expect(summary).toMatch(/ too little, and at most [\d.]+ GiB whatever is stopped or given back\.$/);
  });

  it('names a device that is not there', async () => {
    await expect(ask(1, {}, { device: 3 })).rejects.toThrow('device is 3; expected one of 0');
  });
});

describe('a program’s verdict', () => {
  const only = async (program: FitProgram, need: FitNeed, machine: MachineFixture = {}, options: FitOptions = {}) => {
    const report = await ask(need, machine, { ...options, program });
    const [own] = report.programs;
    if (own === undefined) throw new Error('no report of the program');
    return { ...own, overall: report.verdict, binding: report.binding };
  };
  /** Page cache all over: 7 GiB free, 112 GiB available. */
  const cached: MachineFixture = { host: { free: 7 * GiB, available: 112 * GiB, cached: 106 * GiB, mapped: 0 } };
  const hugePages: MachineFixture = {
    host: { hugePagesTotal: 1024, hugePagesFree: 512, hugetlb: 2 * GiB },
  };

  it('follows its own reading: MemFree, MemAvailable, free huge pages', async () => {
    for (const program of ['torch', 'accelerate'] as const) {
      const report = await only(program, MODEL, cached);
      expect(report).toMatchObject({ overall: 'fits-after', binding: program });
      expect(report.remedies[0]?.command).toContain('drop_caches');
    }
    for (const program of ['vllm', 'sglang', 'llama.cpp', 'ollama'] as const)
      expect(await only(program, MODEL, cached)).toMatchObject({ verdict: 'fits', overall: 'fits' });
    for (const program of ['llama.cpp', 'ollama'] as const) {
      const report = await only(program, MODEL, hugePages);
      expect(report).toMatchObject({ verdict: 'fits-after', reads: GiB });
      expect(report.remedies[0]?.command).toContain('nr_hugepages');
    }
    expect(await only('vllm', MODEL, hugePages)).toMatchObject({ verdict: 'fits' });
  });

  it('recommends flags that start, hold the model, and leave the host its floor', async () => {
    const { flags, numbers } = await only('vllm', MODEL);
    expect(flags).toBe('--gpu-memory-utilization 0.21 --max-model-len 8192 --max-num-seqs 1');
    expect(numbers.requested).toBeGreaterThanOrEqual(24 * GiB);
    expect(numbers.kvTokens).toBeGreaterThan(8192);
    expect((await only('vllm', MODEL, {}, { utilization: 0.21 })).verdict).toBe('fits');
    expect((await only('sglang', MODEL)).flags).toBe(
      '--mem-fraction-static 0.17 --context-length 8192 --max-running-requests 1',
    );
    expect((await only('llama.cpp', MODEL)).flags).toBe('-ngl 999 -c 8192 -np 1');
    const loadable = Math.floor(safe() / GiB);
    expect((await only('accelerate', MODEL)).flags).toBe(`max_memory={0: "${loadable}GiB", "cpu": "0GiB"}`);
  });

  it('judges a given utilization by what the program takes, not by what the model needs', async () => {
    expect(await only('vllm', MODEL, {}, { utilization: 0.92 })).toMatchObject({
      verdict: 'no',
      overall: 'no',
      flags: null,
    });
    const refused = await only('vllm', MODEL, {}, { utilization: 0.98 });
    expect(refused.message).toMatch(
      /^Free memory on device cuda:0 \(111\.76\/119\.69 GiB\) on startup is less than desired GPU memory utilization \(0\.98, 117\.30 GiB\)\.$/,
    );
    const starved = await only('vllm', MODEL, {}, { utilization: 0.12 });
    expect(starved).toMatchObject({ verdict: 'no', message: 'No available memory for the cache blocks.' });
    const short = await only('vllm', MODEL, {}, { utilization: 0.15 });
    expect(short.message).toMatch(
      /^4\.00 GiB KV cache is needed, which is larger than the available KV cache memory \(1\.95 GiB\)\.$/,
    );
    const { numbers } = await only('sglang', MODEL);
    const withoutGraphs = Math.floor((1000 * safe()) / (numbers.before ?? 1)) / 1000;
    expect((await only('sglang', MODEL, {}, { utilization: withoutGraphs })).verdict).toBe('no');
    expect(await only('trtllm', MODEL, {}, { utilization: 0.99 })).toMatchObject({
      verdict: 'no',
      decision: expect.stringContaining('can be loaded safely'),
    });
  });

  it('of Ollama counts the layers that fit beside what it keeps free', async () => {
    const { decision } = await only('ollama', MODEL, { host: { available: 15 * GiB, free: 15 * GiB } });
    expect(decision).toBe('keeps layers on the CPU: about 25 of 32 are on the GPU');
  });

  it('warns of the default, which leaves the host next to nothing', async () => {
    const { notes } = await only('vllm', MODEL);
    expect(notes).toEqual([
      'Without the flag its share is 0.92, 110.1 GiB: it starts, and leaves 1.6 GiB for the host.',
    ]);
  });

  it('says so where the upper end of the range would change its decision', async () => {
    const limit = safe();
    const need = between(1, limit, limit + 20 * GiB);
    expect((await only('torch', need)).decision).toContain('for the expected size, not for the upper end');
    for (const program of ['accelerate', 'llama.cpp', 'ollama'] as const) {
      const wide = between(1, 60 * GiB, 200 * GiB);
      expect((await only(program, wide)).decision).toContain('if it takes no more than expected');
      expect((await only(program, MODEL)).decision).not.toContain('if it takes');
    }
    const target: FitOptions = { llama: { targetBytes: 30 * GiB } };
    const { decision } = await only('llama.cpp', between(1, 60 * GiB, 100 * GiB), {}, target);
    expect(decision).toContain('loads everything on the GPU, if it takes no more than expected');
  });

  it('of weights alone does not say how much it takes', async () => {
    const estimate = { total: exact(14 * GiB), terms: [{ name: 'weights', ...exact(14 * GiB) }] };
    const weights: FitNeed = { estimate };
    expect((await only('vllm', weights)).decision).toMatch(/^takes more than 14\.\d\d GiB \(0\.12\): its KV cache/);
    expect((await only('sglang', weights)).decision).toContain('its KV cache is not counted');
    expect((await ask(weights)).summary).toMatch(/^14\.0 GiB without cache and buffers fit: /);
  });

  const NO = ['no', 'no', null, [], []];
  it('that says no tells neither flags nor steps, and promises nothing', async () => {
    for (const program of ['vllm', 'sglang', 'llama.cpp', 'ollama', 'torch', 'accelerate'] as const) {
      const machine = { host: { available: 100 * GiB, free: 7 * GiB, cached: 93 * GiB } };
      const report = await ask(200 * GiB, machine, { program });
      const [only] = report.programs;
      expect([report.verdict, only?.verdict, only?.flags, only?.remedies, report.remedies]).toEqual(NO);
      expect(only?.notes.join()).not.toContain('succeeds');
    }
  });

  it('is judged again after the steps of the machine', async () => {
    const processes = [{ pid: 11, name: 'VLLM::EngineCor', gpuBytes: 60 * GiB }];
    const shared: MachineFixture = { processes, host: { available: 30 * GiB, free: 20 * GiB } };
    for (const program of ['vllm', 'sglang', 'llama.cpp', 'ollama', 'torch'] as const) {
      const report = await only(program, between(50 * GiB, 52 * GiB, 54 * GiB), shared);
      expect(report).toMatchObject({ overall: 'fits-after', verdict: 'fits-after', expectedFits: false });
      expect(report.remedies.map(({ text }) => text).join()).toContain('stop VLLM::EngineCor (11)');
    }
    // Its reading stays too small: page cache that is in use by programs cannot be dropped.
    const mapped: MachineFixture = {
      processes,
      host: { available: 30 * GiB, free: 2 * GiB, cached: 28 * GiB, mapped: 28 * GiB },
    };
    expect(await only('torch', between(70 * GiB, 71 * GiB, 72 * GiB), mapped)).toMatchObject({ overall: 'no' });
    expect((await ask(between(70 * GiB, 71 * GiB, 72 * GiB), mapped)).verdict).toBe('fits-after');
  });

  it('never outvotes the machine', async () => {
    for (const program of ['vllm', 'sglang', 'llama.cpp', 'ollama', 'torch', 'accelerate'] as const) {
      const report = await ask(200 * GiB, {}, { program });
      expect(report.verdict).toBe('no');
    }
  });
});
