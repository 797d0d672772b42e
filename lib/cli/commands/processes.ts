import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration, jsonText } from '../../base/format.ts';
import { type CheckedOf, flag, integer } from '../../base/options.ts';
import { processes } from '../../core/processes/index.ts';
import { PROCESSES, type ProcessesOptions } from '../../core/processes/options.ts';
import { dot } from '../../show/render/options.ts';
import { processesPage } from '../../show/render/text/processes.ts';
import { truncate } from '../../show/render/text-layout.ts';
import type { ProcessesReport } from '../../types/index.ts';
import { type Command, type CommandOutcome, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { openLive } from '../core/live.ts';
import { isGiven } from '../core/options.ts';
import { EXACT, intervalOf } from '../core/reading-options.ts';
import { renderOptionsFor, type Terminal } from '../core/terminal.ts';
import { optionTable, ownOptions, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

const OWN = {
  // Ten groups fit 24 lines with title, legend and the other rows.
  top: integer({ min: 0, max: 100_000, default: 10, help: 'How many groups to list' }),
  all: flag({ help: 'List each process of the listed groups, too' }),
  watch: flag({ help: 'Repeat, and show what changed since the first reading; q quits' }),
  intervalMs: intervalOf(2000, 'With --watch'),
  ...EXACT,
};

type ProcessesSettings = CheckedOf<typeof OWN>;

export const processesCommand: Command = {
  name: 'processes',
  description:
    'Lists processes in groups (containers, services, a program with its workers), the largest first. Shared memory counts once, ' +
    'mapped files are apart because the kernel can take them back, and GPU memory is added only where it is host memory.\n' +
    'Figures of other users are exact for root only. Changes nothing, and creates no CUDA context.',
  options: optionTable(OWN, PROCESSES),
  examples: [
    { command: 'umaprobe processes', means: 'the ten largest' },
    { command: 'umaprobe processes --top 3 --all', means: 'each worker of the three largest' },
    { command: 'umaprobe processes --watch', means: 'who is growing' },
  ],
  async run(context) {
    const { values } = context;
    const settings = ownOptions(values, OWN, 'processes');
    const reading = typedOptions(values, PROCESSES, 'processes');
    if (settings.watch) return follow(context, settings, reading);
    if (isGiven(values, 'interval')) throw new UsageError('--interval needs --watch.');
    const report = await processes(reading);
    return {
      exitCode: EXIT.success,
      document: report,
      text: (terminal) => page(report, settings, null, terminal),
    };
  },
};

type Held = ReadonlyMap<string, number>;

function page(report: ProcessesReport, settings: ProcessesSettings, before: Held | null, terminal: Terminal): string[] {
  const options = renderOptionsFor(terminal, { exact: settings.exact, hostName: hostname() });
  return processesPage(report, { top: settings.top, all: settings.all, before }, options);
}

/** Redraws until q or a signal; where stdout is no terminal, writes page after page or, with --json, line after line. */
async function follow(
  context: Context,
  settings: ProcessesSettings,
  reading: ProcessesOptions,
): Promise<CommandOutcome> {
  const { intervalMs } = settings;
  const { json, stdin, stdout } = context;
  const interrupt = onInterrupt();
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
      latest = await processes({ ...reading, signal });
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
