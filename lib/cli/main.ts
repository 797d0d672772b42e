/** One run of the command line: find the command, run it, print its outcome. */
import { jsonText } from '../base/format.ts';
import { lazy } from '../base/lazy.ts';
import { find, groups, listed, loadCommands } from './commands/index.ts';
import type { Command, CommandOutcome, Context, ListedCommand } from './core/command.ts';
import { describe, EXIT } from './core/exit.ts';
import { exitOnSignals, Interrupted } from './core/interrupt.ts';
import { createTerminal, type Terminal } from './core/terminal.ts';
import { UsageError } from './core/usage.ts';
import { commandHelp, generalHelp, groupHelp, shortCommandHelp, shortHelp } from './help.ts';
import { type Parsed, parse, route } from './parse.ts';

export interface Io {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  env: NodeJS.ProcessEnv;
}

/** Runs a command, prints its outcome and returns the exit code. Never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  // Needed before parsing: usage errors are printed in the requested form, too.
  const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  const json = options.includes('--json');
  const noColor = options.includes('--no-color');
  const stdout = createTerminal(io.stdout, io.env, noColor);
  const stderr = createTerminal(io.stderr, io.env, noColor);
  try {
    return await dispatch(argv, { json, stdout, stderr, stdin: io.stdin, env: io.env });
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    const debug = (io.env.UMAPROBE_DEBUG ?? '') !== '' || /\bumaprobe\b/.test(io.env.NODE_DEBUG ?? '');
    const failure = describe(error, debug);
    if (json) stdout.write(`${jsonText(failure.document, 2)}\n`);
    stderr.write(failure.message);
    return failure.exitCode;
  }
}

type Surroundings = Pick<Context, 'json' | 'stdout' | 'stderr' | 'stdin' | 'env'>;

async function dispatch(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  const { name, typed, args } = route(argv);
  const dashes = args.includes('--') ? args.indexOf('--') : args.length;
  const options = args.slice(0, dashes);
  const inFull = options.includes('--help');
  if (!typed && (inFull || options.includes('-h')))
    return print(inFull ? generalHelp(stdout) : shortHelp(stdout), stdout);
  if (groups().includes(name)) return print(groupHelp(name, stdout), stdout);
  const entry = find(name);
  if (entry === undefined) throw new UsageError(`"${name}" is not a command.`);
  const command = await lazy(() => listed(entry))();
  try {
    const parsed = parse(command, args, typed ? name : null);
    if (parsed.values.help === true) return print((inFull ? commandHelp : shortCommandHelp)(command, stdout), stdout);
    const context: Context = { ...parsed, commands: loadCommands, ...surroundings };
    if (parsed.values.version === true) return show(await (await loadVersion()).run(context), context);
    await enterMachine(command, parsed);
    return show(await command.run(context), context);
  } catch (error) {
    if (error instanceof UsageError) error.command ??= name;
    throw error;
  }
}

/** `--version` is the command `version`. */
async function loadVersion(): Promise<Command> {
  return (await import('./commands/version.ts')).versionCommand;
}

function print(text: string, terminal: Terminal): number {
  terminal.write(text);
  return EXIT.success;
}

/** `--sim`: from now on this process and its children run on the simulated machine. */
async function enterMachine(command: ListedCommand, { values }: Parsed): Promise<void> {
  const machine = values.sim;
  if (typeof machine !== 'string') return;
  if (!command.readsMachine) {
    throw new UsageError(
      command.arguments.min === 0
        ? `${command.name} reads no machine, so --sim does not apply.`
        : `${command.name} takes its machine as an argument, without --sim: umaprobe ${command.name} ${machine}.`,
    );
  }
  const { activate, loadMachine, simulate } = await lazy(() => import('../sim.ts'))();
  exitOnSignals();
  activate(simulate(loadMachine(machine)));
}

function show(outcome: CommandOutcome, { json, stdout }: Context): number {
  if (json && outcome.document !== null) stdout.write(`${jsonText(outcome.document, 2)}\n`);
  else if (!json && outcome.text !== null) {
    const text = outcome.text(stdout);
    stdout.write(typeof text === 'string' ? text : `${text.join('\n')}\n`);
  }
  return outcome.exitCode;
}
