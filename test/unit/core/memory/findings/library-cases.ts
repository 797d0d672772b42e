/** Rows about NVIDIA's libraries, the driver, contexts and rights. */
import type { Failure } from '../../../../../lib/base/errors.ts';
import type { Access } from '../../../../../lib/core/memory/findings/row.ts';
import { callFailure } from '../../../../../lib/core/snapshot/failures.ts';
import type { Reading } from '../../../../../lib/types/index.ts';
import { cudaFailure, nvmlFailure, timeout } from '../../../../support/failures.ts';
import type { MachineFixture } from '../../../../support/snapshots.ts';
import { GiB } from '../../../../support/units.ts';
import { after, type FindingCase, failed, on, SILENT } from './case.ts';

const TWO: MachineFixture = { model: 'discrete', ownFree: [100 * GiB, 100 * GiB] };
const BLOCKED = 'ERR_UMA_TIMEOUT: x answered TIMEOUT: an earlier call is still blocked for 62000 ms in x';

function unusable(library: 'cuda' | 'nvml', failure: Failure, fixture: MachineFixture = {}) {
  return after(({ libraries }) => {
    Object.assign(libraries[library], {
      state: 'unusable',
      reason: 'ERR_UMA_X',
      failure: callFailure(library, failure),
    });
  }, fixture);
}

const missing = (library: 'cuda' | 'nvml', reason = 'ERR_UMA_LIBRARY_MISSING: not found') =>
  after(({ libraries }) => {
    Object.assign(libraries[library], { state: 'missing', path: null, reason });
  });

const opening = (path: string, why: string) => `${path}: cannot open shared object file: ${why}`;
const tried = (second: string) =>
  `ERR_UMA_LIBRARY_MISSING: dlopen libnvidia-ml.so.1 answered LIBRARY_MISSING: ${opening('libnvidia-ml.so.1', 'No such file or directory')}; ${opening('/usr/lib/wsl/lib/libnvidia-ml.so.1', second)}`;

const silent = (reason: string, library: 'cuda' | 'nvml' = 'nvml') =>
  after(({ libraries }) => {
    Object.assign(libraries[library], { state: 'timeout', reason });
  });

/** A machine on which no context was tried, with this driver. */
const untried = (
  version: string | null,
  fixture: MachineFixture = {},
  change: (reading: Reading) => void = () => undefined,
) =>
  after((reading) => {
    reading.driver.version = version;
    reading.libraries.nvml = { ...reading.libraries.nvml, driverVersion: version };
    for (const device of reading.devices) device.cuda = null;
    change(reading);
  }, fixture);

const CUDA: FindingCase[] = [
  ['library.cuda', 'loaded', on(), 'pass', /^CUDA is installed and answers\.$/],
  [
    'library.cuda',
    'missing, and no GPU is seen',
    on({ gpu: false }),
    'warn',
    /^CUDA was not found: there is no GPU, or no driver for it\.$/,
    { effect: 'unknown', remedy: /^install the NVIDIA driver/ },
  ],
  [
    'library.cuda',
    'missing beside a GPU',
    missing('cuda'),
    'fail',
    /^There is a GPU, but CUDA is not installed/,
    { effect: 'refuses', remedy: /libcuda/ },
  ],
  [
    'library.cuda',
    'cuInit fails beside NVML',
    unusable('cuda', cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuInit')),
    'fail',
    /^CUDA cannot be used: the driver gives no reason: a GPU may be lost.*\(cuInit answered CUDA_ERROR_UNKNOWN, 999\)\. No program can use the GPU\.$/,
    { effect: 'refuses', remedy: /Xid/ },
  ],
  [
    'library.cuda',
    'cuInit fails, and NVML lists nothing',
    unusable('cuda', cudaFailure('CUDA_ERROR_UNKNOWN', 999, 'cuInit'), { gpu: false }),
    'fail',
    /^CUDA cannot be used/,
    { remedy: /Xid/ },
  ],
  [
    'library.cuda',
    'no GPU, with the driver installed',
    unusable('cuda', cudaFailure('CUDA_ERROR_NO_DEVICE', 100, 'cuInit'), { gpu: false }),
    'warn',
    /^CUDA cannot be used: the driver sees no GPU \(cuInit answered CUDA_ERROR_NO_DEVICE, 100\)\.$/,
    { effect: 'unknown' },
  ],
  [
    'library.cuda',
    'no memory for a context on a machine with much',
    failed([['cuda', cudaFailure('cudaErrorMemoryAllocation', 2)]]),
    'fail',
    /no CUDA context can be created, because the driver found no memory for it, though 111\.8 GiB are available/,
    { effect: 'refuses', remedy: /^free pages for it: sync; echo 1/ },
  ],
  [
    'library.cuda',
    'no memory for a context on a GPU that is full',
    failed([['cuda', cudaFailure('cudaErrorMemoryAllocation', 2)]], { model: 'discrete', ownFree: [0] }),
    'fail',
    /found no memory for it, though 0 B are available/,
    { remedy: /^stop a program that holds memory of this GPU$/ },
  ],
  [
    'library.cuda',
    'busy',
    failed([['cuda', cudaFailure('cudaErrorDevicesUnavailable', 46)]]),
    'fail',
    /^GPU 0: no CUDA program can use it, because the GPU is busy or unavailable: .*\(cudaMemGetInfo answered cudaErrorDevicesUnavailable, 46\)\.$/,
    { effect: 'refuses', remedy: /COMPUTE,PIDS/ },
  ],
  [
    'library.cuda',
    'one of two is busy',
    failed([['cuda', cudaFailure('cudaErrorDevicesUnavailable', 46)]], TWO, 1),
    'warn',
    /^GPU 1: no CUDA program can use it/,
    { effect: 'nothing' },
  ],
  [
    'library.cuda',
    'no context in time',
    failed([['cuda', timeout('cudaMemGetInfo in a child process', 2700)]]),
    'warn',
    /^CUDA did not answer within 2\.70 s: slow or stuck\. The kernel’s numbers are valid\.$/,
    { effect: 'unknown', remedy: /^check again/ },
  ],
  ['library.cuda', 'silent', silent(SILENT, 'cuda'), 'warn', /^CUDA did not answer within 10 ms/],
  [
    'library.cuda',
    'the child could not be started',
    after((reading) => {
      const [device] = reading.devices;
      Object.assign(device ?? {}, {
        cuda: null,
        from: { ...device?.from, cuda: 'ERR_UMA_CHILD: fork answered EAGAIN' },
      });
    }),
    'warn',
    /could not be tried/,
    { effect: 'unknown' },
  ],
  [
    'library.cuda',
    'not asked',
    after((reading) => {
      Object.assign(reading.devices[0] ?? {}, { cuda: null, from: { cuda: 'not read' } });
    }),
    'pass',
    /answers\. Whether a CUDA program can start was not tried\.$/,
  ],
];

const NVML: FindingCase[] = [
  ['library.nvml', 'loaded', on(), 'pass', /^NVML is installed and answers\.$/],
  [
    'library.nvml',
    'nowhere: one sentence, without the paths that were tried',
    missing('nvml', tried('No such file or directory')),
    'note',
    /^NVML is not installed here/,
    { evidence: /^reason the file libnvidia-ml\.so\.1 is not on this computer the library$/m },
  ],
  [
    'library.nvml',
    'there, but not readable: every path stays',
    missing('nvml', tried('Permission denied')),
    'note',
    /^NVML is not installed here/,
    { evidence: /^reason ERR_UMA_LIBRARY_MISSING: dlopen .*wsl\/lib\/libnvidia-ml\.so\.1: .* Permission denied/m },
  ],
  [
    'library.nvml',
    'silent',
    silent(SILENT),
    'warn',
    /^NVML did not answer within 10 ms: slow or stuck\./,
    { effect: 'unknown', remedy: /^check again/ },
  ],
  [
    'library.nvml',
    'silent for long',
    silent(BLOCKED),
    'warn',
    /^NVML did not answer within 1 min 2 s: slow or stuck\./,
  ],
  [
    'library.nvml',
    'silent in a call for one device',
    failed([['nvml', timeout('nvmlDeviceGetMemoryInfo_v2', 2800)]]),
    'warn',
    /^NVML did not answer within 2\.80 s/,
  ],
  [
    'library.nvml',
    'missing beside CUDA',
    missing('nvml'),
    'note',
    /^NVML is not installed here: which programs/,
    { effect: 'unknown', remedy: /libnvidia-ml/ },
  ],
  [
    'library.nvml',
    'missing, and no GPU is seen',
    on({ gpu: false }),
    'warn',
    /^NVML was not found: there is no GPU, or no driver/,
  ],
  [
    'library.nvml',
    'libraries newer than the loaded module',
    unusable('nvml', nvmlFailure('LIB_RM_VERSION_MISMATCH', 18, 'nvmlInit_v2')),
    'warn',
    /^NVML cannot be used: the driver's libraries and the loaded kernel module have different versions.* Which programs hold GPU memory is not known\.$/,
    { effect: 'unknown', remedy: /^reboot this machine$/ },
  ],
  [
    'library.nvml',
    'no GPU, and no module',
    unusable('nvml', nvmlFailure('DRIVER_NOT_LOADED', 9, 'nvmlInit_v2'), { gpu: false }),
    'warn',
    /^NVML cannot be used: the kernel module of the driver is not loaded \(nvmlInit_v2 answered DRIVER_NOT_LOADED, 9\)\.$/,
    { effect: 'unknown' },
  ],
  [
    'library.nvml',
    'refuses as a whole because of a lost GPU',
    unusable('nvml', nvmlFailure('GPU_IS_LOST', 15, 'nvmlInit_v2'), { gpu: false }),
    'warn',
    /^NVML cannot be used: A GPU is lost: it has fallen off the bus/,
  ],
];

const DRIVER: FindingCase[] = [
  ['driver.match', 'fits', on(), 'pass', /supports/],
  [
    'driver.match',
    'newer runtime',
    after(({ libraries }) => {
      libraries.cuda.version = '14.0';
    }),
    'warn',
    /^The driver does not fit: the CUDA runtime is newer than the driver \(runtime 14\.0, driver supports 13\.0\)\.$/,
    { effect: 'unknown', remedy: /^update the driver/ },
  ],
  [
    'driver.match',
    'updated without reboot',
    after(({ driver }) => {
      driver.version = '580.173.02';
    }),
    'warn',
    /without a reboot \(kernel module 580\.173\.02, libraries 580\.142\)\.$/,
    { remedy: /^reboot this machine$/ },
  ],
  [
    'driver.match',
    'nothing to compare',
    on({ gpu: false }),
    'unknown',
    /^The versions of runtime and driver are not both known: CUDA is not installed\.$/,
  ],
  [
    'driver.contexts',
    'reported to refuse contexts, and none was tried',
    untried('615.16'),
    'warn',
    /^Whether a CUDA program can start was not tried, and driver 615\.16 is reported/,
    { effect: 'unknown', remedy: /umaprobe doctor --only library\.cuda/ },
  ],
  ...['580.142', '615.160', '615.17.01', null].map(
    (version): FindingCase => [
      'driver.contexts',
      `not driver ${version}`,
      untried(version),
      'pass',
      /not known to refuse/,
    ],
  ),
  [
    'driver.contexts',
    'a context was created',
    untried('615.16', {}, ({ devices }) => {
      for (const device of devices) device.cuda = { free: GiB, total: 100 * GiB };
    }),
    'pass',
    /one was tried/,
  ],
  ['driver.contexts', 'memory of its own', untried('615.16', { model: 'discrete' }), 'pass', /not known to refuse/],
];

/** Full of page cache, with next to no large block. */
const FULL: MachineFixture = { host: { free: GiB, available: 17 * GiB }, largeShare: 0.03 };
const BLOCKS: FindingCase[] = [
  [
    'context.blocks',
    'hardly any, and no context was tried',
    untried('580.142', FULL),
    'warn',
    /^A CUDA program may fail to start: only 0 B are free.*17\.0 GiB can become free/,
    { effect: 'unknown', command: /compact_memory$/ },
  ],
  [
    'context.blocks',
    'hardly any, and a context was created',
    untried('580.142', FULL, ({ devices }) => {
      for (const device of devices) device.cuda = { free: GiB, total: 100 * GiB };
    }),
    'pass',
    /^A context was created/,
  ],
  ['context.blocks', '64 MiB', untried('580.142', { ...FULL, largeShare: 0.1 }), 'pass', /^Free blocks are there/],
  [
    'context.blocks',
    'no buddyinfo',
    untried('580.142', FULL, (reading) => {
      reading.contiguity = null;
    }),
    'unknown',
    /not known/,
  ],
];

const NODES = ['/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm'];
const OPEN: Access = { nodes: NODES, closed: [], settings: { drop_caches: true, compact_memory: true } };
const PERMISSIONS: FindingCase[] = [
  ['permissions', 'not looked at', on(), 'unknown', /^Only umaprobe doctor looks at it/],
  ['permissions', 'no device nodes', on({ gpu: false }, { access: { ...OPEN, nodes: [] } }), 'pass', /no device nodes/],
  ['permissions', 'simulated', on({ simulated: 'gb10' }, { access: OPEN }), 'pass', /simulated machine/],
  [
    'permissions',
    'open',
    on({}, { access: OPEN }),
    'pass',
    /may drop caches/,
    { evidence: /\/dev\/nvidia-uvm open .*drop_caches open/s },
  ],
  [
    'permissions',
    'a node is closed',
    on({}, { access: { ...OPEN, closed: ['/dev/nvidia-uvm'] } }),
    'fail',
    /^This user may not open \/dev\/nvidia-uvm\.$/,
    { effect: 'refuses', remedy: /^join the group/, evidence: /\/dev\/nvidia-uvm closed/ },
  ],
  [
    'permissions',
    'root in a container with a read-only /proc/sys: access to the files counts, not the user id',
    on(
      {},
      { access: { nodes: ['/dev/nvidia0'], closed: [], settings: { drop_caches: false, compact_memory: false } } },
    ),
    'pass',
    /dropping caches needs root and a writable \/proc\/sys/,
    { evidence: /drop_caches closed .*\ncompact_memory closed/ },
  ],
];

export const LIBRARY_CASES: readonly FindingCase[] = [...CUDA, ...NVML, ...DRIVER, ...BLOCKS, ...PERMISSIONS];
