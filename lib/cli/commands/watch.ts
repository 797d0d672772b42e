import { constants, hostname } from 'node:os';
import { formatDuration, jsonText } from '../../base/format.ts';
import { dot } from '../../render/options.ts';
import { createHistory, readingLine, watchPage } from '../../render/text/watch.ts';
import { truncate } from '../../render/text-layout.ts';
import { watch } from '../../snapshot/watch.ts';
import type { Snapshot } from '../../types/index.ts';
import { type Command, type Context, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { type Live, openLive } from '../core/live.ts';
import { choice, count, duration, flag } from '../core/options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { DEADLINE, deadline, MEMGETINFO } from './snapshot.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export const watchCommand: Command = {
  name: 'watch',
  summary: 'Shows the snapshot live: memory, what can be allocated, processes, pressure',
  usage: '[options]',
  description:
    'Takes a reading at every interval and redraws in place; q quits. If stdout is not a terminal, writes one line per reading, ' +
    'and with --json one snapshot document per line (JSON Lines).\n' +
    'Does not read cudaMemGetInfo by default: each reading would create a CUDA context in a child process.',
  options: {
    interval: {
      type: 'string',
      placeholder: '<time>',
      summary: 'Time between readings: 100ms to 1h (default 1s)',
    },
    count: { type: 'string', placeholder: '<n>', summary: 'Stop after n readings' },
    bytes: { type: 'boolean', summary: 'Exact bytes instead of GiB and GB' },
    memgetinfo: {
      type: 'string',
      placeholder: '<needed|child|auto|never>',
      summary: 'How to read cudaMemGetInfo (default auto)',
    },
    deadline: DEADLINE,
  },
  examples: [
    { command: 'umaprobe watch', means: 'until you press q' },
    { command: 'umaprobe watch --interval 5s --count 12 --json', means: 'a minute of readings for a script' },
    { command: 'umaprobe watch --interval 250ms | tee memory.log', means: 'lines for a log' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run(context) {
    const { values } = context;
    const settings: Settings = {
      intervalMs: duration(values, 'interval', 100, 3_600_000, 1000, 'watch'),
      readings: count(values, 'count', 1, 1_000_000_000, 'watch') ?? Number.POSITIVE_INFINITY,
      memGetInfo: choice(values, 'memgetinfo', MEMGETINFO, 'auto', 'watch'),
      deadlineMs: deadline(values, 'watch'),
      exact: flag(values, 'bytes'),
    };
    return finished(await follow(context, settings));
  },
};

interface Settings {
  intervalMs: number;
  readings: number;
  memGetInfo: (typeof MEMGETINFO)[number];
  deadlineMs: number;
  exact: boolean;
}

/** Prints readings until the count is reached, `q` is pressed or a signal arrives. Returns the exit code. */
async function follow(context: Context, settings: Settings): Promise<number> {
  const abort = new AbortController();
  let stop: (exitCode: number) => void = () => undefined;
  const stopped = new Promise<number>((resolve) => {
    stop = resolve;
  });
  const handlers = SIGNALS.map((signal) => [signal, () => stop(128 + constants.signals[signal])] as const);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  const output = createOutput(context, settings, () => stop(EXIT.success));
  const { intervalMs, memGetInfo, deadlineMs } = settings;
  const readings = watch({ intervalMs, memGetInfo, deadlineMs, hiddenDevices: true, signal: abort.signal });
  try {
    for (let seen = 0; seen < settings.readings; seen++) {
      // A reading may hang until its deadline: quitting does not wait for it.
      const next = await Promise.race([readings.next(), stopped]);
      if (typeof next === 'number') return next;
      if (next.done === true) break;
      const shown = await Promise.race([output.show(next.value), stopped]);
      if (typeof shown === 'number') return shown;
    }
    return EXIT.success;
  } finally {
    abort.abort();
    output.close();
    for (const [signal, handler] of handlers) process.removeListener(signal, handler);
  }
}

interface Output {
  show(snapshot: Snapshot): Promise<void>;
  close(): void;
}

function createOutput(context: Context, settings: Settings, quit: () => void): Output {
  const { json, stdout } = context;
  if (!json && stdout.isTty) return livePicture(context, settings, quit);
  const { exact } = settings;
  return {
    async show(snapshot) {
      const line = json
        ? jsonText(snapshot)
        : readingLine(snapshot, renderOptionsFor(stdout, { exact, hostName: hostname() }));
      stdout.write(`${line}\n`);
      await stdout.flushed();
    },
    close: () => undefined,
  };
}

function livePicture({ stdout, stdin }: Context, settings: Settings, quit: () => void): Output {
  const history = createHistory();
  let latest: Snapshot | null = null;
  const draw = (): void => {
    if (latest === null) return;
    const options = renderOptionsFor(stdout, { exact: settings.exact, hostName: hostname() });
    const hints = [
      `every ${formatDuration(settings.intervalMs)}`,
      `this reading took ${formatDuration(latest.durationMs)}`,
      stdin.isTTY === true ? 'q quits' : 'Ctrl-C quits',
    ];
    const footer = options.paint('dim', truncate(hints.join(dot(options)), options.width));
    // A row each for the blank line, the footer and the cursor: a full screen would scroll.
    live.draw([...watchPage(latest, history.lines(options), options, stdout.rows - 3), '', footer]);
  };
  const live: Live = openLive(stdout, stdin, {
    key: (key) => {
      if (key === 'q' || key === 'Q') quit();
    },
    redraw: draw,
  });
  return {
    async show(snapshot) {
      latest = snapshot;
      history.add(snapshot);
      draw();
    },
    close: () => live.close(),
  };
}
