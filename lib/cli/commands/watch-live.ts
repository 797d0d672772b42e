/** The picture of watch on a terminal: its keys, its footer, a pause. */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { clean, formatDuration } from '../../base/format.ts';
import { followProcesses } from '../../core/processes/follow.ts';
import { dot, type RenderOptions } from '../../show/render/options.ts';
import { watchPage } from '../../show/render/text/watch.ts';
import { addReading, type History, type Mark, SPANS } from '../../show/render/text/watch-history.ts';
import { entriesOf, type ProcessEntry, type ProcessView, SORTS } from '../../show/render/text/watch-processes.ts';
import { padEnd, truncate } from '../../show/render/text-layout.ts';
import type { ProcessesReport, Snapshot } from '../../types/index.ts';
import type { Context } from '../core/command.ts';
import { type Live, openLive } from '../core/live.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { EndDialog } from './watch-end.ts';

/** Destination of readings. */
export interface Output {
  /** True: it draws on the terminal, to which nothing else may write meanwhile. */
  readonly isPicture: boolean;
  show(snapshot: Snapshot): Promise<void>;
  /** A sentence about this reading that must not be overlooked. */
  alert(text: string, snapshot: Snapshot): void;
  /** Shows how the last program ended. */
  note(text: string): void;
  close(): void;
}

export interface LiveSettings {
  intervalMs: number;
  deadlineMs: number;
  exact: boolean;
  full: boolean;
  /** --alert was given: an alert rings. */
  rings: boolean;
}

const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['space', 'pause; readings go on'],
  ['arrows', 'select a process'],
  ['Enter', 'list the processes of a group'],
  ['k', 'end a process; asks first'],
  ['s', 'sort by the next column'],
  ['/', 'filter by name, command, pid'],
  ['m', 'mark this moment'],
  ['t', 'a longer time in the graph'],
  ['f', 'every counter, or the picture'],
  ['b', 'exact bytes, or GiB'],
  ['?', 'these keys, or the picture'],
  ['q', 'quit'],
];

/** A window with fewer rows has no row of its own for what happened. */
const ROOMY = 32;
/** Less than this shows nothing of processes. */
const ROWS_OF_PROCESSES = 16;
/** Time to wait, so that the first picture has processes, too. */
const FIRST_PROCESSES_MS = 500;
/** Marks that a graph can show. */
const MARKS = 50;
/** Keys of the list that go further. */
const PAGE = 10;
const NONE_SELECTED = 'No process is selected: the arrows select one.';

/** Content of the picture: the latest, or that of the moment when it was paused. */
interface Shown {
  snapshot: Snapshot;
  processes: ProcessesReport | string | null;
  history: History;
}

export function livePicture(context: Context, settings: LiveSettings, quit: () => void): Output {
  const picture = new Picture(context, settings, quit);
  return {
    isPicture: true,
    show: (snapshot) => picture.show(snapshot),
    alert: (text, snapshot) => picture.alert(text, snapshot),
    note: (text) => picture.note(text),
    close: () => picture.close(),
  };
}

class Picture {
  readonly #context: Context;
  readonly #settings: LiveSettings;
  readonly #live: Live;
  readonly #quit: () => void;
  readonly #abort = new AbortController();
  readonly #history: History = { points: [], marks: [] };
  readonly #dialog = new EndDialog(() => this.#draw());
  #snapshot: Snapshot | null = null;
  #processes: ProcessesReport | string | null = null;
  #frozen: Shown | null = null;
  #exact: boolean;
  #full: boolean;
  #help = false;
  /** The filter is being typed. */
  #typing = false;
  #span: (typeof SPANS)[number] = SPANS[0];
  #list: ProcessView = { sort: 'held', filter: '', opened: new Set(), selected: null, before: null };
  #note = '';
  #alert = '';

  constructor(context: Context, settings: LiveSettings, quit: () => void) {
    this.#context = context;
    this.#settings = settings;
    this.#quit = quit;
    this.#exact = settings.exact;
    this.#full = settings.full;
    this.#live = openLive(context.stdout, context.stdin, {
      key: (key) => this.#onKey(key),
      redraw: () => this.#draw(),
    });
  }

  async show(snapshot: Snapshot): Promise<void> {
    const isFirst = this.#snapshot === null;
    this.#snapshot = snapshot;
    addReading(this.#history, snapshot);
    if (this.#frozen === null) this.#draw();
    if (!isFirst) return;
    const { signal } = this.#abort;
    const first = followProcesses(
      { deadlineMs: this.#settings.deadlineMs, signal, wanted: () => this.#context.stdout.rows >= ROWS_OF_PROCESSES },
      (report) => this.#setProcesses(report),
    );
    await Promise.race([first, sleep(FIRST_PROCESSES_MS, undefined, { ref: false })]);
  }

  #setProcesses(report: ProcessesReport | string): void {
    this.#processes = report;
    if (typeof report !== 'string' && this.#list.before === null)
      this.#list = { ...this.#list, before: heldOf(report) };
    if (this.#frozen === null && !this.#abort.signal.aborted) this.#draw();
  }

  alert(text: string, snapshot: Snapshot): void {
    this.#alert = text;
    this.#addMark({ atMs: Date.parse(snapshot.at), text: '!' });
    if (this.#settings.rings) this.#live.ring();
  }

  note(text: string): void {
    this.#note = text;
    this.#draw();
  }

  close(): void {
    this.#dialog.close();
    this.#abort.abort();
    this.#live.close();
  }

  #shown(): Shown | null {
    if (this.#frozen !== null) return this.#frozen;
    if (this.#snapshot === null) return null;
    return { snapshot: this.#snapshot, processes: this.#processes, history: this.#history };
  }

  #draw(): void {
    const shown = this.#shown();
    if (shown === null) return;
    const { stdout } = this.#context;
    const options = this.#options();
    const happened = this.#happened();
    const status = happened !== '' ? [this.#statusLine(happened, options)] : stdout.rows >= ROOMY ? [''] : [];
    // The footer and the cursor take a row each: a full screen would scroll.
    const rows = Math.max(1, stdout.rows - 2 - status.length);
    const { intervalMs } = this.#settings;
    const page = this.#help
      ? helpLines(rows, options)
      : watchPage(
          { ...shown, graph: { intervalMs, span: this.#span }, list: this.#list, full: this.#full },
          options,
          rows,
        );
    // The footer stays where it is.
    const blank = Array.from({ length: rows - page.length }, () => '');
    this.#live.draw([...page, ...blank, ...status, this.#footer(options)]);
  }

  #options(): RenderOptions {
    const { stdout } = this.#context;
    const options = renderOptionsFor(stdout, { exact: this.#exact, hostName: hostname() });
    // A window that is wider than a page of text is filled.
    const width = Math.max(options.width, stdout.windowColumns);
    return { ...options, width, cut: width };
  }

  /** The question, the typed text or the last sentence; '': none. */
  #happened(): string {
    if (this.#typing) return `filter: ${this.#list.filter}_`;
    return this.#dialog.text || this.#alert;
  }

  #statusLine(text: string, options: RenderOptions): string {
    const style = this.#dialog.asks || this.#typing ? 'strong' : 'notice';
    return options.paint(style, truncate(clean(text), this.#context.stdout.windowColumns));
  }

  #footer(options: RenderOptions): string {
    const keys = this.#context.stdin.isTTY === true;
    const hints = [
      ...(this.#frozen === null ? [] : ['PAUSED, space goes on']),
      ...(this.#note === '' ? [] : [this.#note]),
      keys ? '? keys, q quits' : 'Ctrl-C quits',
      ...(keys && !this.#full ? ['arrows select, s sort, / filter, k end'] : []),
      `every ${formatDuration(this.#settings.intervalMs)}`,
    ];
    return options.paint('dim', truncate(hints.join(dot(options)), this.#context.stdout.windowColumns));
  }

  #onKey(key: string): void {
    if (this.#typing) this.#type(key);
    else if (this.#dialog.asks) this.#dialog.answer(key);
    else {
      const act = Object.hasOwn(this.#actions, key) ? this.#actions[key] : undefined;
      if (act === undefined) return;
      act();
    }
    this.#draw();
  }

  readonly #actions: Readonly<Record<string, () => void>> = {
    q: () => this.#quit(),
    Q: () => this.#quit(),
    '?': () => {
      this.#help = !this.#help;
    },
    h: () => {
      this.#help = !this.#help;
    },
    ' ': () => {
      const shown = this.#shown();
      this.#frozen =
        this.#frozen !== null || shown === null
          ? null
          : { ...shown, history: { points: [...shown.history.points], marks: shown.history.marks } };
    },
    f: () => {
      this.#full = !this.#full;
    },
    b: () => {
      this.#exact = !this.#exact;
    },
    t: () => {
      this.#span = SPANS[(SPANS.indexOf(this.#span) + 1) % SPANS.length] ?? SPANS[0];
    },
    s: () => {
      const sort = SORTS[(SORTS.indexOf(this.#list.sort) + 1) % SORTS.length] ?? SORTS[0];
      this.#list = { ...this.#list, sort };
    },
    '/': () => {
      this.#typing = true;
    },
    m: () => this.#markNow(),
    k: () => this.#askToEnd(),
    up: () => this.#select(-1),
    down: () => this.#select(1),
    'page up': () => this.#select(-PAGE),
    'page down': () => this.#select(PAGE),
    enter: () => this.#openGroup(),
    escape: () => {
      this.#list = { ...this.#list, filter: '', selected: null };
      this.#dialog.close();
      this.#alert = '';
    },
  };

  #type(key: string): void {
    const { filter } = this.#list;
    if (key === 'enter' || key === 'escape') {
      this.#typing = false;
      if (key === 'escape') this.#list = { ...this.#list, filter: '' };
    } else if (key === 'backspace') this.#list = { ...this.#list, filter: [...filter].slice(0, -1).join('') };
    else if ([...key].length === 1 && key >= ' ') this.#list = { ...this.#list, filter: filter + key };
  }

  /** A line in the graph; the column of changes counts from here on. */
  #markNow(): void {
    if (this.#snapshot === null) return;
    this.#addMark({ atMs: Date.parse(this.#snapshot.at), text: this.#snapshot.at.slice(11, 19) });
    const report = this.#processes;
    if (report !== null && typeof report !== 'string') this.#list = { ...this.#list, before: heldOf(report) };
  }

  #addMark(mark: Mark): void {
    this.#history.marks = [...this.#history.marks, mark].slice(-MARKS);
  }

  #entries(): ProcessEntry[] {
    const report = this.#shown()?.processes ?? null;
    return report === null || typeof report === 'string' ? [] : entriesOf(report, this.#list);
  }

  #selected(): ProcessEntry | undefined {
    return this.#entries().find(({ key }) => key === this.#list.selected);
  }

  #select(distance: number): void {
    if (this.#alert === NONE_SELECTED) this.#alert = '';
    const entries = this.#entries();
    const at = entries.findIndex(({ key }) => key === this.#list.selected);
    const to = at === -1 ? 0 : Math.min(entries.length - 1, Math.max(0, at + distance));
    this.#list = { ...this.#list, selected: entries[to]?.key ?? null };
  }

  #openGroup(): void {
    const entry = this.#selected();
    if (entry === undefined) return;
    const { id } = entry.group;
    const opened = new Set(this.#list.opened);
    if (!opened.delete(id)) opened.add(id);
    // A process whose group is closed is selected no more.
    this.#list = { ...this.#list, opened, selected: opened.has(id) ? this.#list.selected : id };
  }

  #askToEnd(): void {
    const entry = this.#selected();
    const report = this.#shown()?.processes ?? null;
    if (entry === undefined || report === null || typeof report === 'string') {
      this.#alert = NONE_SELECTED;
      return;
    }
    const name = report.processes.find(({ pid }) => pid === entry.pid)?.name ?? null;
    void this.#dialog.ask({ ...entry, name }, this.#settings.deadlineMs);
  }
}

function heldOf({ groups }: ProcessesReport): ReadonlyMap<string, number> {
  return new Map(groups.map(({ held, id }) => [id, held]));
}

/** The keys, in two columns where a window has fewer rows than keys. */
function helpLines(rows: number, { width }: RenderOptions): string[] {
  const lines = KEYS.map(([key, meaning]) => `${key.padEnd(8)}${meaning}`);
  if (rows >= lines.length) return lines;
  const half = Math.ceil(lines.length / 2);
  const column = Math.floor(width / 2);
  return lines
    .slice(0, half)
    .map((line, index) => `${padEnd(truncate(line, column - 1), column)}${lines[half + index] ?? ''}`)
    .slice(0, rows);
}
