/** `umaprobe launch` of programs with GPU memory, on simulated machines: the receipt and the recording have it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { receiptRows } from '../../../../lib/show/render/launch-facts.ts';
import type { RecordReport } from '../../../../lib/types/index.ts';
import { runUmaprobe, umaprobe } from '../../../support/cli.ts';
import { expectGpuCourse, expectGpuReceipt } from '../../../support/gpu-launches.ts';
import { CONFIG, document, folder, GROW, launch } from '../../../support/launch-cli.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GiB } from '../../../support/units.ts';

describe('a program with GPU memory', () => {
  // The same expectations as on a real GPU (test/gpu/launch.test.ts).
  it.each(['gb10', 'h200'])('is in receipt and recording, on %s', async (machine) => {
    const own = join(folder, `gpu-${machine}`);
    const program = [...GROW, '--gpu', '--rate', '20GiB/s', '--to', '8GiB', '--hold', '7s'];
    const options = ['--sim', machine, '--json', '--bytes', '9GiB', '--folder', own, '--no-prepare'];
    const ran = await umaprobe(['launch', ...options, '--', ...program]);
    expect(ran.code).toBe(0);
    const { receipt } = document(ran.stdout);
    expectGpuReceipt(receipt, 8 * GiB, true);
    const shown = runUmaprobe(['record', 'show', '--sim', machine, '--folder', own, '--json']).stdout;
    const [session] = (parseDocument(shown) as unknown as RecordReport).sessions;
    if (session === undefined) throw new Error('nothing was recorded');
    expectGpuCourse(session, ({ name }) => name === 'node', 8 * GiB, true);
  });
});

describe('on a GPU with memory of its own (simulated)', () => {
  const h200 = (...words: string[]) =>
    launch('--sim', 'h200', '--no-record', '--model', CONFIG, '--for', 'vllm', '--context', '8192', ...words);
  const grow = [...GROW, '--gpu', '--rate', '40GiB/s', '--to', '18GiB', '--hold', '500ms'];

  it('the receipt has the peak of each pool beside what was expected of that pool', () => {
    const { receipt, plan } = document(h200('--json', '--', ...grow).stdout);
    const [gpu, ...others] = receipt?.gpus ?? [];
    expect(others).toEqual([]);
    expect(gpu).toMatchObject({ index: 0, name: 'NVIDIA H200', before: 0, after: 0 });
    expect(gpu?.peak).toBeGreaterThan(18 * GiB);
    expect(gpu?.peak).toBeLessThan(19 * GiB);
    expect(gpu?.left).toBe((gpu?.total ?? 0) - (gpu?.peak ?? 0));
    // What the GPU held is not in the host's memory.
    expect(receipt?.took.peak).toBeLessThan(2 * GiB);
    expect(receipt?.took.weights).toBeNull();
    expect(plan.expected?.host?.high).toBeGreaterThan(4 * GiB);
    const { stderr } = h200('--', ...grow);
    expect(stderr).toMatch(/^GPU 0 peak {2}18\.\d+ GiB .*expected 22\.1 GiB/m);
    expect(stderr).toMatch(/^host peak .*for loading and data$/m);
    expect(stderr).toMatch(/own memory is not guarded \(GPU 0,\s+NVIDIA H200\)/);
  });

  it('the recording has what was left of the GPU, and who held it', () => {
    const at = join(folder, 'h200-record');
    const { code, stderr } = runUmaprobe([
      'launch',
      '--folder',
      at,
      '--sim',
      'h200',
      '--bytes',
      '20GiB',
      '--',
      ...grow,
    ]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('GPU 0 peak')]);
    const show = (...words: string[]) => runUmaprobe(['record', 'show', '--folder', at, '--sim', 'h200', ...words]);
    const { sessions } = parseDocument(show('--json').stdout) as unknown as RecordReport;
    const [gpu, ...others] = sessions[0]?.gpus ?? [];
    expect(others).toEqual([]);
    expect(gpu?.name).toBe('NVIDIA H200');
    const { bytes = 0, holders } = gpu?.lowestFree ?? {};
    expect((gpu?.total ?? 0) - bytes).toBeGreaterThan(18 * GiB);
    expect(holders).toEqual([{ pid: expect.any(Number), name: 'node', gpuBytes: (gpu?.total ?? 0) - bytes }]);
    expect(Math.max(...(gpu?.used ?? []))).toBe((gpu?.total ?? 0) - bytes);
    expect(gpu?.used[0]).toBe(0);
    expect(gpu?.at).toHaveLength(gpu?.used.length ?? -1);
    expect(show().stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /lowest on GPU 0 121\.\d GiB of 139\.8 GiB free at .*; node \(\d+\) held 18\.\d GiB/,
    );
    const page = join(folder, 'h200.html');
    show('--html', page);
    expect(readFileSync(page, 'utf8')).toContain('lowest on GPU 0');
    const lines = show('--jsonl', '-')
      .stdout.trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; used: number });
    expect(Math.max(...lines.filter(({ type }) => type === 'gpu').map(({ used }) => used))).toBe(
      (gpu?.total ?? 0) - bytes,
    );
  });

  it('a program that takes none of the GPU has no row of it', () => {
    const { receipt } = document(h200('--json', '--', 'true').stdout);
    expect(receipt).toMatchObject({ gpus: [], gpuProblem: null });
    const text = h200('--', 'true').stderr.replaceAll(/\s+/g, ' ');
    expect(text).toContain("unexpected 22.1 GiB were expected of the GPU's own memory; it took none that counts");
    expect(text).toMatch(/host peak \S+ \S+( \(\S+ \S+\))?; expected .* for loading and data/);
  });

  it('beside one that shares the host’s: a program on the other GPU than the verdict’s has no safe flags by the host', () => {
    const beside = ['--sim', 'test/agree/machines/gb10-beside-h200.json', '--no-record', '--no-prepare', '--json'];
    const model = ['--model', CONFIG, '--for', 'vllm', '--context', '8192', '--utilization', '0.3'];
    const { receipt } = document(launch(...beside, ...model, '--', ...grow).stdout);
    expect(receipt?.gpus.map(({ index }) => index)).toEqual([0]);
    expect(receipt?.flags).toBeNull();
    const rows = receiptRows(receipt as NonNullable<typeof receipt>, null);
    expect(rows.find(([label]) => label === 'unexpected')?.[1]).toMatch(
      /were expected of the memory that CPU and GPU share; it took the own memory of GPU 0$/,
    );
  });

  it('a GPU in MIG mode is not known, and says why', () => {
    const machine = join(folder, 'mig.json');
    const [device] = JSON.parse(readFileSync('lib/machines/h200.json', 'utf8')).devices;
    device.nvml.migMode = 1;
    writeFileSync(
      machine,
      JSON.stringify({ extends: 'h200', name: 'mig', schema: 'umaprobe/machine/1', devices: [device] }),
    );
    const { receipt } = document(
      launch('--sim', machine, '--no-record', '--bytes', '1GiB', '--json', '--', 'true').stdout,
    );
    expect(receipt?.gpus).toEqual([]);
    expect(receipt?.gpuProblem).toContain('MIG mode');
  });
});
