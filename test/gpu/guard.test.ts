/** guard() on a real GPU: a program that takes pinned memory, and one that holds GPU memory. */

import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { hostMemorySync } from 'umaprobe';
import { guard } from 'umaprobe/run';
import { describe, expect, it, vi } from 'vitest';
import { compileWithCudart, hasGpu, noGpu, usedMiB } from '../support/gpu.ts';
import { ROOT } from '../support/root.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GiB, MiB } from '../support/units.ts';

const program = (name: string) => compileWithCudart(join(ROOT, 'test/gpu', name));
/** What the program may take: less than a third of the machine, whatever it has. */
const TAKEN = 24 * GiB;

describe.skipIf(!hasGpu || freemem() < 3 * TAKEN)(`guard() on a real GPU${noGpu}`, () => {
  it('stops a program that takes pinned memory before the floor, and the memory is back', {
    timeout: 120_000,
  }, async () => {
    const before = hostMemorySync().available as number;
    const floorBytes = before - TAKEN;
    const report = await guard({ command: [program('take_pinned.c'), '64'], stdio: 'pipe', floorBytes });
    console.log(
      `guard beside pinned memory: lowest ${(((report.lowest.available ?? 0) - floorBytes) / GiB).toFixed(2)} GiB above the floor, ` +
        `${report.sentence}`,
    );
    expect(report).toMatchObject({ outcome: 'stopped', reason: 'floor-near', simulated: null });
    expect(report.lowest.available).toBeGreaterThan(floorBytes);
    expect(report.lowest.available).toBeLessThan(before - TAKEN / 4);
    await vi.waitFor(() => expect(hostMemorySync().available).toBeGreaterThan(before - GiB), { timeout: 20_000 });
  });

  it('knows the GPU memory of what it guards, where NVML lists it', { timeout: 60_000 }, async () => {
    const before = usedMiB();
    const report = await guard({
      // The program holds its memory until its input ends.
      command: ['sh', '-c', 'sleep 4 | "$0" 8192 256', program('hold_memory.c')],
      stdio: 'pipe',
      floorBytes: 2 * GiB,
    });
    console.log(`guard beside GPU memory: ${JSON.stringify(report.peak)}`);
    expect(report).toMatchObject({ outcome: 'exited', exitCode: 0 });
    await vi.waitFor(() => expect(usedMiB() - before).toBeLessThan(16), { timeout: 10_000 });
    const { peak } = report;
    expect(peak.groupBytes).toBeGreaterThan(256 * MiB);
    // In a PID namespace NVML lists processes of other namespaces or none: then it is not known, and never 0.
    if (peak.groupGpuBytes !== null) expect(peak.groupGpuBytes).toBeGreaterThanOrEqual(8 * GiB);
  });

  it('keeps of NVML in memory only what is used', async () => {
    const file = join(temporaryFolder('guard'), 'status');
    // The program's parent is the guard. NVML is loaded after the program has started.
    const command = ['sh', '-c', 'sleep 2; cat /proc/$PPID/status > "$0"', file];
    await guard({ command, stdio: 'pipe', floorBytes: 2 * GiB });
    const kB = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
    console.log(`guard beside NVML: ${kB('VmSize')} kB mapped, ${kB('VmRSS')} kB in memory`);
    // Locked as a whole it was 122 MiB.
    expect(kB('VmRSS') / 1024).toBeLessThan(64);
  });
});
