import { UmaError } from '../../base/errors.ts';
import { clean } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { defined } from '../../base/objects.ts';
import { flag, path, pick } from '../../base/options.ts';
import { ESTIMATE } from '../../models/estimate/options.ts';
import { launch } from '../../run/launch/index.ts';
import { LAUNCH, type LaunchOptions } from '../../run/launch/options.ts';
import { readRecord } from '../../run/record/index.ts';
import { launchPlanLines, launchReceiptLines, launchStepLines } from '../../show/render/text/launch.ts';
import { toHtml } from '../../show/report/index.ts';
import type { LaunchEvent, LaunchReport, RecordedSession } from '../../types/index.ts';
import {
  type Command,
  type CommandOutcome,
  type Context,
  finished,
  type OptionValues,
  shown,
} from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { exitBySignal, onInterrupt } from '../core/interrupt.ts';
import { flag as isOn, text } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { checkSizeAlone } from './estimate.ts';
import { leftText, notifiedText, tellOfPipe, whyNotStarted } from './guarded-program.ts';
import { PAGE_POINTS } from './record-show.ts';
import { reportsOf, writePage } from './reports.ts';

const NAME = 'launch';

const { forwardSignals, intervalMs, killBelowBytes, loadActions, ...ROWS } = LAUNCH;

/** Use of the model. */
const USE = pick(ESTIMATE, ['context', 'sequences']);

const OWN = {
  html: path({ help: 'Write plan, timeline and what it took as one HTML file that works offline' }),
  quiet: flag({ short: 'q', help: 'Print only why it was not started, or was stopped' }),
};

export const launchCommand: Command = {
  name: NAME,
  usage: '[options] -- <program> [arguments…]',
  description:
    'Reads from the command line of vLLM, SGLang, llama.cpp or Ollama what it is going to load, asks fit, makes room, runs the program ' +
    'under the guard, and records the memory meanwhile. At the end it says what was free, what the load took, what stayed for the ' +
    'host, what came back, and the flags that would have been safe. Names what it does not understand; ' +
    'then the answer is unknown, and only the guard protects the machine.\n' +
    'Exit code: 1 if it does not fit, 5 if nothing can be loaded now; in both cases nothing was started. Otherwise that of the program, 6 if the guard stopped it, ' +
    '126 and 127 if it could not be started. The plan and the result go to stderr. --json prints its document on stdout, and the output of ' +
    'the program goes to stderr.',
  options: optionTable(ROWS, USE, OWN),
  examples: [
    {
      command: 'umaprobe launch -- vllm serve Qwen/Qwen3-8B --max-model-len 32768 --gpu-memory-utilization 0.5',
      means: 'read from its command line',
    },
    { command: 'umaprobe launch --html launch.html -- vllm serve Qwen/Qwen3-8B', means: 'a page with its timeline' },
    { command: 'umaprobe launch --dry-run -- llama-server -m model.gguf -c 65536', means: 'the plan only' },
    {
      command: 'umaprobe launch --bytes 80GiB -- python3 train.py',
      means: 'any other program, with its size',
    },
  ],
  arguments: { min: 0, max: 0, afterDashes: 'program' },
  run,
};

async function run(context: Context): Promise<CommandOutcome> {
  const { rest, values } = context;
  const [file] = rest;
  if (file === undefined)
    throw new UsageError('A program is missing after "--", such as umaprobe launch -- vllm serve model.');
  const isDryRun = isOn(values, 'dry-run');
  const reports = reportsOf(context, NAME);
  const interrupt = isDryRun ? null : onInterrupt();
  const options: LaunchOptions = {
    ...optionsOf(values, rest),
    stdio: context.json ? 'stderr' : 'inherit',
    forwardSignals: true,
    onEvent: (event) => {
      if (event.type === 'started') tellOfPipe(context);
      show(event, context, isDryRun);
    },
    ...(interrupt === null ? {} : { signal: interrupt.signal }),
  };
  try {
    const report = await launch(options);
    const page = async () => toHtml(report, { session: await recordingOf(report, values) });
    return await writePage(reports, page, outcomeOf(report, context), context);
  } catch (error) {
    const code = interrupt?.exitCode() ?? null;
    if (code !== null) return finished(code);
    const why = whyNotStarted(error, file);
    if (why === null) throw error;
    context.stderr.write(`umaprobe: ${clean(file)} could not be started: ${why.text}\n`);
    return finished(why.exitCode);
  } finally {
    interrupt?.close();
  }
}

function optionsOf(values: OptionValues, command: readonly string[]): LaunchOptions {
  const options = typedOptions(values, ROWS, NAME);
  if (options.bytes !== undefined && options.model !== undefined)
    throw new UsageError('--bytes and --model both say what is loaded: give one of them.');
  if (options.bytes !== undefined) checkSizeAlone('--bytes', values);
  const use = typedOptions(values, USE, NAME);
  return { ...options, command, ...(Object.keys(use).length === 0 ? {} : { use }) };
}

/** The recording of the launch, or the end of one that ran already; null: there is none. */
async function recordingOf(
  { durationMs, guard, record }: LaunchReport,
  values: OptionValues,
): Promise<RecordedSession | null> {
  if (guard === null || isOn(values, 'no-record') || record?.folder === null) return null;
  const folder = text(values, 'folder');
  const lastMs = Math.max(LIMITS.lastMs.min, Math.ceil(durationMs));
  try {
    const { sessions } = await readRecord({
      sessions: 1,
      points: PAGE_POINTS,
      ...defined({ folder }),
      ...(record === null ? { lastMs } : {}),
    });
    const [session] = sessions;
    return session === undefined || (record === null && session.end !== 'running') ? null : session;
  } catch (error) {
    // The page says that there is none.
    if (error instanceof UmaError) return null;
    throw error;
  }
}

/** Events go to stderr: stdout belongs to the program. */
function show(event: LaunchEvent, { json, stderr, values }: Context, isDryRun: boolean): void {
  if (event.type === 'notified') stderr.write(notifiedText(event) ?? '');
  if (isOn(values, 'quiet')) return;
  if (event.type === 'hosts' && stderr.isTty) stderr.write(`umaprobe: asking ${event.hosts.join(', ')} by ssh\n`);
  if (isDryRun) return;
  const options = renderOptionsFor(stderr);
  if (event.type === 'left') stderr.write(leftText(event));
  if (event.type === 'plan' && !json) stderr.write(`${launchPlanLines(event.plan, options).join('\n')}\n\n`);
  if (event.type === 'step' && !json && (event.step.step === 'prepare' || event.step.state === 'failed'))
    stderr.write(`${launchStepLines([event.step], options).join('\n')}\n`);
  // These come each second while a program loads.
  if (event.type === 'action' && event.action !== 'drop' && event.action !== 'compact')
    stderr.write(`umaprobe: ${event.sentence}\n`);
}

function outcomeOf(report: LaunchReport, { json, stderr, values }: Context): CommandOutcome {
  const { guard, outcome, plan, receipt } = report;
  const isSilent = plan.ranks.some(({ state }) => state !== 'answered');
  const refusal = plan.verdict === 'not-now' ? EXIT.refused : isSilent ? EXIT.noGpu : EXIT.negative;
  if (outcome === 'planned') {
    const isShort = plan.ranks.some((rank) => rank.refuses);
    const refuses = (isShort || ['no', 'not-now'].includes(plan.verdict)) && !isOn(values, 'anyway');
    return shown(report, (_, options) => launchPlanLines(plan, options), refuses ? refusal : EXIT.success);
  }
  if (outcome === 'refused') {
    // The plan on the terminal ends with the reason.
    const why = isOn(values, 'quiet') || json ? clean(report.summary) : 'Not started.';
    stderr.write(`umaprobe: ${why} --anyway starts it all the same.\n`);
    return { exitCode: refusal, document: report, text: null };
  }
  const quiet = isOn(values, 'quiet');
  if (quiet && outcome === 'stopped') stderr.write(`umaprobe: ${clean(report.summary)}\n`);
  if (!quiet && !json && receipt !== null)
    stderr.write(`\n${launchReceiptLines(report, receipt, renderOptionsFor(stderr)).join('\n')}\n`);
  const code =
    outcome === 'stopped' ? EXIT.stopped : guard?.signal == null ? (guard?.exitCode ?? 0) : exitBySignal(guard.signal);
  return { exitCode: code, document: report, text: null };
}
