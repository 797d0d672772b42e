/** Commands that start the program of a command line: env, nice, uv run, python -m, docker run. Pure. */

import { containerOf } from './container.ts';
import { namesOfNodelist } from './nodelist.ts';
import { afterOptions, baseName, environmentFiles, failed, type LeadingOptions, type Unwrapped } from './unwrapped.ts';

/** Options of a wrapper. Its command begins behind them. */
interface Wrapper extends LeadingOptions {
  /** Arguments before the command: the duration of timeout. */
  arguments?: number;
  /** Takes NAME=value before the command. */
  assignments?: true;
  limit?: string;
}

/** Starts the same command several times. */
interface Starter extends LeadingOptions {
  /** Options with the number of all ranks, of those on each machine, and of machines. */
  ranks?: string;
  perNode: string;
  nodes: string;
  /** Options with names of machines, how they are read, and options with a file of them. */
  hosts?: string;
  namesOf: (list: string) => string[];
  /** Unknowns if no machine is named, as sentences. */
  limits: readonly string[];
  hostfile?: string;
}

const MPI: Starter = {
  valued:
    '-n -np -c --n --np -H -host --host --hostfile -hostfile --machinefile -machinefile -x -wdir --wdir -N -npernode --npernode ' +
    '--map-by -map-by --bind-to -bind-to --rank-by --prefix --tune -ppn',
  plain: '--allow-run-as-root -allow-run-as-root --oversubscribe -oversubscribe --tag-output --display-map -v -q',
  pairs: '--mca -mca --gmca -gmca',
  ranks: '-n -np -c --n --np',
  perNode: '-N -npernode --npernode -ppn',
  nodes: '',
  hosts: '-H -host --host',
  namesOf: namesOfList,
  limits: [],
  hostfile: '--hostfile -hostfile --machinefile -machinefile',
};

const UV =
  '--with --with-editable --with-requirements --python -p --project --directory --extra --group --package --env-file --index ' +
  '--index-url --extra-index-url';
const UV_PLAIN = '--no-sync --frozen --locked --active --isolated --offline --all-extras -q';

const CONDA: Wrapper = { valued: '-n --name -p --prefix --cwd', plain: '--no-capture-output --live-stream -v' };

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    valued: '-u --unset -C --chdir',
    plain: '-i --ignore-environment - -0 --null -v --debug',
    assignments: true,
  },
  nice: { valued: '-n --adjustment' },
  ionice: { valued: '-c --class -n --classdata', plain: '-t --ignore' },
  nohup: {},
  setsid: { plain: '-w --wait -f --fork -c --ctty' },
  stdbuf: { valued: '-i --input -o --output -e --error' },
  time: { valued: '-f --format -o --output', plain: '-v --verbose -p --portability -a' },
  timeout: {
    valued: '-k --kill-after -s --signal',
    plain: '--foreground --preserve-status -v --verbose',
    arguments: 1,
  },
  taskset: { plain: '-c --cpu-list -a --all-tasks', arguments: 1 },
  chrt: { plain: '-f --fifo -r --rr -b --batch -i --idle -o --other', arguments: 1 },
  numactl: {
    valued: '-N --cpunodebind -m --membind -C --physcpubind -i --interleave -p --preferred',
    plain: '-l --localalloc -a --all',
  },
  unbuffer: {},
  'systemd-inhibit': { valued: '--what --who --why --mode' },
  'systemd-run': {
    valued: '-u --unit -p --property --slice --uid --gid --nice -E --setenv --description',
    plain: '--user --system --scope -t --pty -P --pipe --wait -G --collect -q --quiet',
    limit: 'Without --scope the program is a child of systemd and not of this command: guard --unit stops it.',
  },
  sudo: {
    valued: '-u --user -g --group -D --chdir -C --close-from -p --prompt',
    plain: '-E --preserve-env -n --non-interactive -H --set-home -b --background',
    assignments: true,
    limit: 'Only root can stop what sudo starts.',
  },
  uv: { valued: UV, plain: UV_PLAIN },
  uvx: { valued: `--from ${UV}`, plain: UV_PLAIN },
  poetry: { valued: '-C --directory -P --project', plain: '-q --quiet -n' },
  pipenv: {},
  pixi: { valued: '-e --environment --manifest-path', plain: '--frozen --locked' },
  hatch: { valued: '-e --env -p --project' },
  conda: CONDA,
  mamba: CONDA,
  micromamba: CONDA,
};

/** Starters of ranks, on several machines or one. */
const STARTERS: Readonly<Record<string, Starter>> = {
  mpirun: MPI,
  mpiexec: MPI,
  srun: {
    valued:
      '-N --nodes -n --ntasks -c --cpus-per-task --ntasks-per-node -w --nodelist -p --partition -t --time --mem --gres --gpus ' +
      '--gpus-per-node --gpus-per-task -J --job-name -o --output -e --error --container-image --container-mounts ' +
      '--container-name --container-workdir --container-env --mpi --export -A --account --qos -D --chdir --cpu-bind',
    plain: '-l --label -u --unbuffered --exclusive --overlap --pty --no-container-mount-home -K --kill-on-bad-exit',
    ranks: '-n --ntasks',
    perNode: '--ntasks-per-node',
    nodes: '-N --nodes',
    hosts: '-w --nodelist',
    namesOf: namesOfNodelist,
    limits: ['Which machines srun chooses is not known: only those of --hosts are asked.'],
  },
  torchrun: {
    valued:
      '--nnodes --nproc-per-node --nproc_per_node --node-rank --node_rank --master-addr --master_addr --master-port ' +
      '--master_port --rdzv-backend --rdzv_backend --rdzv-endpoint --rdzv_endpoint --rdzv-id --rdzv_id --max-restarts ' +
      '--max_restarts --log-dir --log_dir',
    plain: '--standalone --no-python --no_python',
    perNode: '--nproc-per-node --nproc_per_node',
    nodes: '--nnodes',
    namesOf: namesOfList,
    limits: [],
  },
};

/** Wrappers whose command stands behind the word "run", among options of theirs. */
const WITH_RUN = new Set(['uv', 'poetry', 'pipenv', 'pixi', 'hatch', 'conda', 'mamba', 'micromamba']);

const CONTAINERS = new Set(['docker', 'podman', 'nerdctl']);

/** Python's own options. */
const PYTHON: Wrapper = {
  valued: '-X -W --check-hash-based-pycs',
  plain: '-u -O -OO -B -s -S -E -I -q -v -d -b -P',
};

/** Modules of Python → the command that is the same. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  'vllm.entrypoints.openai.api_server': ['vllm', 'serve'],
  'vllm.entrypoints.cli.main': ['vllm'],
  vllm: ['vllm'],
  'sglang.launch_server': ['sglang', 'serve'],
  'sglang.cli.main': ['sglang'],
  sglang: ['sglang'],
};

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'fish', 'ksh']);

/** Nobody nests more; the limit ends a command line that was made to be endless. */
const MOST_WRAPPERS = 16;

export function unwrap(command: readonly string[], env: Unwrapped['env']): Unwrapped {
  let state: Unwrapped = {
    wrappers: [],
    words: command,
    env,
    stores: {},
    hostPath: (path) => path,
    problem: null,
    limits: [],
    doubts: [],
    assumed: [],
    hosts: [],
    hostfile: null,
  };
  for (let count = 0; count < MOST_WRAPPERS; count++) {
    const next = state.problem === null ? unwrapOnce(state) : null;
    if (next === null) return state;
    state = next;
  }
  return { ...state, problem: 'it is started by too many other programs' };
}

/** The command behind the first word; null: the first word is no wrapper. */
function unwrapOnce(state: Unwrapped): Unwrapped | null {
  const [file = '', ...rest] = state.words;
  const name = baseName(file);
  if (/^python(\d+(\.\d+)?)?$/.test(name)) return pythonCommand(state, name, rest);
  if (SHELLS.has(name)) return failed(state, `${name} starts what a text for a shell says`);
  if (CONTAINERS.has(name)) return containerOf(state, name, rest);
  const starter = Object.hasOwn(STARTERS, name) ? STARTERS[name] : undefined;
  if (starter !== undefined) return ranksOf(state, name, starter, rest);
  if (name === 'ray') return rayCommand(state, rest);
  if (name === 'trtllm-llmapi-launch') return { ...state, wrappers: [...state.wrappers, name], words: rest };
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper === undefined) return null;
  if (!WITH_RUN.has(name)) return behindOptions(state, name, wrapper, rest);
  const [head, ...words] = afterOptions(rest, wrapper).rest;
  if (head !== 'run') return failed(state, `${name} ${head ?? ''} starts no server`.replace('  ', ' '));
  return behindOptions(state, `${name} run`, wrapper, words);
}

function behindOptions(state: Unwrapped, name: string, wrapper: Wrapper, words: readonly string[]): Unwrapped {
  const { rest, unknown } = afterOptions(words, wrapper);
  if (unknown !== null) return failed(state, `${name} has the option ${unknown}, which is not known`);
  let env = state.env;
  let index = 0;
  if (wrapper.assignments === true) {
    if (words.slice(0, words.length - rest.length).some((word) => ['-i', '-', '--ignore-environment'].includes(word)))
      env = {};
    for (let match = assignment(rest[index]); match !== null; match = assignment(rest[++index]))
      env = { ...env, [match.name]: match.value };
  }
  const inner = rest.slice(index + (wrapper.arguments ?? 0));
  if (inner.length === 0) return failed(state, `${name} is given no command`);
  const isDetached = name === 'systemd-run' && !words.slice(0, words.length - rest.length).includes('--scope');
  const limited = wrapper.limit !== undefined && (name !== 'systemd-run' || isDetached);
  return {
    ...state,
    wrappers: [...state.wrappers, name],
    // uvx vllm@0.20 serve
    words: name === 'uvx' ? [(inner[0] ?? '').replace(/@.*$/, ''), ...inner.slice(1)] : inner,
    env,
    limits: limited ? [...state.limits, wrapper.limit ?? ''] : state.limits,
    doubts: [...state.doubts, ...environmentFiles(name, words.slice(0, words.length - rest.length))],
  };
}

function assignment(word: string | undefined): { name: string; value: string } | null {
  const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(word ?? '');
  return match === null ? null : { name: match[1] ?? '', value: match[2] ?? '' };
}

function pythonCommand(state: Unwrapped, name: string, words: readonly string[]): Unwrapped {
  const module = words.findIndex((word) => word === '-m' || /^-[a-zA-Z]*m$/.test(word));
  const before = module < 0 ? words : words.slice(0, module);
  const { rest, unknown } = afterOptions(before, PYTHON);
  if (unknown !== null) return failed(state, `${name} has the option ${unknown}, which is not known`);
  const [script] = rest;
  // A script: the entry point of a package has no suffix.
  if (script !== undefined) {
    if (/\.py[cw]?$/.test(script)) return failed(state, `${name} runs ${script}, a program that is not known`);
    return { ...state, wrappers: [...state.wrappers, name], words: words.slice(before.length - rest.length) };
  }
  const target = module < 0 ? undefined : words[module + 1];
  if (target === undefined) return failed(state, `${name} is given no program`);
  const same = Object.hasOwn(MODULES, target) ? MODULES[target] : undefined;
  if (same === undefined) return failed(state, `${name} -m ${target} is not one of the known programs`);
  return { ...state, wrappers: [...state.wrappers, `${name} -m`], words: [...same, ...words.slice(module + 2)] };
}

/** One of the ranks that mpirun, srun or torchrun start. */
function ranksOf(state: Unwrapped, name: string, starter: Starter, words: readonly string[]): Unwrapped {
  const { rest, unknown } = afterOptions(words, starter);
  if (unknown !== null && unknown !== '-m' && unknown !== '--module')
    return failed(state, `${name} has the option ${unknown}, which is not known`);
  // torchrun runs a script, or a module.
  const inner = unknown === null ? rest : words.slice(words.indexOf(unknown));
  if (inner.length === 0) return failed(state, `${name} is given no command`);
  const options = words.slice(0, words.length - inner.length);
  const numberOf = (names: string | undefined): number | null => lastNumber(options, names);
  const nodes = numberOf(starter.nodes);
  const perNode = numberOf(starter.perNode) ?? (name === 'torchrun' ? 1 : null);
  const ranks = numberOf(starter.ranks) ?? (perNode === null ? nodes : perNode * (nodes ?? 1));
  const hosts = starter.namesOf(lastValue(options, starter.hosts) ?? '');
  const slots = Math.max(1, ...hosts.map((host) => Number(/:(\d{1,4})$/.exec(host)?.[1] ?? 1)));
  const isMore = perNode !== null && perNode > 1;
  const doubt = isMore
    ? `${name} starts ${perNode} ranks on each machine.`
    : slots > 1
      ? `${name} may start ${slots} ranks on one machine, which has as many slots.`
      : null;
  const several = ranks === null || ranks === 1 ? 'one rank' : `one of ${ranks} ranks`;
  return {
    ...state,
    wrappers: [...state.wrappers, name],
    words: name === 'torchrun' ? ['python', ...inner] : inner,
    assumed: [...state.assumed, `What is counted is ${several} that ${name} starts, alone on this machine.`],
    doubts: doubt === null ? state.doubts : [...state.doubts, doubt],
    hosts: hosts.map((host) => host.replace(/:\d+$/, '')),
    hostfile: lastValue(options, starter.hostfile),
    limits: [
      ...state.limits,
      `The guard watches this machine: ranks that ${name} starts on others are not guarded.`,
      ...(hosts.length === 0 && nodes !== 1 ? starter.limits : []),
    ],
  };
}

/** "a:1,b" of MPI. */
function namesOfList(list: string): string[] {
  return list.split(',').filter((host) => host !== '');
}

/** The number behind the last of some options; null: there is none. */
function lastNumber(options: readonly string[], names?: string): number | null {
  const value = lastValue(options, names);
  return value !== null && /^[1-9]\d{0,5}$/.test(value) ? Number(value) : null;
}

/** Value of the last of some options; null: there is none. */
function lastValue(options: readonly string[], names = ''): string | null {
  const wanted = names.split(' ').filter((name) => name !== '');
  const values = options.flatMap((word, index) => {
    const equals = word.indexOf('=');
    if (equals > 0 && wanted.includes(word.slice(0, equals))) return [word.slice(equals + 1)];
    const short = /^(-w|-[a-zA-Z](?=\d+$))(.+)$/.exec(word);
    if (short !== null && wanted.includes(short[1] ?? '')) return [short[2] ?? ''];
    return wanted.includes(options[index - 1] ?? '') ? [word] : [];
  });
  return values.at(-1) ?? null;
}

/** `ray symmetric-run … -- command` starts it on each machine, `ray job submit … -- command` on one of them. */
function rayCommand(state: Unwrapped, words: readonly string[]): Unwrapped {
  const dashes = words.indexOf('--');
  const [verb = '', second = ''] = words;
  const name =
    verb === 'job' && second === 'submit' ? 'ray job submit' : verb === 'symmetric-run' ? 'ray symmetric-run' : null;
  if (name === null) return failed(state, `ray ${verb} starts no server`.replace('  ', ' '));
  if (dashes < 0 || dashes === words.length - 1) return failed(state, `${name} is given no command behind --`);
  return {
    ...state,
    wrappers: [...state.wrappers, name],
    words: words.slice(dashes + 1),
    limits: [
      ...state.limits,
      `What ${name} starts is a child of Ray and not of this command: guard --system protects the machine.`,
    ],
  };
}
