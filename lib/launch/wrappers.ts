/** What a command line starts its program with: env, nice, uv run, python -m, docker run. Pure. */

import { containerOf } from './container.ts';
import { afterOptions, baseName, environmentFiles, failed, type LeadingOptions, type Unwrapped } from './unwrapped.ts';

/** Options of a wrapper. Its command begins behind them. */
interface Wrapper extends LeadingOptions {
  /** Arguments before the command: the duration of timeout. */
  arguments?: number;
  /** Takes NAME=value before the command. */
  assignments?: true;
  limit?: string;
}

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

/** More than anybody nests; ends a command line that was made to be endless. */
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
