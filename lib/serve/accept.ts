/** Chooses the format of the metrics by the client's Accept header (RFC 9110, 12.5.1). */

import type { MetricsFormat } from '../types/index.ts';

export const CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

interface MediaRange {
  type: string;
  version: string | null;
  /** Preference, 0 to 1; 0: not this one. */
  quality: number;
}

/** OpenMetrics if the client prefers it to text. A client that accepts neither gets text, as other exporters answer. */
export function chosenFormat(accept: string | undefined): MetricsFormat {
  const ranges = (accept ?? '').slice(0, 4096).split(',').map(parseRange);
  const openmetrics = quality(
    ranges.filter(({ version }) => version === null || version === '1.0.0'),
    ['application/openmetrics-text'],
  );
  const text = quality(ranges, ['text/plain', 'text/*', '*/*']);
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/** That of the most specific type that is listed; 0: none is. */
function quality(ranges: readonly MediaRange[], types: readonly string[]): number {
  for (const wanted of types) {
    const found = ranges.filter(({ type }) => type === wanted);
    if (found.length > 0) return Math.max(...found.map((range) => range.quality));
  }
  return 0;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const value = (name: string): string | null =>
    parameters
      .find((part) => part.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .replace(/^"(.*)"$/, '$1') ?? null;
  const q = value('q');
  const isQuality = q !== null && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q);
  return { type, version: value('version'), quality: q === null ? 1 : isQuality ? Number(q) : 0 };
}
