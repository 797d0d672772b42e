import { clean, MiB } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { readTrustedFile } from '../../base/trusted-file.ts';
import { DEFAULT_GRACE_MS, DEFAULT_INTERVAL_MS, guard } from '../../run/guard/index.ts';
import { checkPolicy } from '../../run/guard/policy.ts';
import { guardPage } from '../../show/render/text/guard.ts';
import type { GuardEvent, GuardOptions, GuardPolicy, GuardReport, GuardTarget, LoadAction } from '../../types/index.ts';
import { type Command, type CommandOutcome, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { exitBySignal, onInterrupt } from '../core/interrupt.ts';
import { count, duration, durationRange, flag, isGiven, list, size, text } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';
import { floorOf, floorOptions } from './floor-option.ts';
import {
  graceMs,
  leftText,
  NOTIFY,
  notifiedText,
  notifyOf,
  READY,
  readyOf,
  tellOfPipe,
  whyNotStarted,
} from './guarded-program.ts';

const TARGETS = ['pid', 'cgroup', 'unit', 'system'] as const;
const LOAD_ACTIONS: readonly LoadAction[] = ['drop', 'compact'];

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
  options: {
    ...floorOptions(),
    'kill-below': {
      type: 'string',
      placeholder: '<size>',
      summary: 'Stop it when less than this is available, without any other sign (default 2GiB)',
    },
    interval: {
      type: 'string',
      placeholder: '<time>',
      summary: `Between two readings: ${durationRange(LIMITS.guardIntervalMs)} (default ${DEFAULT_INTERVAL_MS}ms)`,
    },
    grace: {
      type: 'string',
      placeholder: '<time>',
      summary: `Between SIGTERM and SIGKILL, up to 10m (default ${DEFAULT_GRACE_MS / 1000}s)`,
    },
    ready: READY,
    notify: NOTIFY,
    'load-actions': {
      type: 'string',
      list: true,
      placeholder: '<drop,compact|none>',
      summary: 'What makes room while it loads (default both, as root)',
    },
    'keep-priority': {
      type: 'boolean',
      summary: 'Leave the nice value of the program (default: 10 higher, unless this user is root)',
    },
    load: {
      type: 'string',
      placeholder: '<size>',
      summary: 'The least that it loads: until it holds this much, it is loading',
    },
    'keep-free': {
      type: 'string',
      placeholder: '<size>',
      summary: 'While it runs: evict model files that no process has mapped, once less than this is free',
    },
    'dry-run': { type: 'boolean', summary: 'Judge and report, and do nothing' },
    quiet: { type: 'boolean', short: 'q', summary: 'Only the sentence when it was stopped' },
    pid: { type: 'string', placeholder: '<pid>', summary: 'Watch a running process and its descendants' },
    cgroup: { type: 'string', placeholder: '<path>', summary: 'Watch the processes of a cgroup' },
    unit: { type: 'string', placeholder: '<name>', summary: 'Watch a unit of systemd' },
    system: {
      type: 'boolean',
      summary: 'Watch the whole machine: one unit or container after the other is stopped until the memory is back',
    },
    policy: {
      type: 'string',
      placeholder: '<file.json>',
      summary: 'With --system: what may be stopped, and in which order (default: the largest holder of GPU memory)',
    },
  },
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
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: 'program' },
  async run(context) {
    const target = targetOf(context);
    if (target === null && context.rest.length === 0)
      throw new UsageError('A program is missing after "--", such as umaprobe guard -- python3 train.py.', 'guard');
    if (target !== null && context.rest.length > 0)
      throw new UsageError(
        'guard takes either a program after "--", or one of --pid, --cgroup, --unit and --system.',
        'guard',
      );
    const options = { ...optionsOf(context), onEvent: (event: GuardEvent) => show(event, context) };
    return target === null ? runCommand(options, context) : watchTarget(options, target, context);
  },
};

function optionsOf({ json, values }: Context): GuardOptions {
  const killBelowBytes = size(values, 'kill-below', 'guard');
  const loadBytes = size(values, 'load', 'guard');
  const keepFreeBytes = size(values, 'keep-free', 'guard');
  const ready = readyOf(values, 'guard');
  const loadActions = loadActionsOf(values);
  const notify = notifyOf(values, 'guard');
  return {
    stdio: json ? 'stderr' : 'inherit',
    ...floorOf(values, 'guard'),
    ...(killBelowBytes === undefined ? {} : { killBelowBytes }),
    ...(ready === undefined ? {} : { ready }),
    ...(notify === undefined ? {} : { notify }),
    ...(loadBytes === undefined ? {} : { loadBytes }),
    ...(keepFreeBytes === undefined ? {} : { keepFreeBytes }),
    ...(loadActions === undefined ? {} : { loadActions }),
    intervalMs: duration(values, 'interval', LIMITS.guardIntervalMs, DEFAULT_INTERVAL_MS, 'guard'),
    graceMs: graceMs(values, 'guard'),
    keepPriority: flag(values, 'keep-priority'),
    dryRun: flag(values, 'dry-run'),
  };
}

function loadActionsOf(values: Context['values']): LoadAction[] | undefined {
  const words = list(values, 'load-actions', 'guard');
  if (words === undefined) return undefined;
  if (words.length === 1 && words[0] === 'none') return [];
  return words.map((word) => {
    const action = LOAD_ACTIONS.find((known) => known === word);
    if (action === undefined)
      throw new UsageError(`--load-actions "${clean(word)}" is not one of ${LOAD_ACTIONS.join(', ')}, none.`, 'guard');
    return action;
  });
}

function targetOf({ values }: Context): GuardTarget | null {
  const given = TARGETS.filter((name) => isGiven(values, name));
  if (given.length > 1)
    throw new UsageError(`guard watches one thing: --${given.join(' and --')} exclude each other.`, 'guard');
  const policy = text(values, 'policy');
  if (policy !== undefined && !flag(values, 'system'))
    throw new UsageError('--policy says what --system may stop: give both.', 'guard');
  if (flag(values, 'system')) return { system: policy === undefined ? {} : readPolicy(policy) };
  const [cgroup, unit] = [text(values, 'cgroup'), text(values, 'unit')];
  if (cgroup !== undefined) return { cgroup };
  if (unit !== undefined) return { unit };
  const pid = count(values, 'pid', LIMITS.pid, 'guard');
  return pid === undefined ? null : { pid };
}

function readPolicy(path: string): GuardPolicy {
  const json = readTrustedFile('--policy', path, MiB);
  try {
    return checkPolicy(JSON.parse(json));
  } catch (error) {
    throw new UsageError(`--policy "${clean(path)}": ${clean((error as Error).message)}.`, 'guard');
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
  const interrupt = onInterrupt(() => undefined);
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
  const quiet = flag(context.values, 'quiet');
  if (quiet && sentence !== null) stderr.write(`umaprobe: ${sentence}\n`);
  if (!quiet && !context.json && (actions.length > 0 || flag(context.values, 'dry-run')))
    stderr.write(`${guardPage(report, renderOptionsFor(stderr)).join('\n')}\n`);
  const code = outcome === 'stopped' ? EXIT.stopped : signal !== null ? exitBySignal(signal) : (exitCode ?? 0);
  return { exitCode: code, document: report, text: null };
}

/** Actions as they happen, on stderr. */
function show(event: GuardEvent, { stderr, values }: Context): void {
  if (event.type === 'notified') return void stderr.write(notifiedText(event) ?? '');
  if (flag(values, 'quiet')) return;
  if (event.type === 'left') return void stderr.write(leftText(event));
  if (event.type !== 'action') return;
  // These come each second while a program loads; the page at the end counts them.
  if (event.action === 'drop' || event.action === 'compact') return;
  stderr.write(`umaprobe: ${event.sentence}\n`);
}
