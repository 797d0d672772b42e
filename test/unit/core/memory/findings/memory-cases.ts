/** Rows about the memory of the host: what waits, what is left, and who holds it. */
import { reason } from '../../../../../lib/base/facts.ts';
import { timeout } from '../../../../support/failures.ts';
import { snapshotOf } from '../../../../support/snapshots.ts';
import { GiB, MiB } from '../../../../support/units.ts';
import { after, type FindingCase, on, processesOf, processOf } from './case.ts';

const TOTAL = snapshotOf().host.total;
const PSI_90 = { avg10: 90, avg60: 88, avg300: 60, totalUs: 1 };
const LONG_SPIKE = { avg10: 60, avg60: 60, avg300: 20, totalUs: 1 };
const OVER = { avg10: 0.5, avg60: 3, avg300: 2, totalUs: 1 };
const full = (psi: typeof PSI_90) => (reading: { pressure: unknown }) => {
  reading.pressure = { some: psi, full: psi };
};
const left = (available: number) => ({ available, free: available });
/** A stall with swap full and 47 GiB available, as in a wedge on record (blackbox). */
const WEDGE = { swapFree: 0, available: 47 * GiB, free: 40 * GiB };
const SWAP_FULL = { swapFree: GiB, available: 38 * GiB, free: 38 * GiB, anonPages: 80 * GiB };
const none = { swapTotal: 0, swapFree: 0 };

const PRESSURE: FindingCase[] = [
  ['pressure', 'none', on(), 'pass', /^No task waits for memory\.$/],
  ['pressure', 'some', on({ some: 12 }), 'note', /^Tasks waited/, { effect: 'nothing', remedy: /umaprobe watch/ }],
  [
    'pressure',
    'some, with little left',
    on({ some: 12, host: { available: 7 * GiB } }),
    'warn',
    /^Tasks waited .*with only 7\.0 GiB available/,
    { effect: 'nothing' },
  ],
  ['pressure', 'a spike', on({ full: 11 }), 'note', /a spike/, { effect: 'refuses', remedy: /^wait until it is over/ }],
  [
    'pressure',
    'a spike where no GPU shares the memory',
    on({ full: 11, model: 'discrete' }),
    'note',
    /a spike/,
    { effect: 'nothing' },
  ],
  ['pressure', 'a long spike', after(full(LONG_SPIKE)), 'fail', /longer than most spikes/, { effect: 'refuses' }],
  [
    'pressure',
    'a long spike where no GPU shares the memory',
    after(full(LONG_SPIKE), { model: 'discrete' }),
    'warn',
    /longer than most spikes/,
    { effect: 'nothing' },
  ],
  [
    'pressure',
    'a spike that is over',
    after(full(OVER)),
    'note',
    /of the last 5 min; it is over/,
    { normal: true, effect: 'nothing' },
  ],
  ['pressure', 'a stall', on({ full: 11, host: { available: 7 * GiB } }), 'fail', /freeze/, { effect: 'refuses' }],
  [
    'pressure',
    'a stall with 3 GiB',
    on({ some: 60, full: 40, host: { available: 3 * GiB } }),
    'fail',
    /^No task could run for lack of memory for 40\.0 % of the last 10 s/,
    { bytes: null, effect: 'refuses', remedy: /^stop the largest GPU process now/ },
  ],
  [
    'pressure',
    'a wedge',
    on({ full: 92, host: WEDGE }),
    'fail',
    /and swap is full: this is how a freeze begins/,
    { effect: 'refuses' },
  ],
  [
    'pressure',
    'a stall that lasts',
    after(full(PSI_90)),
    'fail',
    /90\.0 % of the last 10 s and 60\.0 % of the last 5 min: this is how a freeze begins/,
    { effect: 'refuses' },
  ],
  [
    'pressure',
    'a stall where no GPU shares the memory',
    after(full(PSI_90), { model: 'discrete' }),
    'fail',
    /this is how a freeze begins/,
    { effect: 'refuses' },
  ],
  [
    'pressure',
    'a spike, and NVML does not answer',
    after(
      ({ libraries }) => {
        Object.assign(libraries.nvml, { state: 'timeout', reason: 'no answer within 10 ms' });
      },
      { full: 40 },
    ),
    'fail',
    /^No task could run .*, and NVML does not answer: this is how a freeze begins/,
    { effect: 'refuses' },
  ],
  [
    'pressure',
    'not reported',
    after((reading) => {
      reading.pressure = null;
    }),
    'unknown',
    /^Whether tasks wait for memory is not known: this kernel does not report it/,
  ],
  [
    'pressure',
    'not readable',
    after((reading) => {
      reading.pressure = null;
      reading.from.pressure = 'ERR_UMA_PERMISSION: open /proc/pressure/memory answered EACCES (13)';
    }),
    'unknown',
    /not known: this user may not read it \(ERR_UMA_PERMISSION/,
  ],
  ['pressure.rising', 'none', on(), 'pass', /does not grow/],
  ['pressure.rising', 'hardly', on({ some: 0.9 }), 'pass', /does not grow/],
  [
    'pressure.rising',
    'more and more',
    on({ some: 5 }),
    'note',
    /^Tasks begin to wait for memory: 5\.0 % of the last 10 s, 2\.5 % of the last minute/,
    { bytes: null, effect: 'nothing', command: /^umaprobe watch$/ },
  ],
  ['pressure.rising', 'so much that pressure says it', on({ some: 12 }), 'pass', /does not grow/],
  [
    'pressure.rising',
    'not reported',
    after((reading) => {
      reading.pressure = null;
    }),
    'unknown',
    /^Pressure is not known\.$/,
  ],
];

const AVAILABLE: FindingCase[] = [
  ['memory.available', 'enough', on(), 'pass', /^Enough/],
  [
    'memory.available',
    'low',
    on({ host: { available: 4.9 * GiB } }),
    'note',
    /^Only 4\.9 GiB of the unified memory can still be allocated: the host needs them\. No task waits for it\.$/,
    { effect: 'refuses', remedy: /^stop a program before you load a model, and leave at least 8\.4 GiB available$/ },
  ],
  [
    'memory.available',
    'between 8 GiB and the floor, where nothing can be loaded',
    on({ host: { ...left(8.5 * GiB), anonPages: 100 * GiB } }),
    'note',
    /^Only 8\.5 GiB of the unified memory can still be allocated: the host needs them/,
    { effect: 'refuses' },
  ],
  ['memory.available', 'just above the floor', on({ host: left(9.1 * GiB) }), 'pass', /^Enough/],
  [
    'memory.available',
    'low, with free pages in the lists of the processors',
    on({ host: left(8.5 * GiB), kernel: { freeInCpuLists: GiB } }),
    'pass',
    /^Enough/,
  ],
  [
    'memory.available',
    'low, and tasks wait',
    on({ some: 12, host: { available: 4.9 * GiB } }),
    'fail',
    /the host needs them\. Tasks waited/,
    { effect: 'refuses' },
  ],
  [
    'memory.available',
    'nearly gone',
    on({ host: { available: GiB } }),
    'fail',
    /^Only 1\.0 GiB .*can freeze this machine/,
    { effect: 'refuses' },
  ],
  [
    'memory.available',
    'low where no GPU shares it',
    on({ model: 'discrete', host: left(7 * GiB) }),
    'note',
    /^Only 7\.0 GiB of the host’s memory can still be allocated/,
    { effect: 'takes' },
  ],
  [
    'memory.available',
    'nearly gone, without a GPU',
    on({ gpu: false, host: left(GiB) }),
    'fail',
    /^Only 1\.0 GiB of the host’s memory can still be allocated\.$/,
  ],
  [
    'memory.available',
    'unknown',
    on({ host: { available: null } }),
    'warn',
    /^How much of the unified memory can be allocated is not known: MemAvailable cannot be read\.$/,
    { effect: 'unknown', command: /^head -3/ },
  ],
  ['ledger.counters', 'all there', on(), 'pass', /^Every counter/],
  [
    'ledger.counters',
    'one is missing',
    after(
      ({ from }) => {
        from['host.cached'] = '/proc/meminfo, Cached: the line has the unit MB, expected kB';
      },
      { host: { free: 8 * GiB, cached: null, available: 108 * GiB } },
    ),
    'note',
    /^The use of the memory cannot be split: Cached is missing: page cache is in no counter \(\/proc\/meminfo, Cached: the line has the unit MB, expected kB\)\.$/,
    { effect: 'unknown' },
  ],
  ['kernel.files', 'all answer', on(), 'pass', /answers/],
  [
    'kernel.files',
    'one does not',
    after(({ from }) => {
      from['kernel.vmstat'] = reason(timeout('read /proc/vmstat'));
    }),
    'warn',
    /^\/proc\/vmstat does not answer: what it says is not known/,
    { effect: 'unknown', command: /^findmnt --target \/proc\/vmstat$/ },
  ],
  [
    'kernel.files',
    'three do not',
    after(({ from }) => {
      for (const name of ['vmstat', 'swappiness', 'buddyinfo']) from[name] = reason(timeout(`read /proc/${name}`));
    }),
    'warn',
    /^\/proc\/vmstat and 2 other files of the kernel do not answer/,
  ],
  [
    'kernel.files',
    'one does not, and another one was not tried behind it',
    after(({ from }) => {
      from['kernel.vmstat'] = reason(timeout('read /proc/vmstat'));
      from.contiguity =
        'ERR_UMA_TIMEOUT: read /proc/pagetypeinfo answered TIMEOUT: not tried within 105 ms: earlier calls are blocked';
    }),
    'warn',
    /^\/proc\/vmstat does not answer: what it says is not known/,
  ],
];

const SWAP: FindingCase[] = [
  ['swap.full', 'free space', on(), 'pass', /free space/],
  ['swap.full', 'none', on({ host: none }), 'pass', /no swap/],
  [
    'swap.full',
    'full, with much available',
    on({ host: { swapFree: GiB / 2 } }),
    'note',
    /^15\.5 GiB of 16\.0 GiB swap are used: they show an earlier shortage/,
    { bytes: 15.5 * GiB, effect: 'nothing', command: /^sudo swapoff/ },
  ],
  [
    'swap.full',
    'full, with little available',
    on({ host: SWAP_FULL }),
    'fail',
    /^15\.0 GiB of 16\.0 GiB swap are used, and only 38\.0 GiB are available/,
    { effect: 'refuses' },
  ],
  [
    'swap.full',
    'to the last page',
    on({ host: { swapFree: 0, free: GiB, available: 20 * GiB } }),
    'fail',
    /^16\.0 GiB of 16\.0 GiB swap are used, and only 20\.0 GiB are available: nothing more/,
    { bytes: 16 * GiB, command: null, gains: 0 },
  ],
  [
    'swap.full',
    'full, where no GPU shares the memory',
    on({ model: 'discrete', host: SWAP_FULL }),
    'warn',
    /only 38\.0 GiB/,
    { effect: 'nothing' },
  ],
  ['swap.full', 'not readable', on({ host: { swapTotal: null, swapFree: null } }), 'unknown', /cannot be read/],
  ['swap.traffic', 'one reading', on(), 'unknown', /^It takes two readings/],
  ['swap.traffic', 'no vmstat', on({}, { swapBytesPerSecond: null }), 'unknown', /vmstat does not say/],
  ['swap.traffic', 'hardly any', on({}, { swapBytesPerSecond: MiB }), 'pass', /^Hardly anything/],
  [
    'swap.traffic',
    'much',
    on({}, { swapBytesPerSecond: 20 * MiB }),
    'fail',
    /^20\.0 MiB per second move between memory and swap \(limit 16\.0 MiB\)/,
    { effect: 'refuses', remedy: /^wait until/ },
  ],
  ['swap.used', 'little', on({ host: { swapFree: 15 * GiB } }), 'pass', /^Little is in swap/],
  ['swap.used', 'none', on({ host: none }), 'pass', /^Little is in swap/],
  ['swap.used', 'not readable', on({ host: { swapFree: null } }), 'unknown', /SwapFree cannot be read/],
  ['memory.locked', 'not readable', on({ host: { mlocked: null } }), 'unknown', /^Mlocked is not known/],
  ['memory.shared', 'not readable', on({ host: { shmem: null } }), 'unknown', /^Shmem is not known/],
  ['files.mapped', 'not readable', on({ host: { mapped: null } }), 'unknown', /^Mapped is not known/],
  ['programs', 'not readable', on({ host: { anonPages: null } }), 'unknown', /^AnonPages is not known/],
  ['cache.dirty', 'not readable', on({ host: { dirty: null } }), 'unknown', /^Dirty is not known/],
  [
    'swap.used',
    'much',
    on({ host: { swapFree: 10 * GiB } }),
    'note',
    /^6\.0 GiB of 16\.0 GiB of swap are in use/,
    { bytes: 6 * GiB, command: /swapoff/, effect: 'nothing' },
  ],
  [
    'swap.used',
    'much, and moving it back would leave too little',
    on({ host: { swapFree: 10 * GiB, available: 8 * GiB, free: 8 * GiB } }),
    'note',
    /^6\.0 GiB of 16\.0 GiB of swap are in use/,
    { command: null, gains: 0 },
  ],
];

const PROGRAMS: FindingCase[] = [
  ['programs', 'few', on({ host: { anonPages: 23 * GiB } }), 'pass', /little memory outside/],
  [
    'programs',
    'many',
    on(
      { host: { anonPages: 40 * GiB } },
      { processes: processesOf([processOf(9, { anonymous: 33 * GiB }), processOf(10, { anonymous: GiB })]) },
    ),
    'note',
    /^40\.0 GiB are memory of programs, outside of the GPU\. The most: python3 \(9\) 33\.0 GiB\.$/,
    { bytes: 40 * GiB, normal: true, effect: 'takes' },
  ],
  ['memory.shared', 'little', on({ host: { shmem: 5 * GiB, cached: 8 * GiB } }), 'pass', /^Little is in tmpfs/],
  [
    'memory.shared',
    'much',
    on(
      { host: { shmem: 20 * GiB, cached: 30 * GiB } },
      { processes: processesOf([], [{ name: '/dev/shm', bytes: 19 * GiB, from: 'statfs' }]) },
    ),
    'note',
    /dropping caches does not free them\. The most: \/dev\/shm 19\.0 GiB\.$/,
    { bytes: 20 * GiB, normal: true },
  ],
  ['memory.locked', 'little', on({ host: { mlocked: 5 * GiB } }), 'pass', /^Little memory is locked/],
  [
    'memory.locked',
    'much',
    on(
      { host: { mlocked: 61 * GiB } },
      { processes: processesOf([processOf(5, { name: 'llama-cli', locked: 60 * GiB })]) },
    ),
    'note',
    /^61\.0 GiB are locked \(mlock\).*The most: llama-cli \(5\) 60\.0 GiB\.$/,
    { bytes: 61 * GiB, normal: true },
  ],
  // As much, but shared memory.
  [
    'files.mapped',
    'shared memory',
    on({ host: { mapped: 40 * GiB, shmem: 39 * GiB, cached: 45 * GiB } }),
    'pass',
    /^Few files/,
  ],
  [
    'files.mapped',
    'much',
    on({ host: { mapped: 40 * GiB, shmem: 0 } }),
    'note',
    /^40\.0 GiB of what programs show as resident \(RSS\) are only mapped files/,
    { bytes: 40 * GiB, normal: true, gains: 0, effect: 'nothing' },
  ],
  ['container.limit', 'none', on(), 'pass', /^No memory limit/],
  [
    'container.limit',
    'a limit',
    limited(32 * GiB),
    'note',
    /^The limit of 32\.0 GiB on \/docker\/x does not hold GPU memory/,
    { bytes: 32 * GiB, effect: 'nothing' },
  ],
  ['container.limit', 'a limit that reclaims', limited(null, 'unified', 16 * GiB), 'note', /^The limit of 16\.0 GiB/],
  ['container.limit', 'both', limited(32 * GiB, 'unified', 16 * GiB), 'note', /^The limit of 16\.0 GiB/],
  ['container.limit', 'a limit above the memory', limited(TOTAL), 'pass', /^No memory limit below/],
  [
    'container.limit',
    'a limit, and no GPU shares the memory',
    limited(32 * GiB, 'discrete'),
    'pass',
    /no GPU here shares/,
  ],
  [
    'container.limit',
    'not readable',
    after((reading) => {
      reading.cgroup = null;
    }),
    'unknown',
    /cannot be read/,
  ],
  [
    'host.smaller',
    'two GPUs with more',
    on({ model: 'discrete', ownFree: [140_000 * MiB, 140_000 * MiB] }),
    'note',
    /^This machine has less memory \(119\.7 GiB\) than its 2 GPUs \(280\.8 GiB\)/,
    { bytes: 2 * 143_771 * MiB - TOTAL, normal: true },
  ],
  [
    'host.smaller',
    'two GPUs with less',
    on({ model: 'discrete', host: { total: 300 * GiB }, ownFree: [140_000 * MiB, 140_000 * MiB] }),
    'pass',
    /as much memory as its GPUs/,
  ],
];

function limited(limit: number | null, model: 'unified' | 'discrete' = 'unified', high: number | null = null) {
  return after(
    (reading) => {
      reading.cgroup = { version: 2, path: '/docker/x', limit, high, current: 4 * GiB };
    },
    { model },
  );
}

export const MEMORY_CASES: readonly FindingCase[] = [...PRESSURE, ...AVAILABLE, ...SWAP, ...PROGRAMS];
