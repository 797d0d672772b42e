/** docker run and its relatives: the command inside the container, its environment and its mounts. Pure. */

import { afterOptions, baseName, environmentFiles, failed, type Unwrapped } from './unwrapped.ts';

const PLAIN =
  '-d --detach -i --interactive -t --tty --rm --init --privileged --read-only -P --publish-all --no-healthcheck ' +
  '--oom-kill-disable -q --quiet';

const RUN = {
  plain: PLAIN,
  valued:
    '-e --env --env-file -v --volume --mount -p --publish --expose --gpus --device --ipc --network --net --name --shm-size --ulimit ' +
    '--runtime --restart --entrypoint -w --workdir -u --user -m --memory --memory-swap --memory-reservation --cpus --cpuset-cpus ' +
    '--cpuset-mems --cap-add --cap-drop --security-opt -h --hostname --add-host --dns -l --label --log-driver --log-opt --pid ' +
    '--platform --pull --stop-signal --stop-timeout --sysctl --tmpfs --group-add --userns --cgroup-parent --cgroupns ' +
    '--device-cgroup-rule --volumes-from --health-cmd --annotation --cidfile --ip --pids-limit --oom-score-adj --uts --isolation',
};
const EXEC = { plain: PLAIN, valued: '-e --env --env-file -u --user -w --workdir' };

export function containerOf(state: Unwrapped, engine: string, words: readonly string[]): Unwrapped {
  const [verb = '', ...after] = words[0] === 'container' ? words.slice(1) : words;
  if (verb !== 'run' && verb !== 'exec') return failed(state, `${engine} ${verb} does not say what it starts`.trim());
  const { rest, unknown } = afterOptions(after, verb === 'run' ? RUN : EXEC);
  if (unknown !== null) return failed(state, `${engine} ${verb} has the option ${unknown}, which is not known`);
  const [image, ...inner] = rest;
  if (image === undefined) return failed(state, `${engine} ${verb} names no image`);
  const options = after.slice(0, after.length - rest.length);
  const mounts = mountsOf(options);
  const next: Unwrapped = {
    ...state,
    wrappers: [...state.wrappers, `${engine} ${verb}`],
    env: environmentOf(options, state.env),
    stores: storesOf(mounts),
    hostPath: (path) => {
      const outer = outside(path, mounts);
      return outer === null ? null : state.hostPath(outer);
    },
    limits: [...state.limits, limitOf(engine, verb, options)],
    doubts: [...state.doubts, ...environmentFiles(`${engine} ${verb}`, options)],
  };
  if (verb === 'exec') return { ...next, words: inner, hostPath: (path) => (path.startsWith('/') ? null : path) };
  const entry = valuesOf(options, ['--entrypoint']).at(-1);
  const command = commandIn(image, inner, entry);
  return command === null ? failed(next, `what the image ${image} starts is not known`) : { ...next, words: command };
}

/** The command inside: images of servers have an entry point; null: it is not known. */
function commandIn(image: string, words: readonly string[], entry: string | undefined): readonly string[] | null {
  if (entry !== undefined) return entry === '' ? words : [entry, ...words];
  const [name = '', tag = ''] = baseName(image.replace(/@.*$/, '')).split(':');
  if (name === 'vllm-openai') return ['vllm', 'serve', ...words];
  if (name === 'ollama') return ['ollama', ...(words.length === 0 ? ['serve'] : words)];
  if (name === 'llama.cpp') {
    if (tag.startsWith('server')) return ['llama-server', ...words];
    if (tag.startsWith('light')) return ['llama-cli', ...words];
    if (words[0] === '--server' || words[0] === '-s') return ['llama-server', ...words.slice(1)];
    if (words[0] === '--run' || words[0] === '-r') return ['llama-cli', ...words.slice(1)];
    return null;
  }
  const [first] = words;
  return first === undefined || first.startsWith('-') ? null : words;
}

function limitOf(engine: string, verb: string, options: readonly string[]): string {
  const isDetached = options.some((word) => word === '--detach' || /^-[a-zA-Z]*d[a-zA-Z]*$/.test(word));
  if (isDetached) return `${engine} ${verb} -d comes back at once: what runs then is not guarded.`;
  return verb === 'exec'
    ? `What ${engine} exec starts is not a child of it: the guard stops ${engine}, and not the program.`
    : `${engine} passes SIGTERM on to the container. After SIGKILL the container runs on: ${engine} stop ends it.`;
}

/** Values of options that may be given more than once. */
function valuesOf(options: readonly string[], names: readonly string[]): string[] {
  return options.flatMap((word, index) => {
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    if (equals > 0 && names.includes(word.slice(0, equals))) return [word.slice(equals + 1)];
    const previous = options[index - 1];
    return previous !== undefined && names.includes(previous) ? [word] : [];
  });
}

/** -e NAME=value, and -e NAME for a variable that is passed on. The caller's other variables are not seen inside. */
function environmentOf(options: readonly string[], outer: Unwrapped['env']): Unwrapped['env'] {
  return Object.fromEntries(
    valuesOf(options, ['-e', '--env']).map((word) => {
      const equals = word.indexOf('=');
      return equals < 0 ? [word, outer[word]] : [word.slice(0, equals), word.slice(equals + 1)];
    }),
  );
}

interface Mount {
  source: string;
  target: string;
}

function mountsOf(options: readonly string[]): Mount[] {
  const volumes = valuesOf(options, ['-v', '--volume']).map((word) => {
    const [source = '', target = ''] = word.split(':');
    return { source, target };
  });
  const mounts = valuesOf(options, ['--mount']).map((word) => {
    const parts = new Map(
      word.split(',').map((part): [string, string] => [part.split('=', 1)[0] ?? '', part.slice(part.indexOf('=') + 1)]),
    );
    return {
      source: parts.get('source') ?? parts.get('src') ?? '',
      target: parts.get('target') ?? parts.get('destination') ?? parts.get('dst') ?? '',
    };
  });
  // A source without a slash is a volume of the engine.
  return [...volumes, ...mounts].filter(({ source, target }) => source.startsWith('/') && target.startsWith('/'));
}

/** The path on this machine; null: it is in the image. */
function outside(path: string, mounts: readonly Mount[]): string | null {
  if (!path.startsWith('/')) return path;
  const inside = ({ target }: Mount): boolean => path === target || path.startsWith(`${target.replace(/\/$/, '')}/`);
  const mount = mounts.filter(inside).sort((a, b) => b.target.length - a.target.length)[0];
  if (mount === undefined) return null;
  const rest = path.slice(mount.target.replace(/\/$/, '').length);
  return `${mount.source.replace(/\/$/, '')}${rest}`;
}

/** A mounted store of Hugging Face or Ollama: names of models are looked for there. */
function storesOf(mounts: readonly Mount[]): Record<string, string> {
  const stores: Record<string, string> = {};
  for (const { source, target } of mounts) {
    if (/\/\.cache\/huggingface\/?$/.test(target)) stores.HF_HOME = source;
    if (/\/\.cache\/huggingface\/hub\/?$/.test(target)) stores.HF_HUB_CACHE = source;
    if (/\/\.ollama\/?$/.test(target)) stores.OLLAMA_MODELS = `${source.replace(/\/$/, '')}/models`;
  }
  return stores;
}
