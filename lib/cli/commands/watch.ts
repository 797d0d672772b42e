import { hostname } from 'node:os';
import { clean, formatBytes, formatDuration, jsonText } from '../../base/format.ts';
import { SOME_BYTES } from '../../base/limits.ts';
import { bytes, type CheckedOf, flag, integer, milliseconds } from '../../base/options.ts';
import { headroom } from '../../core/memory/headroom.ts';
import { watch } from '../../core/snapshot/watch.ts';
import { readingLine } from '../../show/render/text/watch.ts';
import type { Level, Snapshot } from '../../types/index.ts';
import { type Command, type Context, finished, type OptionValues } from '../core/command.ts';
import { CONDITION_TEXT, parseCondition } from '../core/condition.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { isGiven } from '../core/options.ts';
import { type Program, programOf, runProgram } from '../core/program.ts';
import { DEADLINE, EXACT, intervalOf, memGetInfo } from '../core/reading-options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { optionTable, ownOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import type { Output } from './watch-live.ts';

const NAME = 'watch';

const OPTIONS = {
  intervalMs: intervalOf(1000, 'Time between readings'),
  count: integer({ min: 1, default: null, help: 'Stop after n readings' }),
  until: typedText((word) => parseCondition(word, 'until', NAME), {
    default: null,
    placeholder: '<condition>',
    help: `Exit when it holds: ${CONDITION_TEXT}; commas mean and`,
  }),
  // A week.
  timeoutMs: milliseconds({
    min: 1000,
    max: 168 * 3_600_000,
    default: null,
    help: 'With --until: give up after this time',
  }),
  exec: flag({
    help: 'Run the command after -- when --until holds, else at each change of the verdict; without a shell, the document on stdin',
  }),
  alertBytes: bytes({
    ...SOME_BYTES,
    default: null,
    help: 'Ring, or write a line to stderr, when less than this is available, and at each change of the verdict',
  }),
  full: flag({ help: 'Every counter, as many as the window has rows for' }),
  ...EXACT,
  memGetInfo: memGetInfo('auto', 'How to read cudaMemGetInfo'),
  ...DEADLINE,
};

type WatchSettings = CheckedOf<typeof OPTIONS> & { program: Program | null };

export const watchCommand: Command = {
  name: NAME,
  usage: '[options] [-- command…]',
  description:
    'Takes a reading at every interval and redraws in place; ? shows the keys. If stdout is not a terminal, writes one line per reading, ' +
    'and with --json one snapshot document per line (JSON Lines).\n' +
    'Does not read cudaMemGetInfo by default: each reading would create a CUDA context in a child process.\n' +
    'Exit code with --until: 0 when the condition holds, 1 if it did not within --timeout or --count.',
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe watch', means: 'until you press q' },
    { command: "umaprobe watch --until 'safe>=60GiB' --timeout 10m", means: 'wait until 60 GiB can be loaded' },
    { command: 'umaprobe watch --exec -- notify-send "GPU memory"', means: 'run it when the verdict changes' },
    { command: 'umaprobe watch --interval 5s --count 12 --json', means: 'a minute of readings for a script' },
    { command: 'umaprobe watch --interval 250ms | tee memory.log', means: 'lines for a log' },
  ],
  arguments: { min: 0, max: 0, afterDashes: true, bareWord: { option: 'interval', pattern: /^\d/ } },
  async run(context) {
    return finished(await follow(context, settingsOf(context)));
  },
};

function settingsOf({ env, rest, values }: Context): WatchSettings {
  if (isGiven(values, 'timeout') && !isGiven(values, 'until'))
    throw new UsageError('--timeout limits --until, which is missing; --count ends after a number of readings.');
  return { ...ownOptions(values, OPTIONS, NAME), program: program(values, rest, env) };
}

function program(values: OptionValues, rest: readonly string[], env: NodeJS.ProcessEnv): Program | null {
  if (values.exec !== true) {
    if (rest.length === 0) return null;
    throw new UsageError(`The command after "--" needs --exec: umaprobe watch --exec -- ${rest.map(clean).join(' ')}.`);
  }
  if (rest.length > 0) return programOf(rest, env);
  throw new UsageError('--exec needs a command after "--": umaprobe watch --exec -- notify-send memory.');
}

/** Follows the machine, and restores terminal and signals at the end. Returns the exit code. */
async function follow(context: Context, settings: WatchSettings): Promise<number> {
  const { timeoutMs, until } = settings;
  const abort = new AbortController();
  let stop: (exitCode: number) => void = () => undefined;
  const stopped = new Promise<number>((resolve) => {
    stop = resolve;
  });
  const interrupt = onInterrupt((exitCode) => stop(exitCode));
  const output = await createOutput(context, settings, () => stop(UNMET));
  const timer = timeoutMs === null ? undefined : setTimeout(() => stop(UNMET), timeoutMs);
  let exitCode: number;
  try {
    const changes = new Changes(context, settings, output, abort.signal);
    exitCode = await Promise.race([readings(settings, output, changes, abort.signal), stopped]);
  } finally {
    clearTimeout(timer);
    abort.abort();
    output.close();
    interrupt.close();
  }
  if (exitCode !== UNMET) return exitCode;
  if (until === null) return EXIT.success;
  const limit = timeoutMs === null ? '' : ` within ${formatDuration(timeoutMs)}`;
  context.stderr.write(`umaprobe: ${clean(until.text)} did not hold${limit}.\n`);
  return EXIT.negative;
}

/** No exit code: the end came before the condition, or there is none. */
const UNMET = -1;

/** Prints readings until the condition holds or their number is reached. Returns the exit code, or UNMET. */
async function readings(
  settings: WatchSettings,
  output: Output,
  changes: Changes,
  signal: AbortSignal,
): Promise<number> {
  const { deadlineMs, intervalMs, memGetInfo, until } = settings;
  const alerts = new Alerts(settings.alertBytes);
  let left = settings.count ?? Number.POSITIVE_INFINITY;
  for await (const snapshot of watch({ intervalMs, memGetInfo, deadlineMs, hiddenDevices: true, signal })) {
    for (const sentence of alerts.see(snapshot)) output.alert(sentence, snapshot);
    await output.show(snapshot);
    if (until?.holds(snapshot) === true) return changes.run(snapshot);
    if (until === null) changes.see(snapshot);
    left -= 1;
    if (left === 0) break;
  }
  await changes.idle();
  return UNMET;
}

/** Runs the program: at each change of the verdict, or once. */
class Changes {
  readonly #context: Context;
  readonly #program: Program | null;
  readonly #output: Output;
  readonly #signal: AbortSignal;
  #level: Level | null = null;
  /** The last reading whose verdict differed while the program was running. */
  #waiting: { snapshot: Snapshot; previous: Level } | null = null;
  #running: Promise<void> | null = null;

  constructor(context: Context, { program }: WatchSettings, output: Output, signal: AbortSignal) {
    this.#context = context;
    this.#program = program;
    this.#output = output;
    this.#signal = signal;
  }

  see(snapshot: Snapshot): void {
    const { level } = snapshot.judgement;
    const previous = this.#level;
    this.#level = level;
    if (this.#program === null || previous === null || previous === level) return;
    if (this.#running !== null) {
      // Changes while it runs are told once, from the verdict that it was told last.
      this.#waiting = { snapshot, previous: this.#waiting?.previous ?? previous };
      return;
    }
    this.#start(snapshot, previous);
  }

  #start(snapshot: Snapshot, previous: Level): void {
    this.#running = this.run(snapshot, previous).then(() => {
      this.#running = null;
      const next = this.#waiting;
      this.#waiting = null;
      if (next !== null && !this.#signal.aborted) this.#start(next.snapshot, next.previous);
    });
  }

  /** Answers the program's exit code; 0 without one. */
  async run(snapshot: Snapshot, previous: Level | null = null): Promise<number> {
    if (this.#program === null) return EXIT.success;
    const { file } = this.#program;
    try {
      const env = { ...this.#context.env, ...variables(snapshot, previous) };
      const quiet = this.#output.isPicture;
      const code = await runProgram(this.#program, { document: snapshot, env, quiet, signal: this.#signal });
      this.#output.note(`${clean(file)} ended with ${code}`);
      return code;
    } catch (error) {
      this.#output.note(clean((error as Error).message));
      return EXIT.negative;
    }
  }

  /** Resolves when no program is running any more. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }
}

/** Variables for a script that does not read JSON. Empty: unknown. */
function variables(snapshot: Snapshot, previous: Level | null): Record<string, string> {
  const { because: sentence, level, safe } = snapshot.judgement;
  const { afterReclaim, immediate } = headroom(snapshot);
  return {
    UMAPROBE_VERDICT: level,
    UMAPROBE_PREVIOUS_VERDICT: previous ?? '',
    UMAPROBE_SENTENCE: sentence,
    UMAPROBE_SAFE: String(safe.bytes ?? ''),
    UMAPROBE_FREE: String(immediate ?? ''),
    UMAPROBE_AVAILABLE: String(afterReclaim ?? ''),
    UMAPROBE_AT: snapshot.at,
  };
}

/** The picture's code is loaded on a terminal only. */
async function createOutput(context: Context, settings: WatchSettings, quit: () => void): Promise<Output> {
  const { json, stderr, stdout } = context;
  const { alertBytes, deadlineMs, exact, full, intervalMs } = settings;
  if (!json && stdout.isTty) {
    const { livePicture } = await import('./watch-live.ts');
    return livePicture(context, { intervalMs, deadlineMs, exact, full, rings: alertBytes !== null }, quit);
  }
  return {
    isPicture: false,
    async show(snapshot) {
      const line = json
        ? jsonText(snapshot)
        : readingLine(snapshot, renderOptionsFor(stdout, { exact, hostName: hostname() }));
      stdout.write(`${line}\n`);
      await stdout.flushed();
    },
    // A line has its verdict itself.
    alert: (text) => void (alertBytes !== null && stderr.write(`umaprobe: ${clean(text)}\n`)),
    note(message) {
      if (!/ ended with 0$/.test(message)) stderr.write(`umaprobe: ${message}\n`);
    },
    close: () => undefined,
  };
}

export class Alerts {
  readonly #belowBytes: number | null;
  #level: Level | null = null;
  #isBelow = false;

  /** @param belowBytes null: no size was named. */
  constructor(belowBytes: number | null) {
    this.#belowBytes = belowBytes;
  }

  /** Sentences about what has changed since the reading before; an unknown size is below none. */
  see(snapshot: Snapshot): string[] {
    const { because, level } = snapshot.judgement;
    const sentences: string[] = [];
    if (this.#level !== null && this.#level !== level)
      sentences.push(`The verdict is ${level}, and was ${this.#level}: ${because}`);
    this.#level = level;
    const available = headroom(snapshot).afterReclaim;
    const isBelow = this.#belowBytes !== null && available !== null && available < this.#belowBytes;
    if (isBelow && !this.#isBelow)
      sentences.push(`Available memory is ${formatBytes(available)}, below ${formatBytes(this.#belowBytes)}.`);
    this.#isBelow = isBelow;
    return sentences.map((sentence) => `${snapshot.at.slice(11, 19)} UTC: ${sentence}`);
  }
}
