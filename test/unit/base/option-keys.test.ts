/** Every function of the library refuses an option that it does not know: a misspelt limit must not be ignored. */

import { describe, expect, it } from 'vitest';
import { abortable } from '../../../lib/base/abort.ts';
import { LIBRARY } from '../../support/doors.ts';

const functions = new Map<string, unknown>(Object.entries(LIBRARY));

/** Calls that the compiler would refuse. */
async function call(name: string, ...args: unknown[]): Promise<unknown> {
  const result = (functions.get(name) as (...args: unknown[]) => unknown)(...args);
  return name === 'watch' ? (result as AsyncGenerator).next() : result;
}

const ON = { snapshot: { schema: 'umaprobe/snapshot/1' } };

const REFUSED: readonly (readonly [string, unknown[], string])[] = [
  ['snapshot', [{ deadline: 5 }], 'snapshot() has no option "deadline". Did you mean deadlineMs?'],
  ['snapshot', [{ memgetinfo: 'never' }], 'snapshot() has no option "memgetinfo". Did you mean memGetInfo?'],
  [
    'snapshot',
    [{ memGetInfo: 'always' }],
    'memGetInfo is "always"; expected one of auto, needed, neededInProcess, child, inProcess, never',
  ],
  [
    'snapshot',
    [5],
    'snapshot() takes an object with memGetInfo, hiddenDevices, deadlineMs, childDeadlineMs, signal; it was given 5',
  ],
  ['doctor', [{ onli: [] }], 'doctor() has no option "onli". Did you mean only?'],
  ['doctor', [{ only: 'swap.*' }], 'only is "swap.*"; expected an array of ids or patterns'],
  ['doctor', [{ skip: [5] }], 'skip[0] is 5; expected a text'],
  ['doctor', [{ only: ['nope'] }], 'only is "nope"; expected a pattern such as library.* or one of pressure, '],
  ['memory', [{ deadline: 5 }], 'memory() has no option "deadline". Did you mean deadlineMs?'],
  ['memorySync', [{ deadline: 5 }], 'memorySync() has no option "deadline". Did you mean deadlineMs?'],
  ['cluster', [{ host: [] }], 'cluster() has no option "host". Did you mean hosts?'],
  ['cluster', [{}], 'cluster() takes either hosts or answers, and was given neither'],
  ['cluster', [{ hosts: ['a'], answers: [] }], 'cluster() takes either hosts or answers, and was given both'],
  ['cluster', [{ hosts: ['a'], expect: 2 }], 'expect is for answers: of hosts each is expected'],
  ['cluster', [{ hosts: ['a'], deadlineMs: 0 }], 'deadlineMs is 0; expected 1 to 600000 milliseconds'],
  ['cluster', [{ hosts: ['a'], command: 'x', copy: 'y' }], 'command and copy both say what is run there'],
  ['cluster', [{ answers: 5 }], 'answers is 5; expected a stream of bytes'],
  ['cluster', [{ answers: [], deadlineMs: 5 }], 'deadlineMs is for hosts: answers are read as they come'],
  ['clusterCheck', [{ bytes: 5, solve: 'context' }], 'clusterCheck() has no option "solve".'],
  ['clusterCheck', [{ byte: 5, answers: [] }], 'clusterCheck() has no option "byte". Did you mean bytes?'],
  ['clusterCheck', [{ answers: [] }], 'clusterCheck() takes exactly one of bytes, model and estimate'],
  ['clusterCheck', [{ bytes: 5, answers: [], utilization: 2 }], 'utilization is 2; expected above 0 and up to 1'],
  [
    'clusterCheck',
    [{ model: { params: 7e9 }, use: { tensorParallel: 2 }, hosts: ['a'] }],
    'the model is divided among 2 ranks, one on each machine: name 2 hosts, not 1',
  ],
  [
    'fit',
    [{ largest: true, ...ON, progam: 'vllm' }],
    'fit() of the largest model has no option "progam". Did you mean program?',
  ],
  ['fit', [{ largest: false, ...ON }], 'largest is false; expected true'],
  [
    'fit',
    [{ together: [], ...ON, programm: 'vllm' }],
    'fit() of several models has no option "programm". Did you mean program?',
  ],
  ['fit', [{ together: 5, ...ON, program: 'vllm' }], 'together is 5; expected an array of objects with model'],
  [
    'fit',
    [{ together: [{ modl: 'x' }, 5], ...ON, program: 'vllm' }],
    'together[0] has no option "modl". Did you mean model?',
  ],
  ['watch', [{ interval: 5 }], 'watch() has no option "interval". Did you mean intervalMs?'],
  ['watch', [{ intervalMs: 5 }], 'intervalMs is 5; expected 10 to 3600000 milliseconds'],
  ['record', [{ interval: 5 }], 'record() has no option "interval". Did you mean intervalMs?'],
  ['record', [{ maxSizeBytes: 5 }], 'maxSizeBytes is 5; expected 2097152 to 1099511627776 whole bytes'],
  ['guard', [{ comand: ['true'] }], 'guard() has no option "comand". Did you mean command?'],
  ['guard', [{}], 'guard() takes either command or target, and was given neither'],
  ['guard', [{ command: [] }], 'command is empty; expected a program and its arguments'],
  ['guard', [{ command: 'true' }], 'command is "true"; expected an array: a program and its arguments'],
  ['guard', [{ command: ['true', 5] }], 'command[1] is 5; expected a text'],
  ['guard', [{ command: ['true'], ready: '' }], 'length of ready is 0; expected 1 to 1000 characters'],
  ['guard', [{ command: ['true'], floorBytes: '8GB' }], 'floorBytes is "8GB"; expected a number of bytes'],
  [
    'guard',
    [{ command: ['true'], floorBytes: 2 ** 30 }],
    'floorBytes is 1.00 GiB (1.07 GB); expected at least 2 GiB, because a host without memory freezes; acceptAFrozenMachine takes less',
  ],
  [
    'launch',
    [{ command: ['true'], floorBytes: 2 ** 30 }],
    'floorBytes is 1.00 GiB (1.07 GB); expected at least 2 GiB, because a host without memory freezes; acceptAFrozenMachine takes less',
  ],
  [
    'profile',
    [{ command: ['true', '{a}'], vary: [{ name: 'a', values: [1] }], floorBytes: 2 ** 30 }],
    'floorBytes is 1.00 GiB (1.07 GB); expected at least 2 GiB, because a host without memory freezes; acceptAFrozenMachine takes less',
  ],
  ['guard', [{ command: ['true'], acceptAFrozenMachine: 1 }], 'acceptAFrozenMachine is 1; expected true or false'],
  ['guard', [{ command: ['true'], loadActions: ['dorp'] }], 'loadActions[0] is "dorp"; expected one of drop, compact'],
  ['guard', [{ target: { process: 5 } }], 'target has no option "process". It takes pid, cgroup, unit, system.'],
  ['guard', [{ target: { pid: 0 } }], 'pid is 0; expected a whole number from 1 to 4194304'],
  ['guard', [{ target: { unit: '../x' } }], 'unit is "../x"; expected a name, such as "vllm.service"'],
  ['guard', [{ target: { system: { maystop: [] } } }], 'policy has no option "maystop". Did you mean mayStop?'],
  [
    'guard',
    [{ target: { system: { mayStop: ['a b'] } } }],
    'mayStop[0] is "a b"; expected a name, such as "vllm*.service"',
  ],
  ['guard', [{ target: { system: { order: 'rss' } } }], 'order is "rss"; expected one of gpu, memory, listed'],
  ['guard', [{ target: { pid: 1, unit: 'x' } }], 'target takes exactly one of pid, cgroup, unit and system'],
  ['readRecord', [{ last: 5 }], 'readRecord() has no option "last". Did you mean lastMs?'],
  ['mark', [''], 'length of text is 0; expected 1 to 4096 characters'],
  ['mark', ['x', { folder: 5 }], 'folder is 5; expected a path'],
  ['mark', ['x', '/folder'], 'mark() takes an object with folder, signal; it was given "/folder"'],
  ['processes', [{ pssLimit: 5 }], 'processes() has no option "pssLimit". Did you mean pssLimitMs?'],
  ['processes', [{ top: 5 }], 'processes() has no option "top". It takes pssLimitMs, deadlineMs, signal.'],
  ['fit', [{ bytes: 5, ...ON, llama: {} }], 'llama has options of --fit: name the program llama.cpp, too'],
  [
    'fit',
    [{ bytes: 5, ...ON, program: 'llama.cpp', llama: { fitt: 1 } }],
    'llama has no option "fitt". Did you mean fit?',
  ],
  [
    'fit',
    [{ bytes: 5, ...ON, program: 'llama.cpp', llama: { fit: 'off' } }],
    'llama.fit is "off"; expected true or false',
  ],
  [
    'fit',
    [{ bytes: 5, ...ON, program: 'llama.cpp', llama: { leastContext: 0 } }],
    'llama.leastContext is 0; expected a whole number from 1',
  ],
  ['fit', [{ byte: 5, ...ON }], 'fit() has no option "byte". Did you mean bytes?'],
  ['fit', [5e9], 'fit() takes an object with bytes, estimate, solve, acceptTight, model, use, snapshot, program, '],
  ['fit', [{ bytes: '5GB', ...ON }], 'bytes is "5GB"; expected a number'],
  ['fit', [{ bytes: 0, ...ON }], 'bytes is 0; expected 1 to 2^53 − 1'],
  ['fit', [{ bytes: 5, model: 'x', ...ON }], 'fit() takes exactly one of bytes, model and estimate'],
  ['fit', [ON], 'fit() takes exactly one of bytes, model and estimate'],
  ['fit', [{ estimate: 5e9, ...ON }], 'estimate is 5000000000; expected what estimate() returned'],
  [
    'fit',
    [{ bytes: 5, use: { context: 1 }, ...ON }],
    'use needs a model: an estimate and a number of bytes do not change with it',
  ],
  ['fit', [{ model: 'x', use: 5, ...ON }], 'use is 5; expected options of estimate()'],
  [
    'fit',
    [{ model: { params: 7e9 }, use: { contexts: 5 }, ...ON }],
    'estimate() has no option "contexts". Did you mean context?',
  ],
  ['fit', [{ model: undefined, ...ON }], 'model is undefined; expected a path, a name or a description'],
  ['fit', [{ bytes: 5, ...ON, solve: 'context' }], 'solve needs a model'],
  ['fit', [{ model: 'x', ...ON, solve: 'tokens' }], 'solve is "tokens"; expected one of context, slots, batch'],
  ['fit', [{ table: true, modle: 'x', ...ON }], 'fit() of a table has no option "modle". Did you mean model?'],
  ['fit', [{ table: true, snapshot: {} }], 'snapshot is an object; expected what snapshot() returned'],
  ['fit', [{ table: true, ...ON, solve: 'context' }], 'fit() of a table has no option "solve".'],
  ['fit', [{ bytes: 1, snapshot: {} }], 'snapshot is an object; expected what snapshot() returned'],
  ['fit', [{ bytes: 1, ...ON, programs: 'vllm' }], 'fit() has no option "programs". Did you mean program?'],
  ['fit', [{ bytes: 1, ...ON, program: 'tgi' }], 'program is "tgi"; expected one of vllm, sglang, '],
  ['fit', [{ bytes: 1, ...ON, program: 'vllm', utilization: 92 }], 'utilization is 92; expected above 0 and up to 1'],
  [
    'fit',
    [{ bytes: 1, ...ON, utilization: 0.9 }],
    'utilization is 0.9; expected an option of the programs vllm, sglang, trtllm only',
  ],
  [
    'fit',
    [{ estimate: { total: { bytes: 1, low: 2, high: 3 }, terms: [] }, ...ON }],
    'total is "2, 1, 3"; expected low ≤ bytes ≤ high',
  ],
  ['launch', [{ command: ['x'], dry: true }], 'launch() has no option "dry". Did you mean dryRun?'],
  [
    'launch',
    [{ command: 'vllm serve m' }],
    'command is "vllm serve m"; expected an array: a program and its arguments',
  ],
  ['launch', [{ command: [] }], 'command is empty; expected a program and its arguments'],
  ['launch', [{ command: ['x', 5] }], 'command[1] is 5; expected a text'],
  ['launch', [{ command: ['x'], program: 'tgi' }], 'program is "tgi"; expected one of vllm, sglang, '],
  ['launch', [{ command: ['x'], bytes: 1, model: 'm' }], 'model and bytes both say what is loaded: give one of them'],
  ['launch', [{ command: ['x'], bytes: 1, use: { context: 1 } }], 'use says how a model is used, and bytes is a size'],
  ['launch', [{ command: ['x'], bytes: 0 }], 'bytes is 0; expected 1 to 2^53 − 1 whole bytes'],
  ['launch', [{ command: ['x'], utilization: 90 }], 'utilization is 90; expected above 0 and up to 1'],
  ['launch', [{ command: ['x'], folder: '' }], 'folder is ""; expected a path'],
  ['launch', [{ command: ['x'], anyway: 'yes' }], 'anyway is "yes"; expected true or false'],
  ['memGetInfo', [0, { timeout: 5 }], 'memGetInfo() has no option "timeout". It takes deadlineMs, signal.'],
  ['memGetInfo', [0, { deadlineMs: '5s' }], 'deadlineMs is "5s"; expected a number of milliseconds'],
  ['cacheStatus', [undefined, { limit: 5 }], 'cacheStatus() has no option "limit". It takes top, signal, onEvent.'],
  ['evictFiles', [['/x'], { synch: true }], 'evictFiles() has no option "synch". Did you mean sync?'],
  ['dropCaches', [{ levels: 1 }], 'dropCaches() has no option "levels". Did you mean level?'],
  ['dropCaches', [{ level: '3' }], 'level is "3"; expected 1, 2 or 3'],
  [
    'dropCaches',
    [3],
    'dropCaches() takes an object with level, sync, syncLimitMs, sudo, force, dryRun, signal; it was given 3',
  ],
  ['compact', [{ force: true }], 'compact() has no option "force". It takes always, gate, sudo, signal.'],
  ['compact', [{ gate: { available: 1 } }], 'gate has no option "available". Did you mean availableBytes?'],
  ['reclaim', [{ bytes: 1, group: '/x' }], 'reclaim() has no option "group". Did you mean cgroup?'],
  ['reclaim', [], 'reclaim() takes an object with bytes, cgroup, signal; it was given undefined'],
  ['reclaim', [{ bytes: '8GB' }], 'bytes is "8GB"; expected a number of bytes'],
  [
    'prepare',
    [60e9],
    'prepare() takes an object with bytes, paths, floorBytes, dryRun, sudo, signal; it was given 60000000000',
  ],
  ['prepare', [{ bytes: 1, dryrun: true }], 'prepare() has no option "dryrun". Did you mean dryRun?'],
  [
    'prepare',
    [{ size: 1 }],
    'prepare() has no option "size". It takes bytes, paths, floorBytes, dryRun, sudo, signal.',
  ],
  ['explainError', ['x', { machine: null }], 'explainError() has no option "machine". It takes snapshot, signal.'],
  ['explain', [{ snapshots: null }], 'explain() has no option "snapshots". Did you mean snapshot?'],
  ['explain', [{ snapshot: {} }], 'snapshot is an object; expected a snapshot'],
  ['explain', [{ processes: [] }], 'processes is an array; expected the report of processes(), or null'],
  ['explainError', [5], 'text is 5; expected a string, bytes, or an iterable of them'],
  ['sweep', [{ kind: 'device' }], 'sweep() has no option "kind". Did you mean kinds?'],
  ['sweep', [{ kinds: ['gpu'] }], 'kinds is "gpu"; expected one of device, managed, pinned, system'],
  ['sweep', [{ size: [1] }], 'sweep() has no option "size". Did you mean sizes?'],
  ['sweep', [{ sizes: ['1GB'] }], 'sizes[0] is "1GB"; expected a number of bytes'],
  ['sweep', [{ range: { start: 1, to: 2 } }], 'range has no option "start". It takes from, to, step.'],
  ['sweep', [{ range: { from: 1, too: 2 } }], 'range has no option "too". Did you mean to?'],
  ['sweep', [{ tensors: { dtype: ['int8'], elements: 1 } }], 'tensors has no option "dtype". Did you mean dtypes?'],
  ['layout', ['13b', { kinds: ['device'] }], 'layout() has no option "kinds". Did you mean kind?'],
  ['layout', [{ weights: '26GB' }], 'part "weights" is "26GB"; expected a number of bytes'],
  ['profile', [{ varied: [] }], 'profile() has no option "varied". It takes command, vary, bisect,'],
  ['profile', [{ command: ['x'] }], 'profile() takes either vary or bisect, and was given neither'],
  ['profile', [{ command: 'x {n}', vary: [{ name: 'n', values: [1] }] }], 'command is "x {n}"; expected an array'],
  [
    'profile',
    [{ command: ['x', '{n}'], vary: [{ name: 'n', value: [1] }] }],
    'vary[0] has no option "value". Did you mean values?',
  ],
  [
    'profile',
    [{ command: ['x', '{n}'], vary: [{ name: 'n', values: ['1'] }] }],
    'values of n is "1"; expected numbers',
  ],
  ['profile', [{ command: ['x', '{n}'], vary: [{ name: 'n', values: [] }] }], 'values of n are empty'],
  ['profile', [{ command: ['x', '{n}'], bisect: { name: 'n', from: 1, till: 2 } }], 'bisect has no option "till".'],
  [
    'profile',
    [{ command: ['x', '{n}'], bisect: { name: 'n', from: 0.5, to: 2 } }],
    'bisect.from is 0.5; expected a whole number',
  ],
  [
    'profile',
    [{ command: ['x', '{n}'], vary: [{ name: 'n', values: [1] }], ready: '(' }],
    'ready "(" is no regular expression',
  ],
  ['stress', [{ max: 2e9 }], 'stress() has no option "max". Did you mean maxBytes?'],
  ['stress', [{ maxByte: 2e9 }], 'stress() has no option "maxByte". Did you mean maxBytes?'],
  ['stress', [{ chunk: 2e9 }], 'stress() has no option "chunk". Did you mean chunkBytes?'],
  ['stress', [{ maxBytes: '2GB' }], 'maxBytes is "2GB"; expected a number of bytes'],
  ['stress', [{ floor: 5e9 }], 'stress() has no option "floor". Did you mean floorBytes?'],
  ['stress', [{ timeout: 5 }], 'stress() has no option "timeout". Did you mean timeoutMs?'],
  ['estimate', ['x', { sequence: 2 }], 'estimate() has no option "sequence". Did you mean sequences?'],
  ['estimate', ['x', { context: '8k' }], 'context is "8k"; expected a whole number'],
  ['estimate', ['x', { kvDtype: 'q9' }], 'kvDtype is "q9"; expected one of f32'],
  ['openModel', ['x', { signals: 5 }], 'openModel() has no option "signals". Did you mean signal?'],
  ['openModel', ['x', { signal: 5 }], 'signal is 5; expected an AbortSignal'],
  ['estimate', [{ parameters: 7e9 }], 'model has no option "parameters"'],
  ['estimate', [{ params: 7e9, dtype: 'int3' }], 'dtype is "int3"; expected one of'],
  ['estimate', [7], 'model is 7; expected a path, a name or a description'],
  ['toMetrics', [ON.snapshot, { form: 'text' }], 'toMetrics() has no option "form". Did you mean format?'],
  ['toMetrics', [ON.snapshot, { format: 'json' }], 'format is "json"; expected one of text, openmetrics'],
  ['serve', [{ port: 5 }], 'serve() has no option "port".'],
  ['serve', [{ listen: 16121 }], 'listen is 16121; expected a text with an address and a port'],
  ['serve', [{ listen: '0.0.0.0:1' }], 'listen "0.0.0.0" is reached from other machines: it needs a token (tokenFile)'],
  ['serve', [{ hosts: [] }], 'length of hosts is 0; expected 1 to 16'],
  ['serve', [{ intervalMs: 5 }], 'intervalMs is 5; expected 1000 to 3600000 milliseconds'],
  ['simulate', ['gb10', { speed: 2 }], 'simulate() has no option "speed". It takes scale.'],
  ['stress', [null], 'stress() takes an object with kind, single, '],
  ['stress', [{ __proto__: null, constructor: 1 }], 'stress() has no option "constructor".'],
];

describe('a wrong option', () => {
  it.each(REFUSED)('of %s(): %j', async (name, args, message) => {
    const error = await call(name, ...args).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toContain(message);
    expect((error as { code: string }).code).toMatch(/^ERR_(INVALID_ARG_(TYPE|VALUE)|OUT_OF_RANGE)$/);
  });

  it('is tried of every function with options', () => {
    const tried = new Set(REFUSED.map(([name]) => name));
    const withoutOptions = [
      ...['activate', 'compare', 'estimateTable', 'hostMemorySync', 'loadMachine', 'machines', 'memGetInfoSync'],
      ...['toCsv', 'toHtml', 'UmaError'],
    ];
    expect([...functions.keys()].filter((name) => !tried.has(name) && !withoutOptions.includes(name))).toEqual([]);
  });
});

describe('an aborted signal', () => {
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);

  const sweep = { schema: 'umaprobe/sweep/1', steps: [], device: {}, largest: {}, host: {} };
  const command = ['true'];
  const aborted: readonly (readonly [string, ...unknown[]])[] = [
    ['cacheStatus', undefined, { signal }],
    ['cluster', { answers: [], signal }],
    ['clusterCheck', { answers: [], bytes: 1, signal }],
    ['compact', { signal }],
    ['compare', sweep, sweep, { signal }],
    ['doctor', { signal }],
    ['dropCaches', { signal }],
    ['estimate', { params: 7e9 }, { signal }],
    ['estimateTable', undefined, { signal }],
    ['evictFiles', ['/models'], { signal }],
    ['explain', { signal }],
    ['explainError', 'out of memory', { signal }],
    ['fit', { bytes: 1, ...ON, signal }],
    ['fit', { table: true, ...ON, signal }],
    ['fit', { largest: true, ...ON, signal }],
    ['fit', { together: [{ model: { params: 7e9 } }], program: 'vllm', ...ON, signal }],
    ['guard', { command, signal }],
    ['launch', { command, signal }],
    ['layout', { a: 1e6 }, { signal }],
    ['mark', 'epoch 3', { signal }],
    ['memGetInfo', 0, { signal }],
    ['memory', { signal }],
    ['openModel', { params: 7e9 }, { signal }],
    ['prepare', { bytes: 1, signal }],
    ['processes', { signal }],
    ['profile', { command: ['true', '{n}'], vary: [{ name: 'n', values: [1] }], signal }],
    ['readRecord', { signal }],
    ['reclaim', { bytes: 1, signal }],
    ['record', { signal }],
    ['serve', { signal }],
    ['snapshot', { signal }],
    ['stress', { signal }],
    ['sweep', { signal }],
    ['toCsv', sweep, { signal }],
    ['toHtml', sweep, { signal }],
    ['toMetrics', ON.snapshot, { signal }],
  ];

  it.each(aborted.map(([name, ...args]) => [name, args] as const))(
    'ends %s() before it begins, with its reason',
    async (name, args) => {
      await expect(call(name, ...args)).rejects.toBe(reason);
    },
  );

  it('is tried of every function that returns a promise', () => {
    const tried = new Set(aborted.map(([name]) => name));
    const others = [
      ...['activate', 'hostMemorySync', 'loadMachine', 'machines', 'memGetInfoSync', 'memorySync', 'simulate'],
      ...['UmaError', 'watch'],
    ];
    expect([...functions.keys()].filter((name) => !tried.has(name)).sort()).toEqual(others.sort());
  });

  const answers: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
  it.each([
    ['cluster', { answers }],
    ['clusterCheck', { answers, bytes: 1 }],
    ['compare', sweep, sweep, {}],
    ['estimateTable', undefined, {}],
    ['explainError', answers, { snapshot: null }],
    ['fit', { bytes: 1, ...ON }],
    ['toCsv', sweep, {}],
    ['toHtml', sweep, {}],
    ['toMetrics', ON.snapshot, {}],
  ] as const)('ends %s() while it works', async (name, ...args) => {
    const abort = new AbortController();
    const [options, ...others] = args.toReversed() as [object, ...unknown[]];
    const ended = call(name, ...others.toReversed(), { ...options, signal: abort.signal });
    abort.abort(reason);
    await expect(ended).rejects.toBe(reason);
  });

  it('ends watch() without an error', async () => {
    await expect(LIBRARY.watch({ signal }).next()).resolves.toEqual({ done: true, value: undefined });
  });

  it('does not wait for what hangs, and leaves no listener', async () => {
    const abort = new AbortController();
    const hung = abortable(abort.signal, () => new Promise(() => undefined));
    abort.abort(reason);
    await expect(hung).rejects.toBe(reason);
    await expect(abortable(new AbortController().signal, async () => 5)).resolves.toBe(5);
  });
});
