/** Rows about page cache, what the kernel keeps, blocks, and rules of other programs. */
import { expect } from 'vitest';
import type { Readiness } from '../../../../../lib/core/memory/findings/row.ts';
import { GiB, MiB } from '../../../../support/units.ts';
import { after, type FindingCase, on } from './case.ts';

const CACHE: FindingCase[] = [
  [
    'page.cache',
    'little',
    on({ host: { free: 103 * GiB, available: 112 * GiB } }),
    'pass',
    /^Little memory only looks used/,
  ],
  [
    'page.cache',
    'much',
    on({ host: { free: 7 * GiB, available: 112 * GiB, cached: 106 * GiB } }),
    'note',
    /^105\.00 of 119\.69 GiB look used but hold copies of files \(page cache\), which give way to a program\.$/,
    { bytes: 105 * GiB, effect: 'nothing', command: /^sync; echo 1 \| sudo tee/, gains: 105 * GiB - 1_048_576 },
  ],
  [
    'page.cache',
    'much, on a GPU with memory of its own',
    on({ model: 'discrete', host: { free: 8 * GiB, cached: 100 * GiB, available: 108 * GiB } }),
    'pass',
    /takes nothing from a GPU/,
  ],
  [
    'page.cache',
    'on the NUMA node of a GH200',
    on({ model: 'coherent', ownFree: [52 * GiB], cacheOnNode: 88 * GiB }),
    'note',
    /^88\.00 of \S+ GiB of GPU 0 look used but hold copies of files/,
    { bytes: 88 * GiB, effect: 'nothing', command: /^sync; echo 1 \| sudo tee/, gains: 88 * GiB },
  ],
  ['page.cache', 'unknown', on({ host: { available: null } }), 'unknown', /is not known/],
  ['cache.dirty', 'little', on({ host: { dirty: GiB, writeback: 512 * MiB } }), 'pass', /^Nearly all/],
  [
    'cache.dirty',
    'much',
    on({ host: { dirty: 3 * GiB, writeback: GiB } }),
    'note',
    /^4\.0 GiB of the page cache are not written to disk yet/,
    { bytes: 4 * GiB, command: /^sync$/, gains: 4 * GiB },
  ],
];

const KERNEL: FindingCase[] = [
  ['cma.phantom', 'none', on({ host: { cmaTotal: GiB, cmaFree: GiB } }), 'pass', /does not exceed/],
  ['cma.phantom', 'real CMA', on({ host: { cmaTotal: 10 * GiB, cmaFree: 9 * GiB } }), 'pass', /does not exceed/],
  [
    'cma.phantom',
    'kexec-handover',
    on({ host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }),
    'warn',
    /^9\.3 GiB of the free memory cannot hold GPU memory/,
    { bytes: 9.3 * GiB, effect: 'takes', gains: 9.3 * GiB, remedy: /^boot with kho=off/ },
  ],
  [
    'cma.phantom',
    'of 512 MiB, which is no less of one',
    on({ host: { cmaTotal: 0, cmaFree: 512 * MiB } }),
    'warn',
    /^512\.0 MiB/,
    { bytes: 512 * MiB },
  ],
  ['cma.phantom', 'no such line', on({ host: { cmaTotal: null, cmaFree: null } }), 'unknown', /does not report/],
  ['hugepages', 'none', on(), 'pass', /^No huge pages/],
  [
    'hugepages',
    'reserved',
    on({ host: { hugePagesTotal: 1024, hugePagesFree: 512, hugetlb: 2 * GiB } }),
    'warn',
    /^Huge pages are reserved, so NVIDIA's guidance answers 1\.0 GiB and llama\.cpp 1\.0 GiB, while there is room for \d+\.\d GiB/,
    { bytes: 2 * GiB, effect: 'takes', command: /nr_hugepages/, gains: GiB, cause: /never comes from huge pages/ },
  ],
  [
    'hugepages',
    'many, without a GPU',
    on({ gpu: false, host: { hugePagesTotal: 5120, hugePagesFree: 0, hugetlb: 10 * GiB } }),
    'note',
    /that much less/,
    { bytes: 10 * GiB, gains: null },
  ],
  [
    'hugepages',
    'all in use, beside a spike that refuses loads',
    on({ full: 30, host: { hugePagesTotal: 1024, hugePagesFree: 0, hugetlb: 2 * GiB } }),
    'warn',
    /while there is room for 10\d\.\d GiB\./,
    { command: null, gains: null, remedy: /^stop the program that uses these pages/ },
  ],
  [
    'hugepages',
    'few, without a GPU',
    on({ gpu: false, host: { hugePagesTotal: 512, hugePagesFree: 0, hugetlb: GiB } }),
    'pass',
    /^Few huge pages/,
  ],
  ['hugepages', 'no such line', on({ host: { hugePagesTotal: null, hugetlb: null } }), 'unknown', /no huge pages/],
  ['watermarks', 'default', on(), 'pass', /little/],
  ['watermarks', 'little more', on({ kernel: { minFree: 256 * MiB } }), 'pass', /little/],
  [
    'watermarks',
    'raised',
    on({ kernel: { minFree: 4 * GiB } }),
    'warn',
    /^min_free_kbytes is raised: MemAvailable is lower by about 6\.0 GiB/,
    {
      bytes: 6 * GiB,
      gains: 6 * GiB,
      effect: 'takes',
      command: /^echo 44811 \| sudo tee \/proc\/sys\/vm\/min_free_kbytes$/,
    },
  ],
  ['watermarks', 'unreadable', on({ kernel: { minFree: null } }), 'unknown', /cannot be read/],
  ['uvm.oversubscription', 'the default', on({}, { oversubscription: '1' }), 'pass', /^The default/],
  ['uvm.oversubscription', 'switched off', on({}, { oversubscription: '0' }), 'pass', /OOM killer/],
  ['uvm.oversubscription', 'no module', on({}, { oversubscription: null }), 'unknown', /not readable/],
  ['uvm.oversubscription', 'not read', on(), 'unknown', /^Only umaprobe doctor looks at it\.$/],
];

const BLOCKS: FindingCase[] = [
  ['fragmentation', 'none', on(), 'pass', /large enough blocks/],
  [
    'fragmentation',
    'no GPU shares the memory',
    on({ model: 'discrete', largeShare: 0.01 }),
    'pass',
    /^Only a GPU that shares/,
  ],
  [
    'fragmentation',
    'which pages move is not known',
    on({ largeShare: 0.1 }),
    'note',
    /^Free memory is fragmented: 10\.\d GiB of 107\.\d GiB are in blocks .* Up to 102\.8 GiB can be loaded if compaction joins the rest/,
    { bytes: expect.any(Number) as unknown as number, effect: 'takes', command: /compact_memory$/, gains: null },
  ],
  [
    'fragmentation',
    'pages that do not move',
    on({ largeShare: 0.1, movableShare: 0.2 }),
    'warn',
    /^Free memory is fragmented: .*compaction cannot join 7\d\.\d GiB of the rest\.$/,
    { effect: 'takes', evidence: /between pages that do not move/ },
  ],
  [
    'fragmentation',
    'a few pages that do not move',
    on({ largeShare: 0.1, movableShare: 0.85 }),
    'note',
    /compaction cannot join 14\.\d GiB/,
  ],
  ['fragmentation', 'all pages move', on({ largeShare: 0.1, movableShare: 1 }), 'pass', /large enough blocks/],
  [
    'fragmentation',
    'large blocks that are CMA',
    on({ largeShare: 0.2, movableShare: 0, host: { cmaTotal: 0, cmaFree: 9.3 * GiB } }),
    'warn',
    /: 12\.1 GiB of 97\.\d GiB are in blocks/,
    { evidence: /free CMA, not counted/ },
  ],
  [
    'fragmentation',
    'no buddyinfo',
    after((reading) => {
      reading.contiguity = null;
      reading.from.contiguity = 'open /proc/buddyinfo: ENOENT';
    }),
    'unknown',
    /^Whether free memory is fragmented is not known \(open \/proc\/buddyinfo: ENOENT\)\.$/,
  ],
  ['fragmentation', 'no MemAvailable', on({ host: { available: null } }), 'unknown', /whatever the blocks are/],
];

const RESTS = { host: { available: 4.9 * GiB } };
const running = (...names: string[]) => ({ programs: new Set(['systemd', 'bash', ...names]) });
const RULES: FindingCase[] = [
  [
    'tools.thresholds',
    'much is available',
    on({}, running()),
    'pass',
    /^No known rule of another program would act now/,
  ],
  [
    'tools.thresholds',
    'much is available, and Ray runs',
    on({}, running('raylet')),
    'pass',
    /^No known rule/,
    { evidence: /Ray’s.*running here/ },
  ],
  [
    'tools.thresholds',
    'a Spark at rest',
    on(RESTS, running()),
    'pass',
    /^Ray’s memory monitor kills workers below 6\.0 GiB available; an alert at 90 % used fires below 12\.0 GiB available: 4\.9 GiB are\. None/,
  ],
  [
    'tools.thresholds',
    'a Spark at rest with Ray and earlyoom, which has swap',
    on(RESTS, running('raylet', 'earlyoom')),
    'warn',
    /^Ray’s memory monitor kills workers below 6\.0 GiB available: 4\.9 GiB are\. CUDA/,
    { remedy: /^start Ray with RAY_memory_monitor_refresh_ms=0$/, effect: 'nothing' },
  ],
  [
    'tools.thresholds',
    'the same with little swap',
    on({ host: { available: 4.9 * GiB, swapFree: GiB } }, running('earlyoom', 'systemd-oomd')),
    'warn',
    /^earlyoom kills.*systemd-oomd kills/,
  ],
  [
    'tools.thresholds',
    'programs cannot be read',
    on(RESTS, { programs: null }),
    'unknown',
    /^Which programs run cannot be read/,
  ],
  [
    'tools.thresholds',
    'only an alert elsewhere would fire',
    on({ host: { available: 11 * GiB } }, { programs: null }),
    'pass',
    /^An alert at 90 % used fires below 12\.0 GiB available: 11\.0 GiB are\. Whether anybody has such an alert/,
  ],
  ['tools.thresholds', 'no GPU', on({ gpu: false }), 'pass', /shares the host’s memory/],
  ['tools.thresholds', 'discrete', on({ model: 'discrete' }), 'pass', /shares the host’s memory/],
  ['tools.thresholds', 'nothing known', on({ host: { available: null } }), 'unknown', /is not known/],
];

const FROM = { linkedPorts: 'ports/*/state', lockable: '/proc/self/limits', sharedMemory: '/proc/self/mountinfo' };
/** A pair of Sparks whose shell may lock 8 MiB, as is the kernel's default, in a container with Docker's /dev/shm. */
const ready = (readiness: Partial<Readiness> = {}) => ({
  readiness: { linkedPorts: ['rocep1s0f0/1'], lockable: 8 * MiB, sharedMemory: 64 * MiB, from: FROM, ...readiness },
});
const READINESS: FindingCase[] = [
  [
    'rdma.locked',
    'a pair of Sparks, 8 MiB',
    on({}, ready()),
    'warn',
    /^A program that is started here may lock only 8\.0 MiB: NCCL and UCX .*ibv_reg_mr failed/,
    { effect: 'nothing', bytes: 8 * MiB, remedy: /LimitMEMLOCK=infinity.*--ulimit memlock=-1/, evidence: /rocep1s0f0/ },
  ],
  ['rdma.locked', 'a server whose network card has RDMA', on({ model: 'discrete' }, ready()), 'note', /only 8\.0 MiB/],
  ['rdma.locked', 'without a GPU', on({ gpu: false }, ready()), 'note', /only 8\.0 MiB/],
  ['rdma.locked', 'nothing may be locked', on({}, ready({ lockable: 0 })), 'warn', /may lock only 0 B/],
  ['rdma.locked', 'no cable', on({}, ready({ linkedPorts: [] })), 'pass', /^No RDMA port has a link/],
  [
    'rdma.locked',
    'no limit',
    on({}, ready({ lockable: Number.POSITIVE_INFINITY })),
    'pass',
    /any amount/,
    { evidence: /limit none/ },
  ],
  ['rdma.locked', 'an eighth of memory', on({}, ready({ lockable: 15 * GiB })), 'pass', /may lock 15\.0 GiB/],
  [
    'rdma.locked',
    'limits that cannot be read',
    on({}, ready({ lockable: null })),
    'unknown',
    /^The limit of locked memory is not known/,
  ],
  [
    'rdma.locked',
    'ports that cannot be read',
    on({}, ready({ linkedPorts: null })),
    'unknown',
    /^Whether an RDMA port/,
  ],
  ['rdma.locked', 'not read', on(), 'unknown', /^Only umaprobe doctor looks at it\.$/],
  [
    'shm.size',
    'a pair of Sparks, 64 MiB',
    on({}, ready()),
    'warn',
    /^\/dev\/shm has room for 64\.0 MiB only/,
    { effect: 'nothing', bytes: 64 * MiB, remedy: /--ipc=host or --shm-size=1g/ },
  ],
  ['shm.size', 'one Spark, 64 MiB', on({}, ready({ linkedPorts: [] })), 'note', /64\.0 MiB only/],
  ['shm.size', 'a GPU with memory of its own', on({ model: 'discrete' }, ready()), 'note', /64\.0 MiB only/],
  ['shm.size', 'without a GPU', on({ gpu: false }, ready()), 'pass', /^No GPU is seen here/],
  ['shm.size', 'the default of a machine', on({}, ready({ sharedMemory: 'half' })), 'pass', /half of memory/],
  ['shm.size', 'as much as NCCL asks for', on({}, ready({ sharedMemory: GiB })), 'pass', /may take 1\.0 GiB/],
  ['shm.size', 'a byte less', on({}, ready({ sharedMemory: GiB - 1 })), 'warn', /only/],
  ['shm.size', 'size=0', on({}, ready({ sharedMemory: 0 })), 'pass', /any amount/],
  ['shm.size', 'not mounted', on({}, ready({ sharedMemory: null })), 'unknown', /^The size of \/dev\/shm is not known/],
  [
    'shm.size',
    'a simulated machine without one',
    { ...after((reading) => void Object.assign(reading, { simulated: 'gb10' })), ...ready({ sharedMemory: null }) },
    'pass',
    /^This simulated machine has no/,
  ],
];

export const KERNEL_CASES: readonly FindingCase[] = [...CACHE, ...KERNEL, ...BLOCKS, ...RULES, ...READINESS];
