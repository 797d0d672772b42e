/** The machines and the way to ask them: the options of `cluster` and `cluster check`. */
import { closeSync } from 'node:fs';
import { checkText } from '../../base/arguments.ts';
import { formatBytes, formatDuration, MiB } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { openNamedFile, readNamedFile } from '../../base/named-path.ts';
import { checkHosts, DEFAULT_DEADLINE_MS, hostsOfFile } from '../../run/cluster/hosts.ts';
import type { ClusterOptions } from '../../types/index.ts';
import type { Context, OptionTable, OptionValues } from '../core/command.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { count, duration, durationRange, isGiven, list, text } from '../core/options.ts';
import { openProgress } from '../core/progress.ts';
import { UsageError } from '../core/usage.ts';

export const MACHINE_OPTIONS = {
  hosts: {
    type: 'string',
    list: true,
    placeholder: '<host,host>',
    summary: 'Machines to ask by ssh, as ssh takes them: names of ~/.ssh/config, user@host, ssh://user@host:port',
  },
  hostfile: {
    type: 'string',
    placeholder: '<file>',
    summary: 'The same from a file, one in each line, as mpirun and sparkrun have it: "spark-1 slots=1"',
  },
  expect: {
    type: 'string',
    placeholder: '<n>',
    summary: 'With -: how many machines have to answer (default: as many as do)',
  },
  deadline: {
    type: 'string',
    placeholder: '<time>',
    summary: `Time limit of each host: ${durationRange(LIMITS.deadlineMs)} (default ${DEFAULT_DEADLINE_MS / 1000}s)`,
  },
  command: {
    type: 'string',
    placeholder: '<command>',
    summary: 'What the shell of each host runs there (default: umaprobe snapshot --json)',
  },
  copy: {
    type: 'string',
    placeholder: '<file>',
    summary:
      'Run this standalone file of umaprobe on each host, which needs no Node there; it is copied to ~/.cache/umaprobe once',
  },
} as const satisfies OptionTable;

export function machinesOf({ positionals, rest, stdin, values }: Context, command: string): ClusterOptions {
  const [word, ...more] = [...positionals, ...rest];
  const [hosts, hostfile] = [hostsOf(values, command), text(values, 'hostfile')];
  if (more.length > 0 || (word !== undefined && word !== '-'))
    throw new UsageError(`"${word === '-' ? more[0] : word}" is no option; machines are named by --hosts.`, command);
  const given = [word === '-' ? '-' : null, hosts && '--hosts', hostfile && '--hostfile'].filter(
    (name) => name != null,
  );
  if (given.length === 0)
    throw new UsageError(
      'Which machines? Give --hosts spark-1,spark-2, --hostfile, or - for answers from a pipe.',
      command,
    );
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} both say which machines: give one.`, command);
  if (word === '-')
    return { answers: fromPipe(stdin, command), ...expected(values, command), ...onlyForHosts(values, command) };
  if (isGiven(values, 'expect')) throw new UsageError('--expect needs -: of hosts each is expected.', command);
  const [line, copy] = [text(values, 'command'), text(values, 'copy')];
  if (line !== undefined && copy !== undefined)
    throw new UsageError('--command and --copy both say what is run there: give one.', command);
  if (line !== undefined) checkText('--command', line, LIMITS.remoteCommandLength);
  if (copy !== undefined) closeSync(openNamedFile('--copy', copy));
  return {
    hosts: hosts ?? fromFile(hostfile ?? '', command),
    deadlineMs: duration(values, 'deadline', LIMITS.deadlineMs, DEFAULT_DEADLINE_MS, command),
    ...(line === undefined ? {} : { command: line }),
    ...(copy === undefined ? {} : { copy }),
  };
}

function fromPipe(stdin: NodeJS.ReadStream, command: string): NodeJS.ReadStream {
  if (!stdin.isTTY) return stdin;
  throw new UsageError('- reads answers from a pipe, and stdin is a terminal.', command);
}

function expected(values: Context['values'], command: string): Pick<ClusterOptions, 'expect'> {
  const expect = count(values, 'expect', LIMITS.hosts, command);
  return expect === undefined ? {} : { expect };
}

function onlyForHosts(values: Context['values'], command: string): Record<string, never> {
  const option = ['deadline', 'command', 'copy'].find((name) => isGiven(values, name));
  if (option === undefined) return {};
  throw new UsageError(`--${option} is for hosts that are asked; - reads what has been printed.`, command);
}

function fromFile(path: string, command: string): readonly string[] {
  const hosts = hostsOfFile(readNamedFile('--hostfile', path, MiB));
  const what = `--hostfile "${path}"`;
  if (hosts.length === 0) throw new UsageError(`${what} names no machine; expected one in each line.`, command);
  const names = hosts.map(({ name }) => name);
  return checkHosts(names, what, (index) => `${what}, line ${hosts[index]?.line}`);
}

/** `--hosts` of every command that has it. Checked here, so that the message names the option as it was typed. */
export function hostsOf(values: OptionValues, command: string): readonly string[] | undefined {
  const hosts = list(values, 'hosts', command);
  return hosts === undefined ? undefined : checkHosts(hosts, '--hosts', () => 'a name of --hosts');
}

/** Asks the machines, with a line on a terminal meanwhile; a signal ends every ssh, and is the exit code. */
export async function unlessInterrupted<T>(
  context: Context,
  options: ClusterOptions,
  ask: (options: ClusterOptions) => Promise<T>,
): Promise<T | number> {
  // A pipe is read until its end, which the default of a signal cuts short.
  if (options.hosts === undefined) return ask(options);
  const interrupt = onInterrupt(() => undefined);
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
