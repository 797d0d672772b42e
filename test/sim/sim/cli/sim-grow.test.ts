/** `umaprobe sim grow`: a program that takes memory of a simulated machine. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simulate } from '../../../../lib/sim.ts';
import { CLI, cliEnvironment, runUmaprobe } from '../../../support/cli.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';
import { waitFor } from '../../../support/wait.ts';

const folder = temporaryFolder('sim-grow');

/** Runs it on a machine, and returns what it printed and the machine's record. */
function growOn(machine: string, scale: number, args: readonly string[], prefix: readonly string[] = []) {
  const file = join(folder, `${machine}-${scale}.json`);
  const program = [...prefix, process.execPath, CLI, 'sim', 'grow', ...args];
  const ran = runUmaprobe(['sim', 'run', machine, '--scale', String(scale), '--report', file, '--', ...program]);
  const record = JSON.parse(runUmaprobe(['sim', 'run', 'gb10', '--', 'cat', file]).stdout);
  return { ...ran, record };
}

describe('sim grow', () => {
  it('takes memory along its curve and says so, as simulated', () => {
    const { code, stdout, record } = growOn('gb10', 10, ['--rate', '10GiB/s', '--to', '25GiB']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^holds 1\d\.\d GiB after [\d.]+ m?s \(simulated\)\n/);
    expect(stdout).toMatch(/done: at most 25\.0 GiB of memory \(simulated\)\n$/);
    const { leastAvailable, gpuBytes } = record.peak;
    expect(gpuBytes).toBe(0);
    // 112.8 GiB are available at first; the last piece need not have been seen.
    expect(leastAvailable).toBeLessThan(89 * GiB);
    expect(leastAvailable).toBeGreaterThan(87 * GiB);
    expect(record.simulatedMs).toBeGreaterThan(2500);
  });

  it('takes memory of the GPU through CUDA, spikes included', () => {
    const { code, stdout, record } = growOn('gb10', 10, [
      '--curve',
      '1s:8GiB,5s:8GiB,5s:20GiB,9s:20GiB,9s:1GiB',
      '--gpu',
    ]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/at most 20\.0 GiB of GPU memory \(simulated\)\n$/),
    });
    expect(record.peak.gpuBytes).toBeGreaterThanOrEqual(20 * GiB);
  });

  it('wedges the machine where nothing stops it: the control of every test of the guard', () => {
    const stopped = ['timeout', '-s', 'KILL', '6'];
    const { code, stderr, record } = growOn('gb10', 20, ['--rate', '40GiB/s', '--to', '200GiB'], stopped);
    expect(code).toBe(137);
    expect(record.wedged).toMatchObject({ during: 'a write to memory' });
    expect(stderr).toMatch(/WEDGED after [^\n]* \(simulated\) by process \d+ in a write to memory/);
  });

  it('gives its memory back when it is stopped in time', async () => {
    const simulation = simulate('gb10', { scale: 20 });
    const args = [CLI, 'sim', 'grow', '--rate', '20GiB/s', '--to', '60GiB', '--hold', '1h'];
    const child = spawn(process.execPath, args, { env: { ...cliEnvironment(), ...simulation.env }, stdio: 'ignore' });
    const bytesHeld = () => {
      const live = simulation.record().live as { pid: number; bytes: number }[];
      return live.reduce((sum, { bytes }) => sum + bytes, 0);
    };
    await waitFor('60 GiB', bytesHeld, (bytes) => bytes === 60 * GiB);
    child.kill('SIGTERM');
    await waitFor('the end of all memory that is held', bytesHeld, (bytes) => bytes === 0);
    expect(simulation.record().wedged).toBeNull();
    simulation.close();
  });

  it.each([
    [['--rate', '1GiB/s'], /^umaprobe: Say how it grows: --rate 4GiB\/s --to 110GiB, or --curve/],
    [['--rate', '1GiB', '--to', '2GiB'], /^umaprobe: sim grow takes memory of a simulated machine only/],
  ])('%j is refused in one line', (args, message) => {
    const { code, stderr } = runUmaprobe(['sim', 'grow', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});
