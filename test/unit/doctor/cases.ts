/** A machine for every outcome of every check: id, title, snapshot, expected status, expected words of the cause. */
import type { Failure } from '../../../lib/base/errors.ts';
import { reason } from '../../../lib/base/facts.ts';
import type { CheckStatus, DeviceFailure, Snapshot } from '../../../lib/types/index.ts';
import { cudaFailure, deviceFailure, nvmlFailure, timeout } from '../../support/failures.ts';
import { type MachineFixture, snapshotOf } from '../../support/snapshots.ts';
import { GiB } from '../../support/units.ts';

function changed(change: (snapshot: Snapshot) => void, fixture: MachineFixture = {}): Snapshot {
  const snapshot = snapshotOf(fixture);
  change(snapshot);
  return snapshot;
}

function failing(snapshot: Snapshot, failure: DeviceFailure, index = 0): void {
  const device = snapshot.devices[index];
  if (device === undefined) throw new Error(`no device ${index}`);
  device.failures.push(failure);
  if (failure.path === 'cuda') Object.assign(device, { cuda: null, from: { ...device.from, cuda: failure.reason } });
}

function unusable(snapshot: Snapshot, library: 'cuda' | 'nvml', failure: Failure): void {
  const { path, ...call } = deviceFailure('', failure);
  Object.assign(snapshot.libraries[library], { state: 'unusable', reason: call.reason, failure: call });
}

/** The binary's reason with `--deadline 10ms`. */
const SILENT = 'ERR_UMA_TIMEOUT: nvmlInit_v2 answered TIMEOUT: no answer within 10 ms: blocked in nvmlInit_v2';
const PSI_90 = { avg10: 90, avg60: 88, avg300: 60, totalUs: 1 };
const LOADED = { processes: [{ pid: 7, name: 'vllm', gpuBytes: 60 * GiB }] };

export const CASES: [string, string, Snapshot, CheckStatus, RegExp][] = [
  ['library.cuda', 'loaded', snapshotOf(), 'pass', /answers/],
  ['library.cuda', 'missing', snapshotOf({ gpu: false }), 'fail', /not found/],
  [
    'library.cuda',
    'unusable',
    changed((s) => {
      unusable(s, 'cuda', cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuInit'));
    }),
    'fail',
    /cannot be used: the driver gives no reason: a GPU may be lost/,
  ],
  [
    'library.cuda',
    'no memory for a context',
    changed((s) => {
      failing(s, deviceFailure('cuda', cudaFailure('cudaErrorMemoryAllocation', 2)));
    }),
    'warn',
    /no CUDA context can be created, because the driver found no memory for it, though 111\.8 GiB are available/,
  ],
  [
    'library.cuda',
    'busy',
    changed((s) => {
      failing(s, deviceFailure('cuda', cudaFailure('cudaErrorDevicesUnavailable', 46)));
    }),
    'fail',
    /no CUDA program can use it, because the GPU is busy or unavailable/,
  ],
  [
    'library.cuda',
    'no context in time',
    changed((s) => {
      failing(s, deviceFailure('cuda', timeout('cudaMemGetInfo in a child process', 2700)));
    }),
    'warn',
    /^CUDA \(cudaMemGetInfo\) did not answer within 2\.70 s: it is slow/,
  ],
  [
    'library.cuda',
    'not asked',
    changed((s) => {
      Object.assign(s.devices[0] ?? {}, { cuda: null, from: { cuda: 'not read' } });
    }),
    'pass',
    /answers/,
  ],
  ['cuda.visible', 'no variable', snapshotOf(), 'pass', /find every GPU/],
  ['cuda.visible', 'no GPU', snapshotOf({ gpu: false }), 'skip', /no GPU/],
  ['cuda.visible', 'hides all', snapshotOf({ visible: { variable: '-1', hidden: [0] } }), 'warn', /hides every GPU/],
  ['cuda.visible', 'a mistake', snapshotOf({ visible: { variable: '0,7', hidden: [] } }), 'warn', /"7" names no GPU/],
  [
    'cuda.visible',
    'hides one on purpose',
    snapshotOf({ model: 'discrete', ownFree: [GiB, GiB], visible: { variable: '0', hidden: [1] } }),
    'pass',
    /hides 1 of 2 GPUs/,
  ],
  [
    'cuda.visible',
    'not listed for another reason',
    changed((s) => {
      Object.assign(s.devices[0] ?? {}, { visible: false, cudaIndex: null });
    }),
    'warn',
    /NVML lists a GPU that CUDA does not/,
  ],
  [
    'cuda.visible',
    'CUDA is silent',
    changed((s) => {
      Object.assign(s.devices[0] ?? {}, { visible: null, cudaIndex: null });
    }),
    'skip',
    /could not be asked/,
  ],
  ['library.nvml', 'loaded', snapshotOf(), 'pass', /answers/],
  [
    'library.nvml',
    'silent',
    changed((s) => {
      s.libraries.nvml = { ...s.libraries.nvml, state: 'timeout', reason: SILENT };
    }),
    'warn',
    /^NVML did not answer within 10 ms: it is slow, as a first start can be, or it is stuck/,
  ],
  [
    'library.nvml',
    'silent, and everything stalls',
    changed(
      (s) => {
        s.libraries.nvml = { ...s.libraries.nvml, state: 'timeout', reason: SILENT };
      },
      { full: 40 },
    ),
    'fail',
    /hangs for lack of memory/,
  ],
  [
    'library.nvml',
    'missing beside CUDA',
    changed((s) => {
      s.libraries.nvml = { ...s.libraries.nvml, state: 'missing', reason: 'x' };
    }),
    'warn',
    /though the GPU was/,
  ],
  [
    'library.nvml',
    'updated without a reboot',
    changed((s) => {
      unusable(s, 'nvml', nvmlFailure('LIB_RM_VERSION_MISMATCH', 18, 'nvmlInit_v2'));
    }),
    'fail',
    /cannot be used: the driver's libraries and the loaded kernel module have different versions/,
  ],
  [
    'library.nvml',
    'silent in a call for one device',
    changed((s) => {
      failing(s, deviceFailure('nvml', timeout('nvmlDeviceGetMemoryInfo_v2', 2800)));
    }),
    'warn',
    /^NVML did not answer within 2\.80 s/,
  ],
  ['gpu.state', 'one GPU', snapshotOf(), 'pass', /The GPU answers/],
  ['gpu.state', 'two GPUs', snapshotOf({ model: 'discrete', ownFree: [GiB, GiB] }), 'pass', /All 2 GPUs answer/],
  ['gpu.state', 'none', snapshotOf({ gpu: false }), 'skip', /no GPU to ask/],
  [
    'gpu.state',
    'lost',
    changed(
      (s) => {
        failing(s, deviceFailure('nvml', nvmlFailure('GPU_IS_LOST', 15, 'nvmlDeviceGetHandleByIndex_v2')), 1);
      },
      { model: 'discrete', ownFree: [GiB, GiB] },
    ),
    'fail',
    /^GPU 1 is lost: .*GPU_IS_LOST, 15\)\. GPU 0 answers\.$/,
  ],
  [
    'gpu.state',
    'to be reset',
    changed((s) => {
      failing(s, deviceFailure('temperatureC', nvmlFailure('RESET_REQUIRED', 16, 'nvmlDeviceGetTemperature')));
    }),
    'fail',
    /^GPU 0 must be reset/,
  ],
  [
    'gpu.state',
    'a handle that fails for no reason',
    changed((s) => {
      failing(s, deviceFailure('nvml', nvmlFailure('UNKNOWN', 999, 'nvmlDeviceGetHandleByIndex_v2')));
    }),
    'fail',
    /^NVML cannot reach GPU 0: .*may be lost/,
  ],
  [
    'gpu.state',
    'single readings',
    changed((s) => {
      for (const [path, call] of [
        ['temperatureC', 'nvmlDeviceGetTemperature'],
        ['powerW', 'nvmlDeviceGetPowerUsage'],
      ] as const)
        failing(s, deviceFailure(path, nvmlFailure('NO_PERMISSION', 4, call)));
    }),
    'warn',
    /^GPU 0 does not report its temperature and power: this user has no permission/,
  ],
  ['driver.match', 'fits', snapshotOf(), 'pass', /supports/],
  [
    'driver.match',
    'newer runtime',
    changed((s) => {
      s.libraries.cuda.version = '14.0';
    }),
    'fail',
    /newer than the driver/,
  ],
  [
    'driver.match',
    'updated without reboot',
    changed((s) => {
      s.driver.version = '580.173.02';
    }),
    'fail',
    /without a reboot/,
  ],
  ['driver.match', 'nothing to compare', snapshotOf({ gpu: false }), 'skip', /two versions are not known/],
  ['permissions', 'no GPU', snapshotOf({ gpu: false }), 'skip', /no device nodes/],
  ['permissions', 'simulated', snapshotOf({ simulated: 'gb10' }), 'pass', /simulated machine/],
  ['container', 'none', snapshotOf(), 'pass', /No memory limit/],
  [
    'container',
    'limit',
    changed((s) => {
      if (s.cgroup) s.cgroup.limit = 8 * GiB;
    }),
    'warn',
    /not charged/,
  ],
  [
    'container',
    'a process that has just exited',
    snapshotOf({ processes: [{ pid: 9, name: null, gpuBytes: GiB }] }),
    'pass',
    /can be named/,
  ],
  [
    'container',
    'unreadable',
    changed((s) => {
      s.cgroup = null;
    }),
    'skip',
    /cannot be read/,
  ],
  ['hugepages', 'none', snapshotOf(), 'pass', /No huge pages/],
  [
    'hugepages',
    'reserved',
    snapshotOf({ host: { hugePagesTotal: 1024, hugePagesFree: 512, hugetlb: 2 * GiB } }),
    'warn',
    /guidance 1\.0 GiB, llama\.cpp 1\.0 GiB/,
  ],
  ['hugepages', 'no such line', snapshotOf({ host: { hugePagesTotal: null } }), 'skip', /no huge pages/],
  ['swap', 'free space', snapshotOf(), 'pass', /free space/],
  ['swap', 'full', snapshotOf({ host: { swapFree: GiB / 2 } }), 'warn', /full/],
  ['swap', 'none', snapshotOf({ host: { swapTotal: 0, swapFree: 0 } }), 'pass', /no swap/],
  ['cma.phantom', 'none', snapshotOf({ host: { cmaTotal: GiB, cmaFree: GiB } }), 'pass', /does not exceed/],
  ['cma.phantom', 'kexec-handover', snapshotOf({ host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }), 'warn', /9\.3 GiB/],
  ['cma.phantom', 'no such line', snapshotOf({ host: { cmaTotal: null, cmaFree: null } }), 'skip', /does not report/],
  ['driver.pools', 'off', snapshotOf(), 'pass', /at once/],
  [
    'driver.pools',
    'full, seen by root',
    snapshotOf({ host: { free: 50 * GiB, available: 52 * GiB }, pools: { parameter: 529, bytes: 60 * GiB } }),
    'warn',
    /60\.0 GiB/,
  ],
  [
    'driver.pools',
    'full, guessed',
    snapshotOf({ host: { free: 50 * GiB, available: 52 * GiB }, pools: { parameter: 529, bytes: null } }),
    'warn',
    /up to 5\d\.\d GiB/,
  ],
  ['driver.pools', 'empty', snapshotOf({ pools: { parameter: 529, bytes: 0 } }), 'pass', /almost none/],
  ['driver.pools', 'discrete', snapshotOf({ model: 'discrete' }), 'skip', /shares the host/],
  ['memory.unattributed', 'little', snapshotOf(), 'pass', /usually/],
  ['memory.unattributed', 'much', snapshotOf({ host: { free: 50 * GiB } }), 'warn', /no GPU process is listed/],
  [
    'memory.unattributed',
    'managed memory of a live process',
    snapshotOf({ host: { free: 20 * GiB }, ...LOADED }),
    'warn',
    /vllm \(7\)/,
  ],
  [
    'memory.unattributed',
    'no process list',
    changed(
      (s) => {
        const from = { processes: SILENT };
        Object.assign(s.devices[0] ?? {}, { processes: null, processesComplete: null, from });
      },
      { host: { free: 50 * GiB } },
    ),
    'warn',
    /NVML could not list/,
  ],
  [
    'memory.unattributed',
    'processes outside of the container',
    snapshotOf({ host: { free: 50 * GiB }, container: true }),
    'skip',
    /which of it GPU processes hold is not known here: this process is in a PID namespace of its own/,
  ],
  [
    'memory.unattributed',
    'processes of unknown size',
    snapshotOf({ host: { free: 50 * GiB }, processes: [{ pid: 7, name: 'vllm', gpuBytes: null }] }),
    'skip',
    /NVML does not report how much memory the processes hold/,
  ],
  [
    'memory.unattributed',
    'memory that processes share',
    snapshotOf({
      host: { free: 47 * GiB },
      processes: [...LOADED.processes, { pid: 8, name: 'vllm', gpuBytes: 60 * GiB }],
    }),
    'pass',
    /GPU processes share some of their memory/,
  ],
  ['memory.unattributed', 'no GPU', snapshotOf({ host: { free: 80 * GiB }, gpu: false }), 'skip', /ZFS/],
  [
    'memory.unattributed',
    'discrete',
    snapshotOf({ host: { free: 80 * GiB }, model: 'discrete' }),
    'skip',
    /no GPU shares/,
  ],
  [
    'memory.unattributed',
    'CUDA is silent',
    changed(
      (s) => {
        s.libraries.cuda = { ...s.libraries.cuda, state: 'timeout', reason: 'x' };
      },
      { host: { free: 80 * GiB }, gpu: false },
    ),
    'skip',
    /is not known/,
  ],
  [
    'memory.unattributed',
    'beyond known pools',
    snapshotOf({ host: { free: 50 * GiB }, pools: { parameter: 529, bytes: GiB } }),
    'warn',
    /no GPU process is listed/,
  ],
  [
    'memory.unattributed',
    'pools',
    snapshotOf({ host: { free: 50 * GiB }, pools: { parameter: 529, bytes: null } }),
    'warn',
    /driver keeps it/,
  ],
  ['memory.unattributed', 'a listed process', snapshotOf({ host: { free: 47 * GiB }, ...LOADED }), 'pass', /usually/],
  [
    'memory.unattributed',
    'a counter is missing',
    snapshotOf({ host: { free: 8 * GiB, cached: null } }),
    'skip',
    /counters that every kernel has are missing/,
  ],
  ['memory.unattributed', 'counted twice', snapshotOf({ host: { free: 118 * GiB } }), 'warn', /twice/],
  ['watermarks', 'default', snapshotOf(), 'pass', /little/],
  ['watermarks', 'raised', snapshotOf({ kernel: { minFree: 4 * GiB } }), 'warn', /lower by about 6\.0 GiB/],
  ['watermarks', 'unreadable', snapshotOf({ kernel: { minFree: null } }), 'skip', /cannot be read/],
  ['contiguity', 'ready', snapshotOf(), 'pass', /Ready/],
  ['contiguity', 'fragmented', snapshotOf({ largeShare: 0.04 }), 'warn', /fragmented/],
  [
    'contiguity',
    'large blocks that are CMA',
    snapshotOf({ largeShare: 0.07, host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }),
    'warn',
    /fragmented/,
  ],
  ['contiguity', 'cached', snapshotOf({ host: { free: 3 * GiB, cached: 104 * GiB } }), 'warn', /page cache/],
  ['contiguity', 'too little', snapshotOf({ host: { available: 80 * GiB } }), 'warn', /Too little/],
  [
    'contiguity',
    'loaded',
    snapshotOf({ host: { free: 47 * GiB, available: 50 * GiB }, ...LOADED }),
    'skip',
    /idle machine/,
  ],
  [
    'contiguity',
    'perhaps loaded',
    snapshotOf({ host: { free: 47 * GiB, available: 50 * GiB }, container: true }),
    'skip',
    /GPU processes hold up to 6\d\.\d GiB: the gate is for an idle machine/,
  ],
  ['pressure', 'none', snapshotOf(), 'pass', /No task/],
  ['pressure', 'some', snapshotOf({ some: 12 }), 'pass', /Tasks waited/],
  [
    'pressure',
    'some, with little left',
    snapshotOf({ some: 12, host: { available: 7 * GiB } }),
    'warn',
    /Tasks waited/,
  ],
  ['pressure', 'a spike', snapshotOf({ full: 11 }), 'pass', /a spike/],
  ['pressure', 'a stall', snapshotOf({ full: 11, host: { available: 7 * GiB } }), 'fail', /freeze/],
  [
    'pressure',
    'a stall that lasts',
    changed((s) => {
      s.pressure = { some: PSI_90, full: PSI_90 };
    }),
    'fail',
    /90\.0 % of the last 10 s and 60\.0 % of the last 5 min: this is how a freeze begins/,
  ],
  ['memory.available', 'enough', snapshotOf(), 'pass', /Enough/],
  ['memory.available', 'low', snapshotOf({ host: { available: 4.9 * GiB } }), 'pass', /nothing more should be loaded/],
  [
    'memory.available',
    'low, and tasks wait',
    snapshotOf({ some: 12, host: { available: 4.9 * GiB } }),
    'warn',
    /nothing more should be loaded\. Tasks waited/,
  ],
  ['memory.available', 'nearly gone', snapshotOf({ host: { available: GiB } }), 'fail', /^Only 1\.0 GiB/],
  ['memory.available', 'unknown', snapshotOf({ host: { available: null } }), 'warn', /is not known/],
  [
    'pressure',
    'unreadable',
    changed((s) => {
      s.pressure = null;
    }),
    'skip',
    /does not report/,
  ],
  ['kernel.files', 'all answer', snapshotOf(), 'pass', /answers/],
  [
    'kernel.files',
    'one does not',
    changed(({ from }) => {
      from['kernel.vmstat'] = reason(timeout('read /proc/vmstat'));
    }),
    'warn',
    /^\/proc\/vmstat does not answer: what it says is not known/,
  ],
  ['tools.thresholds', 'much is available', snapshotOf(), 'pass', /^No known rule of another program would act now/],
  [
    'tools.thresholds',
    'a Spark at rest',
    snapshotOf({ host: { available: 4.9 * GiB } }),
    'pass',
    /^Ray’s memory monitor kills workers below 6\.0 GiB available; an alert at 90 % used fires below 12\.0 GiB available: 4\.9 GiB are\. None/,
  ],
  ['tools.thresholds', 'no GPU', snapshotOf({ gpu: false }), 'skip', /shares the host’s memory/],
  ['tools.thresholds', 'discrete', snapshotOf({ model: 'discrete' }), 'skip', /shares the host’s memory/],
  ['tools.thresholds', 'nothing known', snapshotOf({ host: { available: null } }), 'skip', /is not known/],
];
