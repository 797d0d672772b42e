/** Rows about GPUs and their memory. */
import { deviceFailure, nvmlFailure } from '../../../../support/failures.ts';
import type { MachineFixture } from '../../../../support/snapshots.ts';
import { GiB, MiB } from '../../../../support/units.ts';
import { after, type FindingCase, failed, failing, hiding, on, processesOf, processOf, SILENT } from './case.ts';

const TWO: MachineFixture = { model: 'discrete', ownFree: [100 * GiB, 100 * GiB] };
const HANDLE = 'nvmlDeviceGetHandleByIndex_v2';
const LOST = nvmlFailure('GPU_IS_LOST', 15, HANDLE);
const LOADED = { processes: [{ pid: 7, name: 'vllm', gpuBytes: 60 * GiB }] };

const STATE: FindingCase[] = [
  ['gpu.state', 'one GPU', on(), 'pass', /^The GPU answers/],
  ['gpu.state', 'two GPUs', on(TWO), 'pass', /^All 2 GPUs answer/],
  ['gpu.state', 'none', on({ gpu: false }), 'pass', /^There is no GPU to ask/],
  [
    'gpu.state',
    'one of two is lost',
    failed([['nvml', LOST]], TWO, 1),
    'warn',
    /^GPU 1 is lost: it has fallen off the bus, or it no longer answers \(nvmlDeviceGetHandleByIndex_v2 answered GPU_IS_LOST, 15\)\. GPU 0 answers\.$/,
    { effect: 'nothing', remedy: /Xid .*reboot/ },
  ],
  ['gpu.state', 'the only one is lost', failed([['nvml', LOST]]), 'fail', /^GPU 0 is lost/, { effect: 'refuses' }],
  [
    'gpu.state',
    'lost in the middle of its readings',
    failed([['powerW', nvmlFailure('GPU_IS_LOST', 15, 'nvmlDeviceGetPowerUsage')]]),
    'fail',
    /^GPU 0 is lost/,
    { remedy: /reboot/ },
  ],
  [
    'gpu.state',
    'to be reset',
    failed([['temperatureC', nvmlFailure('RESET_REQUIRED', 16, 'nvmlDeviceGetTemperature')]]),
    'fail',
    /^GPU 0 must be reset: an error has stopped it/,
    { remedy: /gpu-reset/ },
  ],
  [
    'gpu.state',
    'two of four are lost, for the same reason',
    after(
      (reading) => {
        failing(reading, deviceFailure('nvml', LOST), 0);
        failing(reading, deviceFailure('nvml', LOST), 2);
      },
      { model: 'discrete', ownFree: [GiB, GiB, GiB, GiB] },
    ),
    'warn',
    /^GPU 0 is lost: [^.]*\. The same on GPU 2\. GPU 1 and 3 answer\.$/,
  ],
  [
    'gpu.state',
    'a handle that fails for no reason',
    failed([['nvml', nvmlFailure('UNKNOWN', 999, HANDLE)]]),
    'warn',
    /^NVML cannot reach GPU 0: .*the GPU may be lost/,
    { remedy: /Xid/ },
  ],
  [
    'gpu.state',
    'a list of processes that may not be read',
    failed([['processes', nvmlFailure('NO_PERMISSION', 4, 'nvmlDeviceGetComputeRunningProcesses_v3')]]),
    'note',
    /^GPU 0 does not report its processes: this user has no permission/,
    { remedy: /rights/, effect: 'nothing' },
  ],
  [
    'gpu.state',
    'two single readings',
    failed([
      ['temperatureC', nvmlFailure('NO_PERMISSION', 4, 'nvmlDeviceGetTemperature')],
      ['powerW', nvmlFailure('NO_PERMISSION', 4, 'nvmlDeviceGetPowerUsage')],
    ]),
    'note',
    /^GPU 0 does not report its temperature and power: this user has no permission/,
  ],
];

const VISIBLE: FindingCase[] = [
  ['cuda.visible', 'no variable', on(), 'pass', /find every GPU/],
  ['cuda.visible', 'no GPU', on({ gpu: false }), 'pass', /no GPU/],
  [
    'cuda.visible',
    'hides all',
    on({ visible: { variable: '-1', hidden: [0] } }),
    'fail',
    /^CUDA_VISIBLE_DEVICES="-1" hides the GPU of this machine from programs that are started here\.$/,
    { effect: 'refuses', remedy: /^unset CUDA_VISIBLE_DEVICES/ },
  ],
  [
    'cuda.visible',
    'a mistake',
    on({ visible: { variable: '0,7', hidden: [] } }),
    'warn',
    /"7" names no GPU/,
    { effect: 'nothing' },
  ],
  [
    'cuda.visible',
    'a mistake that hides all',
    on({ ...TWO, visible: { variable: '9', hidden: [0, 1] } }),
    'fail',
    /hides both GPUs of this machine .* The entry "9" names no GPU of this machine: CUDA ignores it/,
  ],
  [
    'cuda.visible',
    'hides one on purpose',
    on({ ...TWO, visible: { variable: '0', hidden: [1] } }),
    'pass',
    /hides 1 of 2 GPUs/,
  ],
  [
    'cuda.visible',
    'not listed for another reason',
    after(({ devices }) => {
      Object.assign(devices[0] ?? {}, { visible: false, cudaIndex: null });
    }),
    'warn',
    /^NVML lists a GPU that CUDA does not/,
  ],
  [
    'cuda.visible',
    'CUDA is silent',
    after(({ devices }) => {
      Object.assign(devices[0] ?? {}, { visible: null, cudaIndex: null });
    }),
    'unknown',
    /could not be asked/,
  ],
  [
    'cuda.visible',
    'may hide what nothing lists',
    after(
      ({ libraries }) => {
        const reason = 'ERR_UMA_NO_DEVICE: cuInit answered CUDA_ERROR_NO_DEVICE (100)';
        libraries.cuda = { ...libraries.cuda, state: 'unusable', reason };
      },
      { gpu: false, visible: { variable: '', hidden: [] } },
    ),
    'warn',
    /^CUDA shows no GPU to programs that are started here, and CUDA_VISIBLE_DEVICES="" may hide some\.$/,
  ],
];

const MEMORY: FindingCase[] = [
  ['gpu.memory', 'shared with the host', on(), 'pass', /^No GPU here has memory of its own/],
  [
    'gpu.memory',
    'free',
    on({ model: 'discrete', ownFree: [143_000 * MiB] }),
    'pass',
    /^139\.6 GiB of 140\.4 GiB of GPU 0/,
  ],
  [
    'gpu.memory',
    'full',
    on({ model: 'discrete', ownFree: [GiB / 2] }),
    'warn',
    /^Only 512\.0 MiB of the 140\.4 GiB of GPU 0 is still free/,
    { effect: 'takes' },
  ],
  [
    'gpu.memory',
    'filled by a server',
    on({ model: 'discrete', ownFree: [7 * GiB] }),
    'note',
    /^Only 7\.0 GiB of the 140\.4 GiB of GPU 0/,
  ],
  [
    'gpu.memory',
    'the second is full',
    on({ model: 'discrete', ownFree: [100 * GiB, GiB, 2 * GiB] }),
    'warn',
    /^Only 1\.0 GiB of the 140\.4 GiB of GPU 1/,
  ],
  [
    'gpu.memory',
    'both are free',
    on({ model: 'discrete', ownFree: [100 * GiB, 90 * GiB] }),
    'pass',
    /^90\.0 GiB of 140\.4 GiB of GPU 1/,
  ],
  [
    'gpu.memory',
    'full of a process',
    on({ model: 'discrete', ownFree: [GiB], processes: [{ pid: 7, name: 'vllm', gpuBytes: 130 * GiB }] }),
    'fail',
    /vllm \(7\) holds 130\.0 GiB/,
    { effect: 'refuses' },
  ],
  [
    'gpu.memory',
    'one of two is full',
    on({ model: 'discrete', ownFree: [100 * GiB, GiB / 4] }),
    'warn',
    /^Only 256\.0 MiB of the .* of GPU 1 is still free/,
    { effect: 'takes' },
  ],
  ['driver.pools', 'off', on(), 'pass', /at once/],
  ['driver.pools', 'empty', on({ pools: { parameter: 529, bytes: 0 } }), 'pass', /almost none/],
  ['driver.pools', 'little', on({ pools: { parameter: 529, bytes: GiB } }), 'pass', /almost none/],
  [
    'driver.pools',
    'full, seen by root',
    on({ host: { free: 50 * GiB, available: 52 * GiB }, pools: { parameter: 529, bytes: 60 * GiB } }),
    'note',
    /^The driver keeps 60\.0 GiB of freed GPU memory/,
    { bytes: 60 * GiB, command: /^echo 2/, gains: 60 * GiB, effect: 'nothing' },
  ],
  [
    'driver.pools',
    'full, guessed',
    on({ host: { free: 50 * GiB, available: 52 * GiB }, pools: { parameter: 529, bytes: null } }),
    'warn',
    /^5\d\.\d GiB are in no counter and no listed process: most likely driver pools of GPU programs that ended\.$/,
    { command: /^echo 2/, effect: 'unknown', gains: null, cause: /root only/ },
  ],
  [
    'driver.pools',
    '60 GiB, guessed',
    hiding(60 * GiB, { pools: { parameter: 529, bytes: null } }),
    'warn',
    /^60\.0 GiB .* most likely driver pools/,
    { bytes: 60 * GiB },
  ],
  [
    'driver.pools',
    'full, or held by processes that are not known',
    hiding(60 * GiB, { pools: { parameter: 529, bytes: null }, container: true }),
    'note',
    /in driver pools of GPU programs that ended, or held by GPU processes, which are not known here\.$/,
  ],
  [
    'driver.pools',
    'little, guessed',
    hiding(8 * GiB, { pools: { parameter: 529, bytes: null } }),
    'pass',
    /Little memory is in no counter/,
  ],
  ['driver.pools', 'discrete', on({ model: 'discrete' }), 'pass', /shares the host/],
];

const UNATTRIBUTED: FindingCase[] = [
  ['memory.unattributed', 'little', on(), 'pass', /usually/],
  ['memory.unattributed', '15 GiB', hiding(15 * GiB), 'pass', /usually/],
  [
    'memory.unattributed',
    '30 GiB',
    hiding(30 * GiB),
    'warn',
    /^30\.0 GiB are in no counter and no listed process\.$/,
    { bytes: 30 * GiB, effect: 'takes', command: /fuser/, gains: null, cause: /^No GPU process is listed/ },
  ],
  [
    'memory.unattributed',
    'managed memory of a live process',
    on({ host: { free: 20 * GiB }, ...LOADED }),
    'warn',
    /no listed process\.$/,
    {
      cause: /managed memory, which NVML does not list: vllm \(7\)/,
      remedy: /if nobody has, and it stays in use: reboot/,
    },
  ],
  [
    'memory.unattributed',
    'no process list',
    after(
      ({ devices }) => {
        Object.assign(devices[0] ?? {}, { processes: null, processesComplete: null, from: { processes: SILENT } });
      },
      { host: { free: 50 * GiB } },
    ),
    'unknown',
    /is not known here/,
  ],
  // A list that is not complete proves nothing.
  [
    'memory.unattributed',
    'processes outside of the container',
    hiding(40 * GiB, { container: true }),
    'unknown',
    /^Which of it GPU processes hold/,
  ],
  [
    'memory.unattributed',
    'processes of unknown size',
    on({ host: { free: 50 * GiB }, processes: [{ pid: 7, name: 'vllm', gpuBytes: null }] }),
    'unknown',
    /^Which of it GPU processes hold/,
  ],
  [
    'memory.unattributed',
    'memory that processes share',
    on({ host: { free: 47 * GiB }, processes: [...LOADED.processes, { pid: 8, name: 'vllm', gpuBytes: 60 * GiB }] }),
    'pass',
    /usually/,
  ],
  [
    'memory.unattributed',
    '88 GiB of a GPU that no process holds',
    on({ model: 'discrete', ownFree: [52 * GiB] }),
    'warn',
    /^88\.4 GiB of GPU 0 are used, and no listed process holds them\.$/,
    { effect: 'takes', command: /fuser/ },
  ],
  [
    'memory.unattributed',
    'page cache on the NUMA node of a GH200',
    on({ model: 'coherent', ownFree: [52 * GiB], cacheOnNode: 88 * GiB }),
    'pass',
    /no GPU shares|usually/,
  ],
  [
    'memory.unattributed',
    'memory of a GH200 that is neither cache nor held',
    on({ model: 'coherent', ownFree: [52 * GiB], cacheOnNode: 20 * GiB }),
    'warn',
    /^68\.4 GiB of GPU 0 are used/,
  ],
  [
    'memory.unattributed',
    'a GH200 whose node is not known',
    on({ model: 'coherent', ownFree: [52 * GiB] }),
    'unknown',
    /^Whether 88\.4 GiB of GPU 0, which no listed process holds, are page cache on its NUMA node is not known/,
  ],
  ['memory.unattributed', 'no GPU', on({ host: { free: 80 * GiB }, gpu: false }), 'pass', /ZFS/],
  ['memory.unattributed', 'discrete', on({ host: { free: 80 * GiB }, model: 'discrete' }), 'pass', /no GPU shares/],
  [
    'memory.unattributed',
    'CUDA is silent',
    after(
      ({ libraries }) => {
        libraries.cuda = { ...libraries.cuda, state: 'timeout', reason: 'x' };
      },
      { host: { free: 80 * GiB }, gpu: false },
    ),
    'unknown',
    /is not known/,
  ],
  [
    'memory.unattributed',
    'beyond known pools',
    on({ host: { free: 50 * GiB }, pools: { parameter: 529, bytes: GiB } }),
    'warn',
    /no listed process\.$/,
  ],
  [
    'memory.unattributed',
    'pools',
    on({ host: { free: 50 * GiB }, pools: { parameter: 529, bytes: null } }),
    'pass',
    /^See driver\.pools/,
  ],
  ['memory.unattributed', 'a listed process', on({ host: { free: 47 * GiB }, ...LOADED }), 'pass', /usually/],
  [
    'memory.unattributed',
    'a counter is missing',
    on({ host: { free: 8 * GiB, cached: null } }),
    'unknown',
    /counters that every kernel has are missing/,
  ],
  ['memory.unattributed', 'counted twice', on({ host: { free: 118 * GiB } }), 'note', /twice/],
  [
    'memory.unattributed',
    'of a GPU of its own',
    on({ model: 'discrete', ownFree: [100_000 * MiB], processes: [{ pid: 7, name: 'x', gpuBytes: GiB }] }),
    'warn',
    /of GPU 0 are used, and no listed process holds them/,
    { bytes: 43_771 * MiB - GiB, command: /fuser/ },
  ],
  [
    'memory.unattributed',
    'of a GPU of its own, held by a process',
    on({ model: 'discrete', ownFree: [100_000 * MiB], processes: [{ pid: 7, name: 'x', gpuBytes: 42_000 * MiB }] }),
    'pass',
    /usually/,
  ],
];

const PROCESSES: FindingCase[] = [
  ['processes.listed', 'all', on(LOADED), 'pass', /^Every process/],
  ['processes.listed', 'discrete', on({ model: 'discrete', container: true }), 'pass', /no GPU shares it/],
  [
    'processes.listed',
    'outside of this container, on an idle machine',
    on({ container: true }),
    'note',
    /^Which processes hold GPU memory is not known here: this process is in a PID namespace/,
    { normal: true, bytes: null, remedy: /--pid=host/ },
  ],
  [
    'processes.listed',
    'outside of this container, on a machine in use',
    on({ host: { free: 50 * GiB, available: 55 * GiB }, container: true }),
    'note',
    /^5\d\.\d GiB are in no counter; how much of it GPU processes hold is not known here: this process is in a PID/,
    { normal: false, effect: 'unknown' },
  ],
  [
    'processes.listed',
    'a call that fails, which another row says',
    after(({ devices }) => {
      for (const device of devices) {
        const { processesComplete: _, ...from } = device.from;
        const processes = 'ERR_UMA_PERMISSION: nvmlDeviceGetComputeRunningProcesses_v3 answered NO_PERMISSION (4)';
        Object.assign(device, { processes: null, processesComplete: null, from: { ...from, processes } });
      }
    }),
    'note',
    /^Which processes hold GPU memory is not known here: NVML could not list them\.$/,
    { remedy: null },
  ],
  [
    'processes.listed',
    'of unknown size',
    on({ host: { free: 50 * GiB, available: 55 * GiB }, processes: [{ pid: 7, name: 'vllm', gpuBytes: null }] }),
    'note',
    /NVML does not report how much memory the processes hold\.$/,
    { normal: false },
  ],
  [
    'gpu.programs',
    'little',
    on({ processes: [{ pid: 77, name: 'Xorg', gpuBytes: 4 * GiB }] }),
    'pass',
    /^No program holds much/,
  ],
  [
    'gpu.programs',
    'much',
    on({ processes: [{ pid: 77, name: 'vllm', gpuBytes: 70 * GiB }] }),
    'note',
    /^70\.0 GiB of 119\.7 GiB are held by a GPU program: vllm \(77\) 70\.0 GiB\.$/,
    { bytes: 70 * GiB, gains: 70 * GiB, normal: true, effect: 'takes' },
  ],
  [
    'gpu.programs',
    'much on two GPUs: the fuller one',
    on({
      model: 'discrete',
      ownFree: [50 * GiB, 30 * GiB],
      processes: [60, 45].map((held) => ({ pid: held, name: 'vllm', gpuBytes: held * GiB })),
    }),
    'note',
    /^105\.0 GiB of 140\.4 GiB of GPU 1 are held/,
  ],
  ['model.twice', 'not given', on({}, { processes: null }), 'unknown', /^Which processes run is not known here\.$/],
  ['model.twice', 'not read', on(), 'unknown', /^Processes were not read \(umaprobe explain reads them\)\.$/],
  [
    'model.twice',
    'mapped and copied',
    on({}, { processes: processesOf([processOf(77, { name: 'llama-server', file: 34 * GiB, gpuBytes: 35 * GiB })]) }),
    'note',
    /^llama-server \(77\) has 34\.0 GiB of mapped files in memory, and as much on the GPU/,
    { bytes: 34 * GiB, normal: true },
  ],
  [
    'model.twice',
    'mapped and not copied; copied and not mapped',
    on(
      {},
      {
        processes: processesOf([
          processOf(77, { file: 34 * GiB, gpuBytes: GiB }),
          processOf(78, { file: GiB, gpuBytes: 35 * GiB }),
        ]),
      },
    ),
    'pass',
    /^No process maps/,
  ],
];

export const GPU_CASES: readonly FindingCase[] = [...STATE, ...VISIBLE, ...MEMORY, ...UNATTRIBUTED, ...PROCESSES];
