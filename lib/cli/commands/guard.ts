import { clean, MiB } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { flag, integer } from '../../base/options.ts';
import { readTrustedFile } from '../../base/trusted-file.ts';
import { guard } from '../../run/guard/index.ts';
import { GUARD, type GuardOptions } from '../../run/guard/options.ts';
import { checkPolicy } from '../../run/guard/policy.ts';
import { guardPage } from '../../show/render/text/guard.ts';
import type { GuardEvent, GuardPolicy, GuardReport, GuardTarget } from '../../types/index.ts';
import { type Command, type CommandOutcome, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { exitBySignal, onInterrupt } from '../core/interrupt.ts';
import { isGiven, flag as isOn } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { optionTable, ownOptions, typedOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { leftText, notifiedText, tellOfPipe, whyNotStarted } from './guarded-program.ts';

const TARGETS = ['pid', 'cgroup', 'unit', 'system'] as const;

const OWN = {
  quiet: flag({ short: 'q', help: 'Only the sentence when it was stopped' }),
  pid: integer({ ...LIMITS.pid, placeholder: '<pid>', help: 'Watch a running process and its descendants' }),
  cgroup: typedText((path) => path, { placeholder: '<path>', help: 'Watch the processes of a cgroup' }),
  unit: typedText((name) => name, { placeholder: '<name>', help: 'Watch a unit of systemd' }),
  system: flag({
    help: 'Watch the whole machine: one unit or container after the other is stopped until the memory is back',
  }),
  policy: typedText(readPolicy, {
    placeholder: '<file.json>',
    help: 'With --system: what may be stopped, and in which order',
    usually: 'the largest holder of GPU memory',
  }),
};

export const guardCommand: Command = {
  name: 'guard',
  usage: '[options] -- <program> [arguments…]',
  description:
    'A native program watches what is available and how fast it falls, with pressure, large blocks and swap as further signs. It acts while ' +
    'the machine has little left: drops caches and compacts while the program loads (root), warns, sends SIGTERM to every process of ' +
    'the program, and SIGKILL after --grace.\n' +
    'Signals, job control, terminal and exit code are those of the program. Exit code: 6 if the guard stopped it, with a sentence that ' +
    'says what was seen; 126 and 127: it could not be started. --json prints its document on stdout, and the output of the program ' +
    'goes to stderr.',
  options: optionTable(GUARD, OWN),
  examples: [
    { command: 'umaprobe guard -- python3 train.py', means: 'stopped before the machine freezes' },
    {
      command: 'umaprobe guard --ready startup.complete -- vllm serve model',
      means: 'caches are dropped until it serves (as root)',
    },
    {
      command: 'umaprobe guard --notify ./stop-the-other.sh -- vllm serve model --nnodes 2',
      means: 'if one is stopped, so is the other',
    },
    { command: 'umaprobe guard --dry-run --pid 4711', means: 'what would the guard have done?' },
    { command: 'umaprobe guard --system --policy policy.json', means: 'the whole machine, as a daemon (root)' },
  ],
  arguments: { min: 0, max: 0, afterDashes: 'program' },
  async run(context) {
    const target = targetOf(context);
    if (target === null && context.rest.length === 0)
      throw new UsageError('A program is missing after "--", such as umaprobe guard -- python3 train.py.');
    if (target !== null && context.rest.length > 0)
      throw new UsageError('guard takes either a program after "--", or one of --pid, --cgroup, --unit and --system.');
    const options: GuardOptions = {
      ...typedOptions(context.values, GUARD, 'guard'),
      stdio: context.json ? 'stderr' : 'inherit',
      onEvent: (event) => show(event, context),
    };
    return target === null ? runCommand(options, context) : watchTarget(options, target, context);
  },
};

function targetOf({ values }: Context): GuardTarget | null {
  const given = TARGETS.filter((name) => isGiven(values, name));
  if (given.length > 1) throw new UsageError(`guard watches one thing: --${given.join(' and --')} exclude each other.`);
  if (isGiven(values, 'policy') && !isGiven(values, 'system'))
    throw new UsageError('--policy says what --system may stop: give both.');
  const { cgroup, pid, policy = {}, system, unit } = ownOptions(values, OWN, 'guard');
  if (system) return { system: policy };
  if (cgroup !== undefined) return { cgroup };
  if (unit !== undefined) return { unit };
  return pid === undefined ? null : { pid };
}

function readPolicy(path: string): GuardPolicy {
  const json = readTrustedFile('--policy', path, MiB);
  try {
    return checkPolicy(JSON.parse(json));
  } catch (error) {
    throw new UsageError(`--policy "${clean(path)}": ${clean((error as Error).message)}.`);
  }
}

async function runCommand(options: GuardOptions, context: Context): Promise<CommandOutcome> {
  const [file = ''] = context.rest;
  tellOfPipe(context);
  try {
    const report = await guard({ ...options, command: context.rest, forwardSignals: true });
    return outcomeOf(report, context);
  } catch (error) {
    const why = whyNotStarted(error, file);
    if (why === null) throw error;
    context.stderr.write(`umaprobe: ${clean(file)} could not be started: ${why.text}\n`);
    return finished(why.exitCode);
  }
}

/** Ctrl-C ends the watching, and not what is watched. */
async function watchTarget(options: GuardOptions, target: GuardTarget, context: Context): Promise<CommandOutcome> {
  const interrupt = onInterrupt();
  try {
    const report = await guard({ ...options, target, signal: interrupt.signal });
    const outcome = outcomeOf(report, context);
    // A signal is how a daemon is meant to end.
    const code = 'system' in target ? EXIT.success : interrupt.exitCode();
    return { ...outcome, exitCode: code ?? outcome.exitCode };
  } finally {
    interrupt.close();
  }
}

function outcomeOf(report: GuardReport, context: Context): CommandOutcome {
  const { stderr } = context;
  const { actions, exitCode, outcome, sentence, signal } = report;
  const quiet = isOn(context.values, 'quiet');
  if (quiet && sentence !== null) stderr.write(`umaprobe: ${sentence}\n`);
  if (!quiet && !context.json && (actions.length > 0 || isOn(context.values, 'dry-run')))
    stderr.write(`${guardPage(report, renderOptionsFor(stderr)).join('\n')}\n`);
  const code = outcome === 'stopped' ? EXIT.stopped : signal !== null ? exitBySignal(signal) : (exitCode ?? 0);
  return { exitCode: code, document: report, text: null };
}

/** Actions as they happen, on stderr. */
function show(event: GuardEvent, { stderr, values }: Context): void {
  if (event.type === 'notified') return void stderr.write(notifiedText(event) ?? '');
  if (isOn(values, 'quiet')) return;
  if (event.type === 'left') return void stderr.write(leftText(event));
  if (event.type !== 'action') return;
  // These come each second while a program loads; the page at the end counts them.
  if (event.action === 'drop' || event.action === 'compact') return;
  stderr.write(`umaprobe: ${event.sentence}\n`);
}
