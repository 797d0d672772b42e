/** The child that reads cudaMemGetInfo for the command line: what it says, and that it never stays behind. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI, snapshotJson } from '../../support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'umaprobe-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A machine of the test's own. */
function machine(name: string, changes: object): string {
  const path = join(folder, `${name}.json`);
  const header = { schema: 'umaprobe/machine/1', name, extends: 'gb10', description: 'Made by a test.' };
  writeFileSync(path, JSON.stringify({ ...header, ...changes }));
  return path;
}

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const alive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
async function until(what: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(10)) if (what()) return true;
  return what();
}

describe('the child', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'does not outlive a parent that is ended by %s while CUDA hangs',
    async (signal) => {
      const parent = spawn(process.execPath, [CLI, 'snapshot', '--json', '--sim', 'gb10-cuda-hang'], {
        stdio: 'ignore',
      });
      const pid = parent.pid as number;
      expect(await until(() => childrenOf(pid).length > 0, 5000)).toBe(true);
      const [child] = childrenOf(pid) as [number];
      parent.kill(signal);
      expect(await until(() => !alive(child), 3000)).toBe(true);
    },
  );

  it('adds back its own context and nothing of a neighbour’s, who takes 20 GiB meanwhile', () => {
    const path = machine('neighbour', {
      timing: { contextMs: 1000 },
      events: [{ atMs: 0, what: 'anon', bytes: 20 * 2 ** 30, overMs: 4000 }],
    });
    const [device] = snapshotJson(['--sim', path]).devices;
    expect(device?.from.cuda).toContain('268435456 bytes of its own context');
  });

  it('does not guess where NVML cannot tell what it holds', () => {
    const { devices, ledger } = snapshotJson(['--sim', machine('silent', { faults: { missingLibraries: ['nvml'] } })]);
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
