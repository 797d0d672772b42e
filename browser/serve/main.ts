/** The script of serve's page: replaces what a reading changed, draws the history, and says how old a reading is. */
import { formatDuration } from '../../lib/base/format.ts';
import type { LiveHistory, LivePage, LiveReading } from '../../lib/types/index.ts';
import type { Course } from '../report/points.ts';
import { addHistory, addPoint, addProcesses, emptyCourse } from './course.ts';
import { HistoryView } from './history.ts';
import { morphInto } from './morph.ts';
import { type Stop, stopsMarkup, stopsOf } from './stops.ts';
import { listen, readHistory } from './stream.ts';

const config = JSON.parse(document.getElementById('report')?.textContent ?? 'null') as LivePage;
const status = document.getElementById('connection') as HTMLElement;
const summary = document.getElementById('summary');
const stops = document.getElementById('stops') as HTMLElement;

/** Charts are drawn no more often: a reader does not see more. */
const DRAW_MS = 2000;

class MachineView {
  readonly section: HTMLElement;
  readonly course: Course = emptyCourse();
  readonly host: string;
  /** Of the last day; null: not known. */
  stops: readonly Stop[] | null = null;
  readonly #history: HistoryView;
  #label = '';
  /** When the reading was taken, by the clock of this page. null: there is none. */
  #takenMs: number | null = null;
  #drawnMs = Number.NEGATIVE_INFINITY;
  /** Of the time before this page; null: it is in the course. */
  #before: string | null = 'What was recorded before is being read.';

  constructor(index: number, host: string) {
    this.section = document.getElementById(`machine-${index}`) as HTMLElement;
    this.host = host;
    this.#history = new HistoryView(this.section, host);
  }

  take({ ageMs, floor, label, pieces, point, processes, swapTotal }: LiveReading): void {
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
  }

  begin({ sessions, why }: LiveHistory): void {
    this.#before = why === null ? null : `There is no history of the time before this page. ${why}`;
    this.stops = why === null ? stopsOf(sessions) : null;
    addHistory(this.course, sessions);
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

for (const [index, view] of views.entries())
  void readHistory(index)
    .catch((error: unknown) => ({ sessions: [], why: String(error) }))
    .then((history) => {
      view.begin(history);
      const text = stopsMarkup(views)?.text ?? '';
      stops.hidden = text === '';
      morphInto(stops, text);
    });

/** Of several machines one is shown: that of the address, else the first. */
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
