/** The machines and the way to ask them: the options of `cluster` and `cluster check`. */
import { closeSync } from 'node:fs';
import { formatBytes, formatDuration, MiB } from '../../base/format.ts';
import { openNamedFile, readNamedFile } from '../../base/named-path.ts';
import { checkHosts, hostsOfFile } from '../../run/cluster/hosts.ts';
import { CLUSTER, type ClusterOptions } from '../../run/cluster/options.ts';
import type { Arguments, Context } from '../core/command.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { isGiven, text } from '../core/options.ts';
import { openProgress } from '../core/progress.ts';
import { typedOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

/** Names of machines, from a file. */
const FILE = {
  hostfile: typedText((path) => path, {
    placeholder: '<file>',
    help: 'The same from a file, one in each line, as mpirun and sparkrun have it: "spark-1 slots=1"',
  }),
};

export const MACHINE_OPTIONS = { ...CLUSTER, ...FILE };

/** Only -: machines are named by an option. */
export const HOSTS_ARGUMENTS: Arguments = {
  min: 0,
  max: 1,
  afterDashes: false,
  bareWord: { option: 'hosts', pattern: /^[\w.@:/-]+$/, value: (words) => words.join(',') },
};

export function machinesOf({ positionals, rest, stdin, values }: Context, command: string): ClusterOptions {
  const words = [...positionals, ...rest];
  const [word] = words;
  const { hosts, ...options } = typedOptions(values, CLUSTER, command);
  const hostfile = text(values, 'hostfile');
  const name = words.find((each, at) => at > 0 || each !== '-');
  if (name !== undefined)
    throw new UsageError(`"${name}" is no option. Did you mean umaprobe ${command} --hosts ${words.join(',')}?`);
  const given = [word === '-' ? '-' : null, hosts && '--hosts', hostfile && '--hostfile'].filter(
    (source) => source != null,
  );
  if (given.length === 0)
    throw new UsageError('Which machines? Give --hosts spark-1,spark-2, --hostfile, or - for answers from a pipe.');
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} both say which machines: give one.`);
  if (word === '-') {
    const option = ['deadline', 'command', 'copy'].find((each) => isGiven(values, each));
    if (option === undefined) return { answers: fromPipe(stdin), ...options };
    throw new UsageError(`--${option} is for hosts that are asked; - reads what has been printed.`);
  }
  if (options.expect !== undefined) throw new UsageError('--expect needs -: of hosts each is expected.');
  if (options.command !== undefined && options.copy !== undefined)
    throw new UsageError('--command and --copy both say what is run there: give one.');
  if (options.copy !== undefined) closeSync(openNamedFile('--copy', options.copy));
  return { hosts: hosts ?? fromFile(hostfile ?? ''), ...options };
}

function fromPipe(stdin: NodeJS.ReadStream): NodeJS.ReadStream {
  if (!stdin.isTTY) return stdin;
  throw new UsageError('- reads answers from a pipe, and stdin is a terminal.');
}

function fromFile(path: string): readonly string[] {
  const hosts = hostsOfFile(readNamedFile('--hostfile', path, MiB));
  const what = `--hostfile "${path}"`;
  if (hosts.length === 0) throw new UsageError(`${what} names no machine; expected one in each line.`);
  const names = hosts.map(({ name }) => name);
  return checkHosts(names, what, (index) => `${what}, line ${hosts[index]?.line}`);
}

/** The answers of the machines, with a line on a terminal meanwhile; a signal ends every ssh, and is the exit code. */
export async function unlessInterrupted<T>(
  context: Context,
  options: ClusterOptions,
  ask: (options: ClusterOptions) => Promise<T>,
): Promise<T | number> {
  // A pipe is read until its end, which the default of a signal cuts short.
  if (options.hosts === undefined) return ask(options);
  const interrupt = onInterrupt();
  const from = performance.now();
  const asked = options.hosts.length === 1 ? `asking ${options.hosts[0]}` : `asking ${options.hosts.length} machines`;
  const label = { share: null, etaMs: null, label: asked };
  const progress = openProgress(context, label, () => formatDuration(performance.now() - from));
  try {
    return await ask({ ...options, signal: interrupt.signal, onCopy: (copy) => progress.print(copyText(copy)) });
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    return code;
  } finally {
    progress.close();
    interrupt.close();
  }
}

export function copyText({ bytes, file, host }: Parameters<NonNullable<ClusterOptions['onCopy']>>[0]): string {
  return `umaprobe: ${host} has not got ${file} yet: copying ${formatBytes(bytes)} to ~/.cache/umaprobe there`;
}
