import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration, jsonText } from '../../base/format.ts';
import { LIMITS } from '../../base/limits.ts';
import { processes } from '../../core/processes/index.ts';
import { dot } from '../../show/render/options.ts';
import { processesPage } from '../../show/render/text/processes.ts';
import { truncate } from '../../show/render/text-layout.ts';
import type { ProcessesOptions, ProcessesReport } from '../../types/index.ts';
import { type Command, type CommandOutcome, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { openLive } from '../core/live.ts';
import { count, duration, durationRange, EXACT, flag, INTERVAL, text } from '../core/options.ts';
import { DEADLINE, deadline } from '../core/reading-options.ts';
import { renderOptionsFor, type Terminal } from '../core/terminal.ts';
import { UsageError } from '../core/usage.ts';

/** Groups that are listed by default: with title, legend and the other rows they fit 24 lines. */
const TOP = 10;

export const processesCommand: Command = {
  name: 'processes',
  usage: '[options]',
  description:
    'Lists processes in groups (containers, services, a program with its workers), the largest first. Shared memory counts once, ' +
    'mapped files are apart because the kernel can take them back, and GPU memory is added only where it is host memory.\n' +
    'Figures of other users are exact for root only. Changes nothing, and creates no CUDA context.',
  options: {
    top: {
      type: 'string',
      placeholder: '<n>',
      summary: `How many groups to list: ${LIMITS.top.min} to ${LIMITS.top.max} (default ${TOP})`,
    },
    all: { type: 'boolean', summary: 'List each process of the listed groups, too' },
    'pss-limit': {
      type: 'string',
      placeholder: '<time>',
      summary: `Time limit for exact figures (PSS), the largest processes first: ${durationRange(LIMITS.pssLimitMs)} (default 1s)`,
    },
    watch: { type: 'boolean', summary: 'Repeat, and show what changed since the first reading; q quits' },
    interval: {
      type: 'string',
      placeholder: '<time>',
      summary: `With --watch: ${durationRange(INTERVAL)} (default 2s)`,
    },
    exact: EXACT,
    deadline: DEADLINE,
  },
  examples: [
    { command: 'umaprobe processes', means: 'the ten largest' },
    { command: 'umaprobe processes --top 3 --all', means: 'each worker of the three largest' },
    { command: 'umaprobe processes --watch', means: 'who is growing' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run(context) {
    const { values } = context;
    const settings: ProcessesSettings = {
      top: count(values, 'top', LIMITS.top, 'processes') ?? TOP,
      all: flag(values, 'all'),
      pssLimitMs: duration(values, 'pss-limit', LIMITS.pssLimitMs, 1000, 'processes'),
      deadlineMs: deadline(values, 'processes'),
      exact: flag(values, 'exact'),
    };
    const watches = flag(values, 'watch');
    if (!watches && text(values, 'interval') !== undefined)
      throw new UsageError('--interval needs --watch.', 'processes');
    if (watches) return follow(context, settings, duration(values, 'interval', INTERVAL, 2000, 'processes'));
    const report = await processes(readingOf(settings));
    return {
      exitCode: EXIT.success,
      document: report,
      text: (terminal) => page(report, settings, null, terminal),
    };
  },
};

/** The options of the library. */
function readingOf({ pssLimitMs, deadlineMs }: ProcessesSettings): ProcessesOptions {
  return { pssLimitMs, deadlineMs };
}

interface ProcessesSettings {
  top: number;
  all: boolean;
  pssLimitMs: number;
  deadlineMs: number;
  exact: boolean;
}

type Held = ReadonlyMap<string, number>;

function page(report: ProcessesReport, settings: ProcessesSettings, before: Held | null, terminal: Terminal): string[] {
  const options = renderOptionsFor(terminal, { exact: settings.exact, hostName: hostname() });
  return processesPage(report, { top: settings.top, all: settings.all, before }, options);
}

/** Redraws until q or a signal; where stdout is no terminal, writes page after page or, with --json, line after line. */
async function follow(context: Context, settings: ProcessesSettings, intervalMs: number): Promise<CommandOutcome> {
  const { json, stdin, stdout } = context;
  const interrupt = onInterrupt(() => undefined);
  const quit = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, quit.signal]);
  let latest: ProcessesReport | null = null;
  let before: Held | null = null;
  const draw = (): void => {
    if (latest === null || live === null) return;
    const options = renderOptionsFor(stdout, { exact: settings.exact, hostName: hostname() });
    const hints = [`every ${formatDuration(intervalMs)}`, stdin.isTTY === true ? 'q quits' : 'Ctrl-C quits'];
    const footer = options.paint('dim', truncate(hints.join(dot(options)), options.width));
    live.draw([...page(latest, settings, before, stdout).slice(0, Math.max(1, stdout.rows - 3)), '', footer]);
  };
  const key = (pressed: string): void => {
    if (pressed === 'q' || pressed === 'Q') quit.abort();
  };
  const live = !json && stdout.isTty ? openLive(stdout, stdin, { key, redraw: draw }) : null;
  try {
    while (!signal.aborted) {
      latest = await processes({ ...readingOf(settings), signal });
      before ??= new Map(latest.groups.map(({ held, id }) => [id, held]));
      if (live !== null) draw();
      else {
        stdout.write(json ? `${jsonText(latest)}\n` : `${page(latest, settings, before, stdout).join('\n')}\n\n`);
        await stdout.flushed();
      }
      await sleep(intervalMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    live?.close();
    interrupt.close();
  }
  return finished(interrupt.exitCode() ?? EXIT.success);
}
