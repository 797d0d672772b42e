/** Values without a neighbour: a line between values does not show them. */
import type uPlot from 'uplot';
import type { Line } from './lines.ts';

/** Places of values that have no value before or after them. */
export function isolatedPlaces(values: readonly (number | null)[]): number[] {
  const has = (place: number): boolean => (values[place] ?? null) !== null;
  return values.flatMap((_, place) => (has(place) && !has(place - 1) && !has(place + 1) ? [place] : []));
}

/** Points for the values of a line that it does not show otherwise. */
export function isolatedPoints(line: () => Line | undefined): uPlot.Series.Points {
  if (line()?.bare === true) return { show: false };
  return { show: true, size: 6, filter: () => isolatedPlaces(line()?.values ?? []) };
}
