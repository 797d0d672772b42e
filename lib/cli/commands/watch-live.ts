/** The picture of watch on a terminal: its keys, its footer, a pause. */
import { hostname } from 'node:os';
import { formatDuration } from '../../base/format.ts';
import { dot } from '../../render/options.ts';
import { createHistory, watchPage } from '../../render/text/watch.ts';
import { hanging, truncate } from '../../render/text-layout.ts';
import type { Snapshot } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { type Live, openLive } from '../core/live.ts';
import { renderOptionsFor } from '../core/terminal.ts';

/** Where readings go. */
export interface Output {
  /** Whether it draws on the terminal, which nothing else may write to meanwhile. */
  readonly isPicture: boolean;
  show(snapshot: Snapshot): Promise<void>;
  /** How the last program ended. */
  note(text: string): void;
  close(): void;
}

const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['space', 'pause the picture, or go on; readings continue'],
  ['f', 'every counter, or the short picture'],
  ['b', 'exact bytes, or GiB'],
  ['?', 'these keys, or the picture'],
  ['q', 'quit'],
];

/** A window with fewer rows has no blank line above the footer. */
const ROOMY = 19;

export function livePicture(
  { stdout, stdin }: Context,
  settings: { intervalMs: number; exact: boolean; full: boolean },
  quit: () => void,
): Output {
  const history = createHistory();
  let { exact, full } = settings;
  let latest: Snapshot | null = null;
  /** The reading that is shown while the picture is paused. */
  let frozen: Snapshot | null = null;
  let help = false;
  let note = '';
  const draw = (): void => {
    const snapshot = frozen ?? latest;
    if (snapshot === null) return;
    const options = renderOptionsFor(stdout, { exact, hostName: hostname() });
    const keys = stdin.isTTY === true ? '? keys, q quits' : 'Ctrl-C quits';
    const hints = [
      ...(frozen === null ? [] : ['PAUSED, space goes on']),
      ...(note === '' ? [] : [note]),
      keys,
      `every ${formatDuration(settings.intervalMs)}`,
      `this reading took ${formatDuration(snapshot.durationMs)}`,
    ];
    const footer = options.paint('dim', truncate(hints.join(dot(options)), options.width));
    // The footer and the cursor take a row each: a full screen would scroll.
    const blank = stdout.rows >= ROOMY ? [''] : [];
    const rows = Math.max(1, stdout.rows - 2 - blank.length);
    const page = help
      ? KEYS.flatMap(([key, meaning]) => hanging(key.padEnd(7), meaning, options.width)).slice(0, rows)
      : watchPage(snapshot, history.lines(options), options, rows, { full });
    live.draw([...page, ...blank, footer]);
  };
  const onKey: Readonly<Record<string, () => void>> = {
    q: quit,
    Q: quit,
    '?': () => {
      help = !help;
    },
    h: () => {
      help = !help;
    },
    ' ': () => {
      frozen = frozen === null ? latest : null;
    },
    f: () => {
      full = !full;
    },
    b: () => {
      exact = !exact;
    },
  };
  const live: Live = openLive(stdout, stdin, {
    key(key) {
      const change = Object.hasOwn(onKey, key) ? onKey[key] : undefined;
      if (change === undefined) return;
      change();
      draw();
    },
    redraw: draw,
  });
  return {
    isPicture: true,
    async show(snapshot) {
      latest = snapshot;
      history.add(snapshot);
      if (frozen === null) draw();
    },
    note(message) {
      note = message;
      draw();
    },
    close: () => live.close(),
  };
}
