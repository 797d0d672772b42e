/** Numbers of a probe in the few characters of a table's cell. */
import { formatBytes, GB, GiB, inGiB, KiB, MiB, UNKNOWN } from '../base/format.ts';
import type { Times } from '../types/index.ts';

/** Where nothing was measured: nothing was asked for, so nothing is unknown. */
export const NOTHING = '-';

/** "4.12", "35.7", "1545": three to four figures are what repeats of the same step agree on. */
export function ms(value: number | null): string {
  return figures(value);
}

function figures(value: number | null): string {
  if (value === null) return NOTHING;
  if (value === 0) return '0';
  if (value < 0.01) return value.toPrecision(1);
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

export function median(times: Times | null): string {
  return ms(times === null ? null : times.median);
}

/** A column of times with its decimal points below one another: as many decimals as the smallest one needs. */
export function msColumn(values: readonly (number | null)[]): string[] {
  const known = values.filter((value) => value !== null && value > 0);
  const least = known.length === 0 ? 0 : Math.min(...known.map(Number));
  const decimals = least < 10 ? 2 : least < 100 ? 1 : 0;
  return values.map((value) => (value === null ? NOTHING : value.toFixed(decimals)));
}

/** 10^9 bytes a second. */
export function rate(gbPerSecond: number | null): string {
  return figures(gbPerSecond);
}

/** A size as it was most likely typed: at most two decimals in a unit of either family, else whole MiB or MB, else rounded. */
export function sizeWords(bytes: number): string {
  for (const [unit, name] of UNITS) {
    // 1.1 GB / 1 GB is 1.1 only nearly.
    const hundredths = Math.round((bytes / unit) * 1e8) / 1e6;
    if (hundredths >= 100 && hundredths < 100_000 && Number.isInteger(hundredths)) return `${hundredths / 100} ${name}`;
  }
  for (const [unit, name] of WHOLE)
    if (bytes >= unit && Number.isInteger(bytes / unit)) return `${bytes / unit} ${name}`;
  return formatBytes(bytes);
}

const UNITS: readonly (readonly [number, string])[] = [
  [GB * 1000, 'TB'],
  [GiB * 1024, 'TiB'],
  [GB, 'GB'],
  [GiB, 'GiB'],
  [1e6, 'MB'],
  [MiB, 'MiB'],
  [1e3, 'KB'],
  [KiB, 'KiB'],
];

/** Sizes in steps of these are told apart by all their digits: 1088 MiB and 1152 MiB would both be 1.1 GiB. */
const WHOLE: readonly (readonly [number, string])[] = [
  [MiB, 'MiB'],
  [1e6, 'MB'],
];

/** "-4.00 GiB", "+12 KiB", "0": how a counter moved. */
export function moved(bytes: number | null, unicode: boolean): string {
  if (bytes === null) return UNKNOWN;
  if (bytes === 0) return '0';
  const sign = bytes < 0 ? (unicode ? '−' : '-') : '+';
  const size = Math.abs(bytes);
  return `${sign}${size >= GiB ? `${inGiB(size)} GiB` : formatBytes(size)}`;
}

/** "a floor" → "A floor", at the beginning of a line. Names of files, functions and fields stay as they are. */
export function capital(words: string): string {
  return /^[a-z]+[ ,:;]/.test(words) ? `${words.charAt(0).toUpperCase()}${words.slice(1)}` : words;
}

/** With its full stop, where whoever wrote it left that to us. */
export function sentence(words: string): string {
  return words === '' || /[.!?]$/.test(words) ? words : `${words}.`;
}
