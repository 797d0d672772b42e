/** Python's binding of NVML, nvidia-ml-py, as Debian packages it. */
import { describe, expect, it } from 'vitest';
import { missingClients, runClient } from '../../support/debian.ts';
import { withMachine } from '../../support/machines.ts';

const missing = missingClients('trixie');

const SCRIPT = `
import json, sys
from pynvml import *
def ask(function, *arguments):
    try:
        answer = function(*arguments)
    except NVMLError as error:
        return str(error)
    return {name: getattr(answer, name) for name, _ in answer._fields_} if hasattr(answer, '_fields_') else answer
nvmlInit()
device = nvmlDeviceGetHandleByIndex(0)
print(json.dumps({
    'name': ask(nvmlDeviceGetName, device),
    'driver': ask(nvmlSystemGetDriverVersion),
    'memory': ask(nvmlDeviceGetMemoryInfo, device),
}))
`;

describe.skipIf(missing !== null)(`nvidia-ml-py${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  const answers = (machine: string) =>
    withMachine(machine, (simulation) => {
      const { code, stdout, stderr } = runClient(simulation, 'trixie', 'python3', ['-c', SCRIPT]);
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    });

  it('gb10', async () => {
    expect(await answers('gb10')).toEqual({ name: 'NVIDIA GB10', driver: '580.142', memory: 'Not Supported' });
  });

  it('h200', async () => {
    expect(await answers('h200')).toEqual({
      name: 'NVIDIA H200',
      driver: '580.159.04',
      memory: { total: 150_754_820_096, used: 644_939_776, free: 150_109_880_320 },
    });
  });
});
