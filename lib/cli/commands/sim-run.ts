import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { writeFileAtomic } from '../../base/atomic-file.ts';
import { clean, formatDuration, jsonText } from '../../base/format.ts';
import { defined } from '../../base/objects.ts';
import { flag, path } from '../../base/options.ts';
import { createNamespaceFiles } from '../../sim/namespace.ts';
import { loadMachine, type Machine, type Simulation, type SimulationRecord, simulate } from '../../sim.ts';
import { type Command, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { checkOutputs } from '../core/files.ts';
import { exitOnSignals } from '../core/interrupt.ts';
import { positiveOf } from '../core/options.ts';
import { optionTable, ownOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

const OPTIONS = {
  scale: typedText((word, name) => positiveOf(word, name, 'sim run', 1_000_000), {
    placeholder: '<n>',
    help: 'Simulated seconds per real second',
    usually: 'set by the machine, mostly 1',
  }),
  report: path({ help: "Write the machine's record as JSON when the program ends" }),
  preload: flag({
    default: true,
    flag: 'no-preload',
    help: 'Simulate only the libraries, not /proc/meminfo and other files of the kernel',
  }),
  namespace: flag({ help: 'Mount these files, for programs that make system calls themselves (Go, static)' }),
};

export const simRunCommand: Command = {
  name: 'sim run',
  usage: '<name|file.json> [options] -- <program> [arguments…]',
  description:
    "Boots the machine, shows it to the program in place of NVIDIA's libraries and /proc/meminfo, and removes it afterwards. " +
    "Passes on the program's exit code (128+n if signal n ended it; 126 or 127 if it could not be started).\n" +
    '--report keeps what happened on the machine. If the program froze it, a line on stderr says so.',
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe sim run gb10 -- free -g', means: 'free(1) on a simulated Spark' },
    {
      command: 'umaprobe sim run gb10 --scale 100 --report run.json -- python3 load.py',
      means: 'your own program, 100 times as fast',
    },
    { command: 'umaprobe sim run gb10 --namespace -- ./exporter', means: 'a program written in Go' },
  ],
  readsMachine: false,
  arguments: { min: 1, max: 1, afterDashes: 'program' },
  async run(context) {
    const {
      values,
      positionals: [machine = ''],
      rest,
      json,
    } = context;
    if (rest.length === 0) {
      throw new UsageError(`A program is missing after "--", such as umaprobe sim run ${machine} -- free -g.`);
    }
    if (json) throw new UsageError("sim run passes on the program's output; for JSON use --report <file>.");
    const { namespace, preload, report: file, scale } = ownOptions(values, OPTIONS, 'sim run');
    if (file !== undefined) checkOutputs([{ what: '--report', path: file }], [{ what: 'the machine', path: machine }]);
    if (namespace && !preload) {
      throw new UsageError('--namespace shows the files of the kernel, which --no-preload leaves out.');
    }
    const loaded = loadMachine(machine);
    exitOnSignals();
    const simulation = simulate(loaded, defined({ scale }));
    try {
      const exitCode = namespace
        ? await runInNamespace(loaded, simulation, rest, context)
        : await runOn(rest, { ...context.env, ...simulation.foreignEnv({ preload }) }, context);
      const isWritten = report(simulation, file, context);
      return finished(exitCode === EXIT.success && !isWritten ? EXIT.negative : exitCode);
    } finally {
      simulation.close();
    }
  },
};

/** The same as runOn(), with the machine's files mounted. */
async function runInNamespace(
  machine: Machine,
  simulation: Simulation,
  program: readonly string[],
  context: Context,
): Promise<number> {
  const files = createNamespaceFiles(machine, simulation);
  if (files.leftOut.length > 0) {
    context.stderr.write(`umaprobe: this kernel has no place for ${files.leftOut.join(', ')}\n`);
  }
  try {
    // Node never gets to run: the preloaded simulator replaces it by the program once the files are mounted.
    const env = { ...context.env, ...simulation.foreignEnv(), ...files.env };
    return await runOn([process.execPath, ...program], env, context);
  } finally {
    files.close();
  }
}

/** Starts the program without a shell, in this process group, and waits for its exit code. */
function runOn([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv, context: Context): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env });
  // The kernel of a terminal has already sent these to the child: many programs quit at a second one.
  const shared = context.stdin.isTTY === true || context.stdout.isTty;
  const forwarded: readonly (readonly [NodeJS.Signals, () => void])[] = [
    ['SIGINT', () => void (shared || child.kill('SIGINT'))],
    ['SIGQUIT', () => void (shared || child.kill('SIGQUIT'))],
    ['SIGTERM', () => void child.kill('SIGTERM')],
    ['SIGHUP', () => void child.kill('SIGHUP')],
    ['SIGUSR2', () => void child.kill('SIGUSR2')],
  ];
  for (const [signal, handler] of forwarded) process.on(signal, handler);
  return new Promise<number>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      context.stderr.write(`umaprobe: ${clean(program)} could not be started: ${error.code ?? error.message}\n`);
      resolve(error.code === 'ENOENT' ? 127 : 126);
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  }).finally(() => {
    for (const [signal, handler] of forwarded) process.removeListener(signal, handler);
  });
}

/** @returns false if the record could not be written. */
function report(simulation: Simulation, file: string | undefined, { stderr }: Context): boolean {
  const record: SimulationRecord = simulation.record();
  let isWritten = true;
  try {
    if (file !== undefined) writeFileAtomic(file, `${jsonText(record, 2)}\n`, 0o666);
  } catch (error) {
    isWritten = false;
    stderr.write(`umaprobe: ${file} could not be written: ${(error as Error).message}\n`);
  }
  if (record.wedged === null) return isWritten;
  const { atMs, pid, during } = record.wedged;
  stderr.write(
    `umaprobe: the simulated machine ${simulation.name} was WEDGED after ${formatDuration(atMs)} (simulated) ` +
      `by process ${pid} in ${clean(during)}; a real one would have needed the power button.\n`,
  );
  return isWritten;
}
