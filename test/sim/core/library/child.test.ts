/** The child that reads cudaMemGetInfo for the command line: its reading, and that it never outlives its parent. */

import { describe, expect, it } from 'vitest';
import { loadMachine, simulate } from '../../../../lib/sim.ts';
import type { DoctorReport } from '../../../../lib/types/index.ts';
import { runUmaprobe, snapshotJson, startUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { childrenOf, isRunning } from '../../../support/processes.ts';
import { GiB } from '../../../support/units.ts';
import { waitFor } from '../../../support/wait.ts';

const devicesOf = (name: string) => loadMachine(name).devices;

describe('the child', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'does not outlive a parent that is ended by %s while CUDA hangs',
    async (signal) => {
      const parent = startUmaprobe(['snapshot', '--json', '--sim', 'gb10-cuda-hang', '--memgetinfo', 'child']);
      const pid = parent.pid as number;
      const child = await waitFor('a child', () => childrenOf(pid)[0]);
      parent.kill(signal);
      await waitFor('the end of the child', () => !isRunning(child));
    },
  );

  it('adds back its own context, and nothing of another process that takes 20 GiB meanwhile', () => {
    const path = machineFile('neighbour', {
      timing: { contextMs: 1000 },
      events: [{ atMs: 0, what: 'anon', bytes: 20 * GiB, overMs: 4000 }],
    });
    const [device] = snapshotJson(['--sim', path, '--memgetinfo', 'child']).devices;
    expect(device?.from.cuda).toContain('268435456 bytes of its own context');
  });

  it('does not guess the size of its context where NVML is missing', () => {
    const { devices, ledger } = snapshotJson([
      '--sim',
      machineFile('silent', { faults: { missingLibraries: ['nvml'] } }),
      '--memgetinfo',
      'child',
    ]);
    expect(devices[0]?.from.cuda).toContain('whose size is not known');
    expect(ledger.entries.some(({ label }) => label === 'gpuProcesses')).toBe(false);
  });

  it('is killed at its deadline, and the rest of the snapshot is there', () => {
    const taken = snapshotJson(['--sim', 'gb10-cuda-hang', '--memgetinfo', 'child']);
    expect(taken.devices[0]?.from.cuda).toMatch(/^ERR_UMA_TIMEOUT/);
    expect(taken.devices[0]?.memoryModel).toBe('unified');
    expect(taken.durationMs).toBeLessThan(8000);
  });

  const both = (base: string) => machineFile('both', { devices: [...devicesOf('gb10'), ...devicesOf('h200')] }, base);

  it('is not needed on a calm machine whose driver keeps nothing of a context: this process asks every GPU', () => {
    const { devices, host } = snapshotJson(['--sim', both('gb10')]);
    const [own, unified] = devices; // CUDA lists the faster GPU first
    expect(unified).toMatchObject({ memoryModel: 'unified', cuda: { total: 128_518_619_136 } });
    expect(unified?.from.cuda).toBe(
      'cudaMemGetInfo in this process; 268435456 bytes of its own context (NVML) are added back',
    );
    expect(unified?.cuda?.free).toBe(host.free);
    expect(own?.cuda?.total).toBe(150_109_880_320);
    expect(own?.from.cuda).toBe('cudaMemGetInfo in this process, whose context counts as used');
  });

  it.each(['gb10-590-pools', 'gb10-resting'])(
    'of %s, where a context stays or memory is short: GPUs with memory of their own, and no other, unless told to',
    (base) => {
      const path = both(base);
      const [own, unified] = snapshotJson(['--sim', path]).devices;
      expect(unified).toMatchObject({ memoryModel: 'unified', cuda: null });
      expect(unified?.from.cuda).toMatch(/^not asked: on an integrated GPU it reports MemFree/);
      expect(unified?.views.cudaMemGetInfo).toBeGreaterThan(GiB);
      expect(own?.cuda?.total).toBe(150_109_880_320);
      expect(own?.from.cuda).toBe('cudaMemGetInfo in this process, whose context counts as used');
      const [inChild, unifiedInChild] = snapshotJson(['--sim', path, '--memgetinfo', 'child']).devices;
      expect(inChild?.from.cuda).toContain('in a child process');
      expect(unifiedInChild?.from.cuda).toContain('in a child process');
    },
  );
});

describe('looking costs nothing', () => {
  /** A driver with pools that are empty: whatever a context leaves behind is seen. */
  const boot = () => simulate(machineFile('pools', { extends: 'gb10-590-pools', driver: { poolBytes: 0 } }));
  const traces = (machine: ReturnType<typeof simulate>) => {
    const { poolBytes, counts } = machine.record();
    return { poolBytes, contexts: (counts as { contexts: number }).contexts };
  };

  it('ten snapshots on a driver with pools create no context and leave the pools as they were', () => {
    const machine = boot();
    for (let run = 0; run < 10; run++) {
      const { devices, host } = snapshotJson([], { env: machine.env });
      expect(devices[0]?.views.cudaMemGetInfo).toBe(host.free);
    }
    expect(traces(machine)).toEqual({ poolBytes: 0, contexts: 0 });
    machine.close();
  });

  it('a context that was asked for says what it leaves in the pools', () => {
    const machine = boot();
    const [device] = snapshotJson(['--memgetinfo', 'child'], { env: machine.env }).devices;
    expect(device?.from.cuda).toMatch(/this driver keeps those 268,435,456 bytes in its pools now/);
    expect(traces(machine)).toEqual({ poolBytes: 268_435_456, contexts: 1 });
    const { stdout } = runUmaprobe(['doctor', '--only', 'library.cuda', '--json'], { env: machine.env });
    const { checks } = JSON.parse(stdout) as DoctorReport;
    machine.close();
    expect(checks[0]).toMatchObject({
      status: 'pass',
      evidence: expect.arrayContaining([
        expect.objectContaining({ name: 'GPU 0', value: expect.stringMatching(/keeps those 268,435,456 bytes/) }),
      ]),
    });
  });
});
