/** launch() and record() on a real GPU: a program that takes GPU memory is in the receipt, and in the recording by process. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { snapshot } from 'umaprobe';
import { launch, readRecord, record } from 'umaprobe/run';
import { describe, expect, it, vi } from 'vitest';
import { compileWithCudart, hasGpu, noGpu, usedMiB } from '../support/gpu.ts';
import { expectGpuCourse, expectGpuReceipt } from '../support/gpu-launches.ts';
import { ROOT } from '../support/root.ts';
import { parseDocument } from '../support/schemas.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GiB, MiB } from '../support/units.ts';

const TAKEN = 8 * GiB;
const HOST = 256 * MiB;
const ARGUMENTS = [String(TAKEN / MiB), String(HOST / MiB)];

describe.skipIf(!hasGpu)(`a program that takes GPU memory${noGpu}`, () => {
  it('is launched: the receipt and the recording have what it took', { timeout: 120_000 }, async () => {
    const before = usedMiB();
    const folder = join(temporaryFolder('gpu-launch'), 'record');
    const report = await launch({
      // The program holds its memory until its input ends; a list of processes is recorded every 5 s.
      command: [
        'sh',
        '-c',
        'sleep 7 | "$0" "$@"',
        compileWithCudart(join(ROOT, 'test/gpu/hold_memory.c')),
        ...ARGUMENTS,
      ],
      stdio: 'pipe',
      bytes: TAKEN + GiB,
      prepare: false,
      anyway: true,
      folder,
    });
    parseDocument(JSON.stringify(report));
    const { guard, outcome, plan, receipt, simulated } = report;
    console.log(
      `launch beside GPU memory: ${plan.verdict}, ${JSON.stringify(receipt?.own)}, ${JSON.stringify(receipt?.took)}`,
    );
    expect({ outcome, simulated, exitCode: guard?.exitCode }).toEqual({
      outcome: 'exited',
      simulated: null,
      exitCode: 0,
    });
    expect(plan.verdict).not.toBe('no');
    expectGpuReceipt(receipt, TAKEN, false);
    expect(receipt?.own.bytes).toBeGreaterThan(HOST);
    expect(receipt?.took.peak).toBeGreaterThan(HOST / 2);
    const [session] = (await readRecord({ folder })).sessions;
    if (session === undefined) throw new Error('nothing was recorded');
    expect(session.marks.map(({ text }) => text)).toEqual(['launch: sh', 'launch: exited']);
    expect(session.deviceName).not.toBeNull();
    expectGpuCourse(session, ({ name }) => name === 'program', TAKEN, false);
    const { devices } = await snapshot({ memGetInfo: 'never' });
    if (devices.some(({ memoryModel, visible }) => visible !== false && memoryModel === 'discrete')) {
      const [gpu] = receipt?.gpus ?? [];
      console.log(
        `launch on a GPU's own memory: ${JSON.stringify([gpu, session.gpus.map(({ lowestFree }) => lowestFree)])}`,
      );
      expect((gpu?.peak ?? 0) - (gpu?.before ?? 0)).toBeGreaterThanOrEqual(TAKEN);
      expect((gpu?.peak ?? 0) - (gpu?.before ?? 0)).toBeLessThan(TAKEN + 2 * GiB);
      expect(receipt?.took.peak).toBeLessThan(TAKEN / 2);
      const recorded = session.gpus.find(({ index }) => index === gpu?.index);
      expect((recorded?.total ?? 0) - (recorded?.lowestFree.bytes ?? 0)).toBeGreaterThanOrEqual(TAKEN);
    }
    await vi.waitFor(() => expect(usedMiB() - before).toBeLessThan(16), { timeout: 10_000 });
  });

  it('runs beside a recorder, which lists its GPU memory', { timeout: 60_000 }, async () => {
    const folder = join(temporaryFolder('gpu-record'), 'record');
    const program = compileWithCudart(join(ROOT, 'test/gpu/hold_memory.c'));
    const holder: ChildProcess = spawn(program, ARGUMENTS, { stdio: ['pipe', 'pipe', 'inherit'] });
    const recorder = await record({ folder, processesMs: 1000 });
    try {
      await once(holder.stdout as NodeJS.ReadableStream, 'data');
      await sleep(2500);
    } finally {
      await recorder.stop();
      holder.stdin?.end();
      await once(holder, 'exit');
    }
    const [session] = (await readRecord({ folder })).sessions;
    if (session === undefined) throw new Error('nothing was recorded');
    expectGpuCourse(session, ({ pid }) => pid === holder.pid, TAKEN, false);
    const held = session.processSeries.processes.find(({ pid }) => pid === holder.pid)?.highestHeld ?? 0;
    console.log(
      `record beside GPU memory: ${JSON.stringify({ held, gpu: session.processSeries.processes[0]?.highestGpuBytes })}`,
    );
    expect(held).toBeGreaterThan(HOST);
  });
});
