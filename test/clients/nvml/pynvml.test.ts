/** nvidia-ml-py, Python's binding of NVML: every question that monitors ask, and its answer. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../lib/sim.ts';
import { CLIENTS } from '../../support/clients.ts';
import { missingClients, runClient } from '../../support/debian.ts';
import { machineWith, withMachine } from '../../support/machines.ts';

const missing = missingClients('trixie');
const NO = 'Not Supported';

/** The answers that a script of this folder prints. */
const answersOn = (machine: Machine | string, script = 'questions.py', scale = 1) =>
  withMachine(
    machine,
    (simulation) => {
      const { code, stdout, stderr } = runClient(simulation, 'trixie', 'python3', [join(CLIENTS, 'nvml', script)]);
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout) as object;
    },
    { scale },
  );

/** What does not depend on the machine. */
const everywhere = {
  minor: 0,
  severalOnBoard: 0,
  memoryMax: NO,
  noThreshold: 'Invalid Argument',
  noCounter: 'Invalid Argument',
  nvlink: NO,
  driverModel: NO,
  isMigInstance: 0,
  migInstances: 0,
  notSimulated: 'Not Supported',
  noDevice: 'Invalid Argument',
  byPci: true,
  field: 3, // NVML_ERROR_NOT_SUPPORTED
  energyGrows: true,
  clockReasons: 1,
  computeMode: 0,
  encoder: [0, 167_000],
  decoder: [0, 167_000],
};

describe.skipIf(missing !== null)(`nvidia-ml-py${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  it('gb10: no memory of its own, no fan, no power limits, a stub of a PCIe link', async () => {
    expect(await answersOn('gb10')).toEqual({
      ...everywhere,
      name: 'NVIDIA GB10',
      driver: '580.142',
      brand: 14,
      architecture: 10,
      computeCapability: [12, 1],
      cores: 6144,
      memoryBusWidth: 256,
      serial: NO,
      vbios: NO,
      board: 0x100,
      pci: {
        busIdLegacy: '000F:01:00.0',
        domain: 15,
        bus: 1,
        device: 0,
        pciDeviceId: 0x2e1210de,
        pciSubSystemId: 0,
        busId: '0000000F:01:00.0',
      },
      memory: NO,
      memoryV2: NO,
      bar1: NO,
      utilization: { gpu: 0, memory: 0 },
      temperature: 40,
      shutdown: NO,
      slowdown: NO,
      gpuMax: NO,
      fans: NO,
      fan: NO,
      fan0: NO,
      fan9: NO,
      power: 4000,
      powerManagement: NO,
      limit: NO,
      defaultLimit: NO,
      enforcedLimit: NO,
      limits: NO,
      clock: 208,
      memoryClock: NO,
      performanceState: 8,
      generation: 1,
      width: 1,
      maxGeneration: 1,
      maxWidth: 1,
      sent: NO,
      received: NO,
      persistence: 1,
      displayMode: 0,
      displayActive: 0,
      ecc: NO,
      eccErrors: NO,
      mig: NO,
    });
  });

  it('h200: memory, limits and thresholds of a discrete GPU', async () => {
    expect(await answersOn('h200')).toEqual({
      ...everywhere,
      name: 'NVIDIA H200',
      driver: '580.159.04',
      brand: 14,
      architecture: 9,
      computeCapability: [9, 0],
      cores: 16_896,
      memoryBusWidth: 6016,
      serial: '1650000000201',
      vbios: '96.00.00.00.00',
      board: 0,
      pci: {
        busIdLegacy: '0000:00:06.0',
        domain: 0,
        bus: 0,
        device: 6,
        pciDeviceId: 0x233510de,
        pciSubSystemId: 0,
        busId: '00000000:00:06.0',
      },
      memory: { total: 150_754_820_096, used: 644_939_776, free: 150_109_880_320 },
      memoryV2: {
        version: 0x2000028,
        total: 150_754_820_096,
        reserved: 644_939_776,
        free: 150_109_880_320,
        used: 0,
      },
      bar1: { bar1Total: 274_877_906_944, bar1Free: 274_875_809_792, bar1Used: 2_097_152 },
      utilization: { gpu: 0, memory: 0 },
      temperature: 29,
      shutdown: 92,
      slowdown: 89,
      gpuMax: 87,
      fans: NO,
      fan: NO,
      fan0: NO,
      fan9: NO,
      power: 77_000,
      powerManagement: 1,
      limit: 700_000,
      defaultLimit: 700_000,
      enforcedLimit: 700_000,
      limits: [200_000, 700_000],
      clock: 345,
      memoryClock: 3201,
      performanceState: 0,
      generation: 5,
      width: 16,
      maxGeneration: 5,
      maxWidth: 16,
      sent: 0,
      received: 0,
      persistence: 1,
      displayMode: 1,
      displayActive: 0,
      ecc: [1, 1],
      eccErrors: 0,
      mig: [0, 0],
    });
  });

  it('rtx3060-fallback: a fan, a display, no ECC', async () => {
    expect(await answersOn('rtx3060-fallback')).toMatchObject({
      brand: 5,
      architecture: 7,
      fans: 2,
      fan: 30,
      fan0: 30,
      fan9: 'Invalid Argument',
      generation: 1,
      maxGeneration: 4,
      limits: [100_000, 170_000],
      ecc: NO,
      displayActive: 1,
    });
  });

  it('says who works while the device works', async () => {
    // 64 GiB are filled in 15 ms of the machine's time, which this scale makes three seconds.
    const machine = machineWith('h200', { timing: { contextMs: 0 } });
    expect(await answersOn(machine, 'busy.py', 0.005)).toEqual({
      before: { shares: 'Not Found', gpu: 0, clockReasons: 1 },
      during: { shares: [96], gpu: 96, clockReasons: 0 },
    });
  });

  it.each([
    ['gb10', { statuses: [25, 3], total: 128_518_619_136, used: 0 }],
    ['h200', { statuses: [25, 0], total: 150_754_820_096, used: 644_939_776 }],
  ])('the calls of nvtop 3.3.2 for memory, made from Python, on %s', async (machine, answers) => {
    expect(await answersOn(machine, 'nvtop_current.py')).toEqual(answers);
  });
});
