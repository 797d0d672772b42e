/** stress on a GPU that others use: it says so, leaves them a share, and takes their last byte only when told to. */
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../../support/cli.ts';
import { machineFile, machineWith, withFastMachine } from '../../../support/machines.ts';
import { runStress, stressReport } from '../../../support/package-on-machine.ts';
import { GiB, MiB } from '../../../support/units.ts';

const HELD = 100 * GiB;
const processes = [{ name: 'VLLM::EngineCor', pid: 4_200_017, gpuBytes: HELD, anonBytes: 0 }];
const shared = machineWith('h200', { processes });

describe('a GPU with memory of its own that others use', () => {
  it('keeps their share free, by default a tenth of what they hold (simulated)', async () => {
    await withFastMachine(shared, async (simulation) => {
      const found = await stressReport(simulation, { journal: false });
      expect(found).toMatchObject({
        state: 'share',
        share: { bytes: HELD / 10 },
        others: { bytes: HELD, processes: [{ pid: 4_200_017, name: 'VLLM::EngineCor', gpuBytes: HELD }] },
      });
      expect(found.boundBy).toMatch(/free besides the 10\.00 GiB \(10\.74 GB\) that stay free for its other users/);
      const free = (found.device.total as number) - HELD - found.maxBytes;
      expect(free).toBeGreaterThanOrEqual(HELD / 10);
      // The context, and less than two blocks of the driver.
      expect(free).toBeLessThan(HELD / 10 + 552_402_944 + 8 * MiB);
      const single = await stressReport(simulation, { journal: false, single: true });
      expect(single.state).toBe('share');
      expect(Math.abs(single.maxBytes - found.maxBytes)).toBeLessThanOrEqual(64 * MiB);
      const managed = await stressReport(simulation, { journal: false, kind: 'managed' });
      expect(managed).toMatchObject({ state: 'share', share: { bytes: HELD / 10 } });
      const pinned = await stressReport(simulation, { journal: false, kind: 'pinned', maxBytes: GiB });
      expect(pinned).toMatchObject({ state: 'limit', share: null });
    });
  });

  it('is filled to the last byte only when told to (simulated)', async () => {
    await withFastMachine(shared, async (simulation) => {
      const refused = await runStress(simulation, { journal: false, shareBytes: 0 });
      expect(refused.error).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
      expect(refused.error?.message).toContain('acceptThatOthersRunOut takes less');
      const told = await stressReport(simulation, { journal: false, shareBytes: 0, acceptThatOthersRunOut: true });
      expect(told).toMatchObject({ state: 'out-of-memory', share: { bytes: 0, from: 'as requested' } });
      const least = await stressReport(simulation, { journal: false, shareBytes: 256 * MiB });
      expect(told.maxBytes - least.maxBytes).toBeGreaterThan(240 * MiB);
    });
  });

  it('is announced before the first step, by name and bytes (simulated)', () => {
    const path = machineFile('shared', { processes }, 'h200');
    const ran = runUmaprobe(['stress', '--sim', path, '--journal', 'none', '--max', '1GiB']);
    expect(ran.stderr.split('\n')[0]).toBe(
      'Others use this GPU: VLLM::EngineCor (4200017) holds 100.0 GiB. 10.0 GiB stay free for them.',
    );
    expect(ran.stdout).toMatch(/shared with others: VLLM::EngineCor \(4200017\) holds 100\.0 GiB/);
    const sweep = runUmaprobe(['sweep', '--sim', path, '--journal', 'none', '--sizes', '1GiB', '--kind', 'device']);
    expect(sweep.stderr.split('\n')[0]).toMatch(
      /^Others use this GPU: VLLM::EngineCor .* A size that fits beside them/,
    );
    const refused = runUmaprobe(['stress', '--sim', path, '--share', '0']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/--share "0" is below 256MiB.*--i-accept-that-others-run-out/);
  });
});

describe('unified memory that others use', () => {
  it('has one limit, the larger of floor and share, and says which (simulated)', async () => {
    await withFastMachine('gb10-busy', async (simulation) => {
      const usual = await stressReport(simulation, { journal: false, maxBytes: GiB });
      expect(usual).toMatchObject({ state: 'limit', others: { processes: [{ name: 'VLLM::EngineCor' }, {}, {}] } });
      expect(usual.share?.bytes).toBeLessThan(usual.floor?.bytes ?? 0);
      expect(usual.floor?.from).toMatch(/MemTotal/);
      const found = await stressReport(simulation, { journal: false, shareBytes: 20 * GiB });
      expect(found).toMatchObject({
        state: 'floor',
        floor: { bytes: 20 * GiB, from: 'the share of the GPU’s other users: as requested' },
      });
      const { peak } = simulation.record() as unknown as { peak: { leastAvailable: number } };
      expect(peak.leastAvailable).toBeGreaterThanOrEqual(20 * GiB);
    });
  });
});
