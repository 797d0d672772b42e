/** CUDA_VISIBLE_DEVICES: the command shows the machine whatever it says, and probes keep to it. */
import { describe, expect, it } from 'vitest';
import { loadMachine } from '../../../../lib/sim.ts';
import { runUmaprobe, snapshotJson } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';

const devicesOf = (name: string) => loadMachine(name).devices;
/** CUDA's order is by speed: device 0 is the H200, device 1 the GB10. */
const both = machineFile('both', { devices: [...devicesOf('gb10'), ...devicesOf('h200')] });
const H200 = 'GPU-5117ab1e-0000-0000-0000-000000000201';

const withVariable = (value: string, more: Record<string, string> = {}) => ({
  env: { CUDA_VISIBLE_DEVICES: value, ...more },
});

describe('umaprobe snapshot', () => {
  // Value of the variable, and the CUDA ordinals of the H200 and of the GB10 in this process.
  it.each<[string, number | null, number | null, Record<string, string>?]>([
    ['0,1', 0, 1],
    ['1,0', 1, 0],
    ['0', 0, null],
    ['1', null, 0],
    ['0,9,1', 0, null],
    [H200, 0, null],
    ['GPU-5117ab1e-0000-0000-0000-000000000010', null, 0],
    ['GPU-5117ab1e', null, null],
    ['0,0', null, null],
    ['', null, null],
    ['-1', null, null],
    ['NoDevFiles', null, null],
    ['MIG-5117ab1e-0000-0000-0000-000000000201', null, null],
    ['0', null, 0, { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' }],
  ])('CUDA_VISIBLE_DEVICES=%j: all GPUs with their memory', (value, own, unified, more) => {
    const { devices, libraries, cudaVisibleDevices } = snapshotJson(['--sim', both], withVariable(value, more));
    const found = (name: string) => devices.find((device) => device.name === name);
    expect(cudaVisibleDevices).toBe(value);
    expect(libraries.cuda.state).toBe('loaded');
    expect(devices).toHaveLength(2);
    expect([found('NVIDIA H200'), found('NVIDIA GB10')]).toMatchObject([
      { memoryModel: 'discrete', computeCapability: '9.0', cudaIndex: own, visible: own !== null },
      { memoryModel: 'unified', computeCapability: '12.1', cudaIndex: unified, visible: unified !== null },
    ]);
    for (const device of devices) {
      expect(device.allocatable.immediate).toBeGreaterThan(0);
      if (device.visible === false) expect(device.from.visible).toMatch(/hides it$/);
    }
  });

  it('shows all GPUs where NVML is missing', () => {
    const path = machineFile('no-nvml', { faults: { missingLibraries: ['nvml'] } });
    const { devices } = snapshotJson(['--sim', path], withVariable('-1'));
    expect(devices).toMatchObject([{ name: 'NVIDIA GB10', memoryModel: 'unified', visible: false, cudaIndex: null }]);
  });

  it('says which GPUs programs do not find, and never that there is none', () => {
    const { stdout } = runUmaprobe(['snapshot', '--sim', both], withVariable(''));
    expect(stdout).toMatch(/GPU 0 {2}NVIDIA GB10 · hidden by CUDA_VISIBLE_DEVICES · unified memory/);
    expect(stdout).toMatch(
      /WARNING {2}No program that is started here can load anything on the GPU\.\n +CUDA_VISIBLE_DEVICES="" hides both GPUs of this machine from programs/,
    );
    const doctor = runUmaprobe(
      ['doctor', '--sim', 'gb10', '--only', 'library.*,cuda.visible'],
      withVariable('NoDevFiles'),
    );
    expect(doctor.stdout).toMatch(/pass {5}library\.cuda/);
    expect(doctor.stdout).toMatch(
      /fail {5}cuda\.visible +CUDA_VISIBLE_DEVICES="NoDevFiles" hides the GPU[\s\S]*\sentry\s+"NoDevFiles" names no GPU/,
    );
    expect(stdout + doctor.stdout).not.toMatch(/No GPU|other users|Install the NVIDIA driver/);
  });

  it('starts no child where nothing is hidden', () => {
    const env = { CUDA_VISIBLE_DEVICES: '0', NODE_OPTIONS: '--require ./test/support/no-children.cjs' };
    expect(snapshotJson(['--sim', 'gb10'], { env }).devices[0]?.visible).toBe(true);
  });
});

describe('probes', () => {
  it.each(['stress', 'sweep'])('%s keeps to the variable, and says what it hides', (command) => {
    const ran = runUmaprobe([command, '--sim', both, '--device', '1', '--journal', 'none'], withVariable('0'));
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(
      'there is no CUDA device 1; CUDA sees 1 of the 2 GPUs of this machine: CUDA_VISIBLE_DEVICES="0"',
    );
    const none = runUmaprobe([command, '--sim', both, '--journal', 'none'], withVariable(''));
    expect(none.stderr).toContain('CUDA sees 0 of the 2 GPUs of this machine: CUDA_VISIBLE_DEVICES=""');
  });
});
