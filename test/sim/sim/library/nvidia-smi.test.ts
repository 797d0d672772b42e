/**
 * The simulated nvidia-smi. What owners of a GB10 published of theirs is compared byte for byte; the machine is set to
 * the driver and the readings of each capture, and has pids above Linux's own: 5,000,000 more than published. Screens of other machines are as they were reviewed by hand
 * (golden/nvidia-smi.txt; UPDATE_GOLDEN=1 writes it).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMachine, type Machine, type MachineDevice } from '../../../../lib/sim.ts';
import { gb10WithFaults, machineWith, withMachine, withNvml } from '../../../support/machines.ts';
import { ROOT } from '../../../support/root.ts';

const GOLDEN = join(ROOT, 'test/sim/sim/library/golden/nvidia-smi.txt');

interface Answer {
  status: number | null;
  stdout: string;
  stderr: string;
}

function nvidiaSmi(machine: Machine | string, ...args: string[]): Promise<Answer> {
  return withMachine(machine, ({ foreignEnv }) => {
    const env = { ...process.env, ...foreignEnv(), TZ: 'UTC' };
    const { status, stdout, stderr } = spawnSync('nvidia-smi', args, { encoding: 'utf8', env, timeout: 20_000 });
    return { status, stdout, stderr };
  });
}

/** What it prints, where it succeeds and says nothing else. */
async function printed(machine: Machine | string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await nvidiaSmi(machine, ...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** A GB10 with the driver and readings of a capture. */
function gb10(driver: string, nvml: Partial<MachineDevice['nvml']> = {}, processes: object[] = []): Machine {
  const { devices } = withNvml(loadMachine('gb10'), nvml);
  return machineWith('gb10', { driver: { version: driver }, devices, processes });
}

const withoutDate = (text: string): string => text.replace(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/, 'date');

const HEAD = (driver: string) => `\
date       
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI ${driver.padEnd(23)}Driver Version: ${driver.padEnd(15)}CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
`;

const PROCESSES = `
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
`;

describe('the published table of', () => {
  it('k8s-device-plugin #1482: driver 580.95.05, idle', async () => {
    const [head = ''] = withoutDate(await printed(gb10('580.95.05'))).split('\n\n');
    expect(`${head}\n`).toBe(`${HEAD('580.95.05')}\
|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |
| N/A   40C    P8              4W /  N/A  | Not Supported          |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
`);
  });

  it('rapidsmpf #1026: driver 580.126.09, 35 degrees', async () => {
    const table = withoutDate(await printed(gb10('580.126.09', { temperatureC: 35 })));
    expect(table).toContain(`${HEAD('580.126.09').replace(/^date +\n/, '')}\
|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |
| N/A   35C    P8              4W /  N/A  | Not Supported          |      0%      Default |
|                                         |                        |                  N/A |
`);
  });

  it('inference-snaps #143: persistence mode off, P0, 11 W', async () => {
    const machine = gb10('580.95.05', {
      persistenceMode: 0,
      performanceState: 0,
      temperatureC: 41,
      powerMilliwatt: 11_000,
    });
    expect(withoutDate(await printed(machine))).toContain(`\
|   0  NVIDIA GB10                    Off |   0000000F:01:00.0 Off |                  N/A |
| N/A   41C    P0             11W /  N/A  | Not Supported          |      0%      Default |
|                                         |                        |                  N/A |
`);
  });

  it('driver 580.173.02 with llama-server: a process and its memory', async () => {
    const server = { name: '/usr/lib/ollama/', pid: 5_924_921, gpuBytes: 43_090 * 2 ** 20, anonBytes: 0 };
    const machine = gb10('580.173.02', {}, [{ ...server, name: 'llama-server' }]);
    expect(await printed(machine)).toContain(`${PROCESSES}\
|    0   N/A  N/A         5924921      C   llama-server                          43090MiB |
+-----------------------------------------------------------------------------------------+
`);
  });

  it('driver 580.95.05 without processes', async () => {
    expect(await printed(gb10('580.95.05'))).toContain(`${PROCESSES}\
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
`);
  });
});

describe('the published answers to queries of', () => {
  const csv = ['--format=csv,noheader,nounits'];
  it.each<[string, Machine | string, string[], string]>([
    [
      'NemoClaw #10082: index, uuid and memory',
      'gb10',
      ['--query-gpu=index,uuid,memory.total,memory.free', ...csv],
      '0, GPU-5117ab1e-0000-0000-0000-000000000010, [N/A], [N/A]\n',
    ],
    ['NemoClaw #10082: compute_cap', 'gb10', ['--query-gpu=compute_cap', '--format=csv,noheader'], '12.1\n'],
    [
      'NemoClaw #10082: driver_version',
      gb10('580.82.09'),
      ['--query-gpu=driver_version', '--format=csv,noheader'],
      '580.82.09\n',
    ],
    [
      'nvitop PR 208: memory, utilization, power and temperature, with units',
      gb10('580.173.02', { powerMilliwatt: 11_170, temperatureC: 35 }),
      ['--query-gpu=memory.total,memory.used,memory.free,utilization.gpu,power.draw,temperature.gpu', '--format=csv'],
      'memory.total [MiB], memory.used [MiB], memory.free [MiB], utilization.gpu [%], power.draw [W], temperature.gpu\n' +
        '[N/A], [N/A], [N/A], 0 %, 11.17 W, 35\n',
    ],
    [
      'unsloth PR 10703: name and memory',
      'gb10',
      ['--query-gpu=index,name,memory.total,memory.free', '--format=csv'],
      'index, name, memory.total [MiB], memory.free [MiB]\n0, NVIDIA GB10, [N/A], [N/A]\n',
    ],
    [
      'llama-swap #782: the utilization of memory is 0',
      'gb10',
      ['--query-gpu=memory.used,memory.total,utilization.memory', ...csv],
      '[N/A], [N/A], 0\n',
    ],
    [
      'llama-swap #782: memory of a process',
      gb10('580.142', {}, [{ name: 'python', pid: 5_114_687, gpuBytes: 19_135 * 2 ** 20, anonBytes: 0 }]),
      ['--query-compute-apps=gpu_uuid,pid,process_name,used_memory', ...csv],
      'GPU-5117ab1e-0000-0000-0000-000000000010, 5114687, python, 19135\n',
    ],
    [
      'marimo PR 6822',
      'gb10',
      ['--query-gpu=index,name,memory.total,memory.used,memory.free', ...csv],
      '0, NVIDIA GB10, [N/A], [N/A], [N/A]\n',
    ],
    [
      'daqiri PR 30: the memory clock',
      'gb10',
      ['--query-gpu=clocks.max.sm,clocks.current.memory,clocks.max.memory', ...csv],
      '3003, [N/A], [N/A]\n',
    ],
  ])('%s', async (_, machine, args, expected) => {
    expect(await printed(machine, ...args)).toBe(expected);
  });

  it('nvtop PR 466: -q has no memory', async () => {
    expect(await printed('gb10', '-q', '-d', 'MEMORY')).toMatch(
      / {4}FB Memory Usage\n {8}Total {29}: N\/A\n {8}Reserved {26}: N\/A\n {8}Used {30}: N\/A\n {8}Free {30}: N\/A\n/,
    );
  });
});

describe('screens on other machines', () => {
  const screens = ['gb10', 'gb10-busy', 'h200', 'rtx3060-fallback', 'thor', 'gh200', 'n1x'].flatMap(
    (machine): [string, string[]][] => [
      [machine, []],
      [machine, ['-q']],
      [machine, ['-L']],
      [machine, ['--query-gpu=name,memory.total,memory.used,memory.free,power.limit,mig.mode.current', '--format=csv']],
      [machine, ['--query-compute-apps=pid,name,used_memory', '--format=csv']],
    ],
  );
  it('are as reviewed', async () => {
    const texts = await Promise.all(
      screens.map(async ([machine, args]) => {
        const text = await printed(machine, ...args);
        return `$ umaprobe sim run ${[machine, '--', 'nvidia-smi', ...args].join(' ')}\n${withoutDate(text)}`;
      }),
    );
    const dateless = texts.join('\n').replace(/^(Timestamp +: ).*$/gm, '$1date');
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(GOLDEN, dateless);
    expect(dateless).toBe(readFileSync(GOLDEN, 'utf8'));
  });
});

describe('exit codes', () => {
  const library = /^NVIDIA-SMI couldn't find libnvidia-ml\.so library in your system\./;
  it.each<[string, Machine | string, string[], number, RegExp, RegExp]>([
    [
      'a field that does not exist',
      'gb10',
      ['--query-gpu=name,vram', '--format=csv'],
      2,
      /^Field "vram" is not a valid field to query\.\n\n$/,
      /^$/,
    ],
    ['a query without its format', 'gb10', ['--query-gpu=name'], 2, /^Invalid combination of input arguments\./, /^$/],
    ['an option that does not exist', 'gb10', ['--frobnicate'], 2, /^Option "--frobnicate" is not recognized/, /^$/],
    ['a section that is not simulated', 'gb10', ['-q', '-d', 'FABRIC'], 2, /"FABRIC" is not a section/, /^$/],
    ['a GPU that does not exist', 'gb10', ['-i', '7'], 6, /^No devices were found\n$/, /^$/],
    [
      'a driver that is not loaded',
      gb10WithFaults({ fail: [{ call: 'nvmlInit_v2', status: 9 }] }),
      [],
      9,
      /couldn't communicate with the NVIDIA driver\./,
      /^$/,
    ],
    [
      'a driver of another version',
      gb10WithFaults({ fail: [{ call: 'nvmlInit_v2', status: 18 }] }),
      ['-L'],
      18,
      /^Failed to initialize NVML: Driver\/library version mismatch\n$/,
      /^$/,
    ],
    ['a machine without NVML', 'no-driver', [], 12, library, /^$/],
    ['a Jetson without NVML', 'orin', ['-L'], 12, library, /^$/],
    [
      'a lost GPU beside another',
      'h200-lost',
      ['--query-gpu=index,name', '--format=csv,noheader'],
      15,
      /^0, NVIDIA H200\n$/,
      /^Unable to determine the device handle for GPU1: 0000:00:07\.0: GPU is lost\n$/,
    ],
    ['a lost GPU alone', 'h200-lost', ['-i', '1'], 15, /^No devices were found\n$/, /handle for GPU1/],
  ])('%s', async (_, machine, args, status, stdout, stderr) => {
    const answer = await nvidiaSmi(machine, ...args);
    expect(answer).toEqual({
      status,
      stdout: expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr),
    });
  });
});

describe('options', () => {
  const names = ['--query-gpu=index', '--format=csv,noheader'];
  it.each(['0', 'GPU-5117ab1e-0000-0000-0000-000000000010', '0000000F:01:00.0', '000f:01:00.0'])(
    '-i %s is the GPU',
    async (id) => {
      expect(await printed('gb10', '-i', id, ...names)).toBe('0\n');
      expect(await printed('gb10', `--id=${id}`, ...names)).toBe('0\n');
    },
  );

  it('-l prints the heading once, and goes on until it is stopped', async () => {
    const { stdout, signal } = await withMachine('gb10', ({ foreignEnv }) =>
      spawnSync('timeout', ['-s', 'TERM', '1', 'nvidia-smi', '--query-gpu', 'name', '--format=csv', '-lms', '100'], {
        encoding: 'utf8',
        env: { ...process.env, ...foreignEnv() },
        timeout: 20_000,
      }),
    );
    const [heading, ...rows] = stdout.trimEnd().split('\n');
    expect({ heading, rows: new Set(rows), signal }).toEqual({
      heading: 'name',
      rows: new Set(['NVIDIA GB10']),
      signal: null,
    });
    expect(rows.length).toBeGreaterThan(1);
  });

  it('--help-query-gpu lists fields, each of which can be queried', async () => {
    const list = await printed('gb10', '--help-query-gpu');
    const fields = [...list.matchAll(/^"([^"]+)"$/gm)].map(([, name]) => name);
    expect(fields.length).toBeGreaterThan(100);
    const answer = await printed('gb10', `--query-gpu=${fields.join(',')}`, '--format=csv,noheader');
    expect(answer.split(', ')).toHaveLength(fields.length);
  });

  it('--version and --help say that it is simulated, and by what', async () => {
    expect(await printed('gb10', '--version')).toBe(`\
NVIDIA-SMI version  : 580.142
NVML version        : 580.142
DRIVER version      : 580.142
CUDA Version        : 13.0
Simulated by        : umaprobe, machine gb10
`);
    expect(await printed('gb10', '-h')).toMatch(/^NVIDIA System Management Interface, simulated by umaprobe/);
  });

  it('a terminal gets one line on stderr that says so', async () => {
    const { stdout } = await withMachine('gb10', ({ foreignEnv }) =>
      spawnSync('script', ['-qec', 'nvidia-smi -L 2>&1', '/dev/null'], {
        encoding: 'utf8',
        env: { ...process.env, ...foreignEnv() },
        timeout: 20_000,
      }),
    );
    expect(stdout).toBe(
      'nvidia-smi: simulated by umaprobe, machine gb10\r\n' +
        'GPU 0: NVIDIA GB10 (UUID: GPU-5117ab1e-0000-0000-0000-000000000010)\r\n',
    );
  });
});
