/** Messages of this page's server, and of no other. */
import type { LiveHistory, LiveReading } from '../../lib/types/index.ts';

export interface Listener {
  machine(reading: LiveReading): void;
  summary(text: string): void;
  /** Tells whether readings come; a browser connects again by itself. */
  connected(isLive: boolean): void;
}

/** Time before a retry if there is no place: the browser itself retries only after a connection that was there. */
const RETRY_MS = 10_000;

export function listen(listener: Listener): void {
  const source = new EventSource('/events');
  source.addEventListener('machine', ({ data }) => {
    listener.connected(true);
    listener.machine(JSON.parse(data as string) as LiveReading);
  });
  source.addEventListener('summary', ({ data }) =>
    listener.summary((JSON.parse(data as string) as { text: string }).text),
  );
  source.addEventListener('error', () => {
    listener.connected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => listen(listener), RETRY_MS);
  });
}

export const unread = (why: string): LiveHistory => ({ sessions: [], why, isLate: false });

/** @param index of the machine, in the order in which the page has them. */
export async function readHistory(index: number): Promise<LiveHistory> {
  const response = await fetch(`/history/${index}`);
  if (!response.ok) return unread(`The server answered ${response.status}.`);
  return (await response.json()) as LiveHistory;
}
