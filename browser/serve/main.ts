/** The script of serve's page: replaces changed parts, draws the history, and shows the age of a reading. */
import { formatDuration } from '../../lib/base/format.ts';
import type { LiveHistory, LivePage, LiveReading } from '../../lib/types/index.ts';
import type { SessionCourse } from '../report/points.ts';
import { addHistory, addPoint, addProcesses, emptyCourse } from './course.ts';
import { HistoryView } from './history.ts';
import { morphInto } from './morph.ts';
import { type Stop, stopsMarkup, stopsOf } from './stops.ts';
import { listen, readHistory, unread } from './stream.ts';

const config = JSON.parse(document.getElementById('report')?.textContent ?? 'null') as LivePage;
const status = document.getElementById('connection') as HTMLElement;
const summary = document.getElementById('summary');
const stops = document.getElementById('stops') as HTMLElement;

/** Charts are drawn no more often: a reader does not see more. */
const DRAW_MS = 2000;
/** Time until a machine that is back, or was late, is asked for its history: the server keeps an answer for 25 s. */
const BACK_MS = 30_000;

class MachineView {
  readonly section: HTMLElement;
  readonly course: SessionCourse = emptyCourse();
  readonly #index: number;
  readonly host: string;
  /** Stops of the last day, as far as they are known. */
  stops: readonly Stop[] = [];
  /** True: these are all stops. */
  knowsStops = false;
  readonly #history: HistoryView;
  #label = '';
  /** Time of the reading, by the clock of this page. null: there is none. */
  #takenMs: number | null = null;
  #drawnMs = Number.NEGATIVE_INFINITY;
  /** True: the course has recordings. */
  #hasHistory = false;
  /** Text about the time before; null: it is in the course. */
  #before: string | null = 'What was recorded before is being read.';

  constructor(index: number, host: string) {
    this.section = document.getElementById(`machine-${index}`) as HTMLElement;
    this.#index = index;
    this.host = host;
    this.#history = new HistoryView(this.section, host);
  }

  take({ ageMs, floor, label, pieces, point, processes, swapTotal }: LiveReading): void {
    const wasGone = this.#label === 'UNKNOWN' || (this.#label !== '' && this.isStale());
    this.#takenMs = performance.now() - ageMs;
    for (const [name, text] of Object.entries(pieces)) morphInto(this.#part(`data-piece="${name}"`), text);
    this.course.floor = floor ?? this.course.floor;
    this.course.swapTotal = swapTotal ?? this.course.swapTotal;
    if (point !== null) addPoint(this.course, point);
    if (processes !== null) addProcesses(this.course, processes);
    if (this.#label !== '' && label !== this.#label) say(`${this.host}: ${label}`);
    this.#label = label;
    this.tick();
    if (performance.now() - this.#drawnMs >= DRAW_MS) this.draw();
    const isGone = label === 'UNKNOWN' || this.isStale();
    if (wasGone && !isGone) setTimeout(() => void this.readHistory(), BACK_MS);
    if (!this.knowsStops || !(wasGone || isGone)) return;
    this.knowsStops = false;
    showStops();
  }

  /** Runs when the page is opened, and when the machine is back: it may have stopped. Repeats a late answer. */
  async readHistory(): Promise<void> {
    const history = await readHistory(this.#index).catch((error: unknown) => unread(String(error)));
    this.#begin(history);
    showStops();
    if (history.isLate) setTimeout(() => void this.readHistory(), BACK_MS);
  }

  #begin({ sessions, why }: LiveHistory): void {
    const time = this.#hasHistory ? 'in which it was gone' : 'before this page';
    this.#before = why === null ? null : `There is no history of the time ${time}. ${why}`;
    this.knowsStops = why === null;
    if (why === null) {
      this.stops = stopsOf(sessions);
      addHistory(this.course, sessions);
      this.#hasHistory = true;
    }
    this.draw();
  }

  /** The age of the reading; an old one is unknown. */
  tick(): void {
    if (this.#takenMs === null) return;
    const ageMs = performance.now() - this.#takenMs;
    const age = ageMs < 60_000 ? `${Math.floor(ageMs / 1000)} s` : formatDuration(ageMs);
    const isStale = ageMs > config.staleMs;
    this.#part('data-age').textContent = `Read ${age} ago.`;
    this.#part('data-known').hidden = isStale;
    const stale = this.#part('data-stale');
    stale.hidden = !isStale;
    stale.textContent = isStale ? `UNKNOWN: the last reading is ${age} old.` : '';
  }

  draw(): void {
    if (this.section.hidden) return;
    this.#drawnMs = performance.now();
    this.#history.draw(this.course, this.#before);
  }

  redraw(): void {
    this.#history.redraw();
  }

  isStale(): boolean {
    return this.#takenMs === null || performance.now() - this.#takenMs > config.staleMs;
  }

  #part(name: string): HTMLElement {
    return this.section.querySelector(`[${name}]`) as HTMLElement;
  }
}

const views = config.hosts.map((host, index) => new MachineView(index, host));

/** Read out by a screen reader. */
function say(text: string): void {
  status.textContent = `Live. ${text}`;
}

let live: boolean | null = null;

listen({
  machine: (reading) => views[reading.index]?.take(reading),
  summary: (text) => summary !== null && morphInto(summary, text),
  connected(isLive) {
    if (isLive === live) return;
    live = isLive;
    if (isLive) say(`A reading every ${formatDuration(config.intervalMs)}.`);
    else status.textContent = 'The connection is lost; the page tries again.';
  },
});

setInterval(() => {
  for (const view of views) view.tick();
  if (summary !== null && views.every((view) => view.isStale())) summary.textContent = 'UNKNOWN: no reading comes.';
}, 1000);

function showStops(): void {
  const text = stopsMarkup(views)?.text ?? '';
  stops.hidden = text === '';
  morphInto(stops, text);
}

for (const view of views) void view.readHistory();

/** Shows one of several machines: that of the address, else the first. */
function select(): void {
  const chosen = views.find(({ section }) => `#${section.id}` === location.hash) ?? views[0];
  for (const view of views) view.section.hidden = view !== chosen;
  chosen?.draw();
  if (location.hash !== '' && chosen !== undefined) chosen.section.scrollIntoView();
}

addEventListener('hashchange', select);
if (views.length > 1) select();

for (const query of ['(prefers-color-scheme: dark)', 'print'])
  matchMedia(query).addEventListener('change', () => {
    for (const view of views) view.redraw();
  });
