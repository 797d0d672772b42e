import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { writeFileAtomic } from '../../base/atomic-file.ts';
import { clean, formatDuration, jsonText } from '../../base/format.ts';
import { loadMachine, type Simulation, type SimulationRecord, simulate } from '../../sim.ts';
import { type Command, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { checkOutputs } from '../core/files.ts';
import { flag, positive, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';

export const simRunCommand: Command = {
  name: 'sim run',
  summary: 'Runs any program on a simulated machine',
  usage: '<name|file.json> [options] -- <program> [arguments…]',
  description:
    "Boots the machine, shows it to the program in place of NVIDIA's libraries and /proc/meminfo, and removes it afterwards. " +
    "Passes on the program's exit code (128+n if signal n ended it; 126 or 127 if it could not be started).\n" +
    '--record keeps what happened on the machine. If the program wedged it, a line on stderr says so.',
  options: {
    scale: {
      type: 'string',
      placeholder: '<n>',
      summary: 'Simulated seconds per real second (default: set by the machine, mostly 1)',
    },
    record: {
      type: 'string',
      placeholder: '<file>',
      summary: "Write the machine's record as JSON when the program ends",
    },
    'no-preload': {
      type: 'boolean',
      summary: 'Simulate only the libraries, not /proc/meminfo and other files of the kernel',
    },
  },
  examples: [
    { command: 'umaprobe sim run gb10 -- free -g', means: 'free(1) on a simulated Spark' },
    {
      command: 'umaprobe sim run gb10 --scale 100 --record run.json -- python3 load.py',
      means: 'your own program, 100 times as fast',
    },
  ],
  readsMachine: false,
  arguments: { min: 1, max: 1, afterDashes: true },
  async run(context) {
    const {
      values,
      positionals: [machine = ''],
      rest,
      json,
    } = context;
    if (rest.length === 0) {
      throw new UsageError(
        `A program is missing after "--", such as umaprobe sim run ${machine} -- free -g.`,
        'sim run',
      );
    }
    if (json)
      throw new UsageError("umaprobe sim run passes on the program's output; for JSON use --record <file>.", 'sim run');
    const record = text(values, 'record');
    if (record !== undefined)
      checkOutputs([{ what: '--record', path: record }], [{ what: 'the machine', path: machine }], 'sim run');
    const scale = positive(values, 'scale', 1_000_000, 'sim run');
    const simulation = simulate(loadMachine(machine), scale === undefined ? {} : { scale });
    try {
      const exitCode = await runOn(simulation, rest, !flag(values, 'no-preload'), context);
      const isWritten = report(simulation, record, context);
      return finished(exitCode === EXIT.success && !isWritten ? EXIT.negative : exitCode);
    } finally {
      simulation.close();
    }
  },
};

/** Starts the program without a shell, in this process group, and waits for its exit code. */
function runOn(
  simulation: Simulation,
  [program = '', ...args]: readonly string[],
  preload: boolean,
  context: Context,
): Promise<number> {
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...context.env, ...simulation.foreignEnv({ preload }) },
  });
  // On a terminal the kernel has already sent these to the child: many programs quit at a second one.
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
