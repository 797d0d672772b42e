/** Monitors that print once: nvtop's snapshot, gpustat, nvitop. */
import { describe, expect, it } from 'vitest';
import type { Simulation } from '../../../lib/sim.ts';
import { missingClients, runClient, whileHolding } from '../../support/debian.ts';
import { withMachine } from '../../support/machines.ts';

const missing = missingClients('trixie');
const GIB = 2 ** 30;

/** What a program prints on a machine. */
function printed(simulation: Simulation, program: string, ...args: string[]): string {
  const { code, stdout, stderr } = runClient(simulation, 'trixie', program, args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe.skipIf(missing !== null)(`monitors${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  const onMachine = (machine: string, program: string, ...args: string[]) =>
    withMachine(machine, (simulation) => printed(simulation, program, ...args));

  it.each([
    [
      'gb10',
      {
        device_name: 'NVIDIA GB10',
        gpu_clock: '208MHz',
        mem_clock: null,
        temp: '40C',
        fan_speed: null,
        power_draw: '4W',
        gpu_util: '0%',
        mem_util: null,
      },
    ],
    [
      'h200',
      {
        device_name: 'NVIDIA H200',
        gpu_clock: '345MHz',
        mem_clock: '3201MHz',
        temp: '29C',
        fan_speed: null,
        power_draw: '77W',
        gpu_util: '0%',
        mem_util: '0%',
      },
    ],
    [
      'rtx3060-fallback',
      {
        device_name: 'NVIDIA GeForce RTX 3060',
        gpu_clock: '210MHz',
        mem_clock: '405MHz',
        temp: '41C',
        fan_speed: '30%',
        power_draw: '14W',
        gpu_util: '0%',
        mem_util: '1%',
      },
    ],
  ])('nvtop -s on %s', async (machine, device) => {
    expect(JSON.parse(await onMachine(machine, 'nvtop', '-s'))).toEqual([device]);
  });

  it.each([
    ['gb10', '[0] NVIDIA GB10 | 40°C,  ?? %,   0 % (E:   0 %  D:   0 %),    4 /  ?? W |    ?? /    ?? MB |'],
    ['h200', '[0] NVIDIA H200 | 29°C,  ?? %,   0 % (E:   0 %  D:   0 %),   77 / 700 W |     0 / 143771 MB |'],
    [
      'rtx3060-fallback',
      '[0] NVIDIA GeForce RTX 3060 | 41°C,  30 %,   0 % (E:   0 %  D:   0 %),   14 / 170 W |     0 / 12288 MB |',
    ],
    ['thor', '[0] NVIDIA Thor | 40°C,  ?? %,   0 % (E:   0 %  D:   0 %),    4 /  ?? W |    ?? /    ?? MB |'],
  ])('gpustat on %s', async (machine, line) => {
    expect((await onMachine(machine, 'gpustat', '--show-all', '--no-color', '--no-header')).trimEnd()).toBe(line);
  });

  it.each([
    ['gb10', 268_435_456, null, null],
    ['h200', 552_402_944, 143_771, 2575],
  ])('gpustat on %s lists a process and its memory', async (machine, contextBytes, total, used) => {
    await withMachine(machine, (simulation) =>
      whileHolding(simulation, 2 * GIB, (pid) => {
        const { gpus } = JSON.parse(printed(simulation, 'gpustat', '--json'));
        const [device] = gpus;
        expect(device).toMatchObject({ 'memory.total': total });
        // gpustat's own figure is without what the driver reserves, and rounds.
        if (used === null) expect(device['memory.used']).toBeNull();
        else expect(Math.abs(device['memory.used'] - used)).toBeLessThanOrEqual(1);
        const mebibytes = Math.floor((2 * GIB + contextBytes) / 2 ** 20);
        expect(device.processes).toEqual([expect.objectContaining({ pid, gpu_memory_usage: mebibytes })]);
      }),
    );
  });

  it.each([
    [
      'gb10',
      '0  GB10                On   │ 0000000F:01:00.0 Off │                  N/A',
      'N/A   40C    P8      4W / N/A │            N/A / N/A │      0%      Default',
      '2304MiB',
    ],
    [
      'h200',
      '0  H200                On   │ 00000000:00:06.0 Off │ Disabled           0',
      'N/A   29C    P0    77W / 700W │   2575MiB / 140.4GiB │      0%      Default',
      '2575MiB',
    ],
  ])('nvitop on %s', async (machine, identity, readings, held) => {
    await withMachine(machine, (simulation) =>
      whileHolding(simulation, 2 * GIB, (pid) => {
        const lines = printed(simulation, 'nvitop', '--once').split('\n');
        expect(lines).toContain(`│   ${identity} │`);
        expect(lines).toContain(`│ ${readings} │`);
        expect(lines.find((line) => line.includes(` ${pid} C `))).toContain(` ${held} `);
      }),
    );
  });

  it('nvitop on gb10-busy lists the compute and the graphics processes of the machine', async () => {
    const lines = (await onMachine('gb10-busy', 'nvitop', '--once')).split('\n');
    const listed = lines.map((line) => /^│ +0 (\d{7} [CG]) +\S+ +(\S+)/.exec(line)).filter((found) => found !== null);
    expect(listed.map(([, process, bytes]) => `${process} ${bytes}`)).toEqual([
      '4195001 G 42.00MiB',
      '4195202 G 74.00MiB',
      '4200017 C 70.00GiB',
    ]);
  });

  it('says that there is no GPU where there is no driver', async () => {
    expect(await onMachine('no-driver', 'nvtop', '-s')).toBe('No GPU to monitor.\n');
    await withMachine('no-driver', (simulation) => {
      const { code, stderr } = runClient(simulation, 'trixie', 'gpustat');
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('NVML') });
    });
  });
});
