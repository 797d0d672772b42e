/** The child that reads cudaMemGetInfo for the command line: its reading, and that it never outlives its parent. */

import { describe, expect, it } from 'vitest';
import { snapshotJson, startUmaprobe } from '../../support/cli.ts';
import { machineFile } from '../../support/machines.ts';
import { childrenOf, isRunning } from '../../support/processes.ts';
import { GiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

describe('the child', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'does not outlive a parent that is ended by %s while CUDA hangs',
    async (signal) => {
      const parent = startUmaprobe(['snapshot', '--json', '--sim', 'gb10-cuda-hang']);
      const pid = parent.pid as number;
      expect(await waitFor(() => childrenOf(pid).length > 0, 5000)).toBe(true);
      const [child] = childrenOf(pid) as [number];
      parent.kill(signal);
      expect(await waitFor(() => !isRunning(child), 3000)).toBe(true);
    },
  );

  it('adds back its own context, and nothing of another process that takes 20 GiB meanwhile', () => {
    const path = machineFile('neighbour', {
      timing: { contextMs: 1000 },
      events: [{ atMs: 0, what: 'anon', bytes: 20 * GiB, overMs: 4000 }],
    });
    const [device] = snapshotJson(['--sim', path]).devices;
    expect(device?.from.cuda).toContain('268435456 bytes of its own context');
  });

  it('does not guess the size of its context where NVML is missing', () => {
    const { devices, ledger } = snapshotJson([
      '--sim',
      machineFile('silent', { faults: { missingLibraries: ['nvml'] } }),
    ]);
    expect(devices[0]?.from.cuda).toContain('whose size is not known');
    expect(ledger.entries.some(({ label }) => label === 'gpuProcesses')).toBe(false);
  });

  it('is killed at its deadline, and the rest of the snapshot is there', () => {
    const taken = snapshotJson(['--sim', 'gb10-cuda-hang']);
    expect(taken.devices[0]?.from.cuda).toMatch(/^ERR_UMA_TIMEOUT/);
    expect(taken.devices[0]?.memoryModel).toBe('unified');
    expect(taken.durationMs).toBeLessThan(8000);
  });
});
