/** Stops of the last day on all machines of the page: recordings that nobody ended, and the memory at that time. */
import { formatBytes } from '../../lib/base/format.ts';
import { html, type Markup } from '../../lib/show/render/html/markup.ts';
import { scrollTable } from '../../lib/show/render/html/scroll-table.ts';
import { dayAndTime, endOf, timeOfDay } from '../../lib/show/render/record-facts.ts';
import type { RecordedSession } from '../../lib/types/index.ts';

/** The end of one recording. */
export interface Stop {
  at: string;
  label: string;
  sentence: string;
  lowest: RecordedSession['lowestAvailable'];
  /** Largest holder at that time; null: there is no list. */
  largest: string | null;
}

/** Ends that the recorder or a shutdown has written are none. */
export function stopsOf(sessions: readonly RecordedSession[]): Stop[] {
  return sessions.flatMap((session) => {
    const { label, sentence, style } = endOf(session);
    const [process] = session.lowestProcesses?.processes ?? [];
    const largest =
      process === undefined ? null : `${process.name ?? 'unnamed'} ${process.pid}, ${formatBytes(process.held)}`;
    return style === 'ok' ? [] : [{ at: session.lastAt, label, sentence, lowest: session.lowestAvailable, largest }];
  });
}

/** Known stops of one machine. */
export interface MachineStops {
  host: string;
  stops: readonly Stop[];
  /** True: these are all stops. */
  knowsStops: boolean;
}

/** @param machines in the order of the page. null: nothing has to be said. */
export function stopsMarkup(machines: readonly MachineStops[]): Markup | null {
  const rows = machines
    .flatMap(({ host, stops }, index) => stops.map((stop) => ({ host, index, stop })))
    .sort((a, b) => (a.stop.at < b.stop.at ? 1 : -1));
  if (rows.length === 0 && machines.length === 1) return null;
  const unknown = machines.filter(({ knowsStops }) => !knowsStops).map(({ host }) => host);
  const nothing = rows.length === 0 && unknown.length < machines.length;
  return html`<h2>Stops of the last day</h2>${rows.length === 0 ? null : table(rows)}${
    nothing ? html`<p>No recording ended by one.</p>` : null
  }${unknown.length === 0 ? null : html`<p>Not known of ${unknown.join(', ')}.</p>`}`;
}

function table(rows: readonly { host: string; index: number; stop: Stop }[]): Markup {
  return scrollTable(
    'Stops of the last day',
    'Recordings that nobody ended, newest first, with the lowest memory before.',
    html`<tr><th scope="col">machine</th><th scope="col" class="left">ended</th><th scope="col">last reading, UTC</th><th scope="col">lowest MemAvailable</th><th scope="col" class="left">held the most then</th><th scope="col" class="left">what happened</th></tr>`,
    rows.map(({ host, index, stop: { at, label, largest, lowest, sentence } }) => {
      const least = lowest === null ? 'unknown' : `${formatBytes(lowest.bytes)} at ${timeOfDay(lowest.at)}`;
      return html`<tr><th scope="row"><a href="#machine-${index}">${host}</a></th><td class="left"><strong>${label}</strong></td><td>${dayAndTime(at)}</td><td>${least}</td><td class="left">${largest ?? 'unknown'}</td><td class="reason">${sentence}</td></tr>`;
    }),
  );
}
