/** One word, one meaning: in the options of all commands, and between them and the options of the library. */
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../lib/cli/commands/index.ts';
import type { OptionSpec } from '../../../lib/cli/core/command.ts';
import { doctor } from '../../../lib/core/doctor/index.ts';
import { LIBRARY as umaprobe } from '../../support/doors.ts';

const { all } = await loadCommands();
const names = [...new Set(all.flatMap(({ options }) => Object.keys(options)))].sort();

/** What a name asks for, wherever it stands: those that commands describe in sentences of their own. */
const MEANINGS: Readonly<Record<string, string>> = {
  bytes: 'a size to load',
  cgroup: 'a cgroup',
  csv: 'a file: the rows of the report',
  deadline: 'a time limit for what may never answer',
  device: 'the CUDA number of a GPU',
  'dry-run': 'umaprobe itself does nothing, and says what it would do',
  dtype: 'a type of elements',
  floor: 'memory that stays for the host',
  folder: 'where the recording is',
  for: 'the program that loads the model',
  full: 'every counter',
  hold: 'how long the last size is kept',
  hosts: 'other machines, as ssh takes them',
  html: 'a file: the report as a page',
  'i-accept-a-frozen-machine': 'a floor below the least one',
  interval: 'the time between two readings',
  journal: 'a file: what survives the power button',
  kind: 'a kind of memory; sweep takes several',
  level: 'what is dropped; the rule takes several',
  memgetinfo: 'how cudaMemGetInfo is read',
  model: 'what is loaded',
  preset: 'a prepared list, by its name',
  quiet: 'only what must be said',
  ready: 'a line of output that says that the program is ready',
  resume: 'go on below what an earlier run was lost at',
  table: 'a table by precision',
  timeout: 'the time limit of the whole command',
  to: 'the last size',
  top: 'how many rows are listed',
  utilization: 'the share of memory that a program is started with',
  watch: 'again at every interval',
};

function specsOf(name: string): OptionSpec[] {
  return all.map(({ options }) => options[name]).filter((spec) => spec !== undefined);
}

describe('an option', () => {
  it.each(names)('--%s takes the same in every command', (name) => {
    const taken = specsOf(name).map(({ placeholder, short, type }) => JSON.stringify({ type, placeholder, short }));
    expect([...new Set(taken)]).toHaveLength(1);
  });

  it('that two commands describe differently has its one meaning in this test', () => {
    const described = names.filter((name) => new Set(specsOf(name).map(({ summary }) => summary)).size > 1);
    expect(described).toEqual(Object.keys(MEANINGS).sort());
  });
});

type Call = (options: never) => unknown;

/** The functions whose options a command gives. */
const FUNCTIONS: Readonly<Record<string, readonly Call[]>> = {
  snapshot: [umaprobe.snapshot],
  watch: [(options) => umaprobe.watch(options).next()],
  doctor: [doctor],
  processes: [umaprobe.processes],
  fit: [
    (options) =>
      umaprobe.fit({ bytes: 1, snapshot: { schema: 'umaprobe/snapshot/1' }, ...(options as object) } as never),
    (options) => umaprobe.estimate('model', options),
  ],
  estimate: [(options) => umaprobe.estimate('model', options)],
  sweep: [umaprobe.sweep],
  layout: [(options) => umaprobe.layout('13b', options)],
  stress: [umaprobe.stress],
  profile: [umaprobe.profile],
  'cache status': [(options) => umaprobe.cacheStatus(undefined, options)],
  'cache evict': [(options) => umaprobe.evictFiles(['/x'], options)],
  'cache drop': [umaprobe.dropCaches],
  'cache compact': [umaprobe.compact],
  'cache reclaim': [umaprobe.reclaim],
  prepare: [umaprobe.prepare],
  launch: [umaprobe.launch],
  guard: [umaprobe.guard],
  record: [umaprobe.record],
  'record show': [umaprobe.readRecord],
  cluster: [umaprobe.cluster],
  'cluster check': [(options) => umaprobe.clusterCheck({ bytes: 1, ...(options as object) })],
};

/** Options of the library that have another name on the command line, and why. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  program: 'for', // a sentence: fit model --for vllm
  acceptAFrozenMachine: 'i-accept-a-frozen-machine', // said by a person
  acceptThatOthersRunOut: 'i-accept-that-others-run-out',
  memGetInfo: 'memgetinfo', // one word, as in cudaMemGetInfo
  flashAttention: 'no-flash-attn', // as in llama.cpp
};

/** Options of the library that no option of the command gives: of the process, groups of options, arguments. */
const LIBRARY_ONLY: Readonly<Record<string, readonly string[]>> = {
  snapshot: ['hiddenDevices', 'childDeadlineMs'],
  watch: ['hiddenDevices', 'childDeadlineMs'],
  fit: ['estimate', 'model', 'snapshot', 'llama'],
  sweep: ['range', 'tensors'],
  // --limit names it.
  profile: ['command', 'cwd', 'limitPool'],
  'cache compact': ['gate'],
  'cache reclaim': ['bytes'],
  cluster: ['answers', 'onCopy'],
  // --need names the bytes.
  'cluster check': ['answers', 'onCopy', 'bytes', 'estimate', 'llama'],
  guard: ['command', 'target', 'cwd', 'env', 'stdio', 'forwardSignals'],
  launch: [
    ...['cwd', 'env', 'stdio', 'killBelowBytes', 'intervalMs', 'loadActions', 'forwardSignals'],
    ...['command', 'use'],
  ],
};

/** The library's options, from the error for an unknown one. */
async function keysOf(call: Call): Promise<string[]> {
  const error = await Promise.resolve({ '?': 1 } as never)
    .then(call)
    .catch((reason: unknown) => reason);
  return (/ It takes (.*)\.$/.exec((error as Error).message)?.[1] ?? '').split(', ');
}

/** "floorBytes" → "floor", "mmap" → "no-mmap", "kinds" → "kind". */
function typed(key: string): string[] {
  const name = key.replace(/(Bytes|Ms)$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [OTHER_NAMES[key] ?? name, `no-${name}`, name.replace(/s$/, '')];
}

it.each(Object.entries(FUNCTIONS))(
  'the library names the options of %s as they are typed',
  async (command, functions) => {
    const options = all.find(({ name }) => name === command)?.options ?? {};
    const keys = (await Promise.all(functions.map(keysOf))).flat();
    expect(keys.length).toBeGreaterThan(1);
    const untyped = keys.filter((key) => !typed(key).some((name) => Object.hasOwn(options, name)));
    // What a program needs and a shell has otherwise: Ctrl-C, and lines on stderr.
    expect(untyped.filter((key) => key !== 'signal' && key !== 'onEvent')).toEqual(LIBRARY_ONLY[command] ?? []);
  },
);
