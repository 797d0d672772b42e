/** Numbers of a probe in the few characters of a table's cell. */
import { formatBytes, GB, GiB, inGiB, KiB, MiB, UNKNOWN } from '../../base/format.ts';
import type { Times } from '../../types/index.ts';

/** Shown where a step was not run; "unknown" is for failed readings. */
export const NOTHING = '-';

/** "4.12", "35.7", "1545": repeats of a step agree on three to four figures. */
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

/** A column of times with aligned decimal points: as many decimals as the smallest time needs. */
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

/** Whole multiples keep all their digits: rounded, 1088 MiB and 1152 MiB would both be 1.1 GiB. */
const WHOLE: readonly (readonly [number, string])[] = [
  [MiB, 'MiB'],
  [1e6, 'MB'],
];

/** A size as it was most likely typed: with at most two decimals in any unit, else in whole MiB or MB, else rounded. */
export function sizeText(bytes: number): string {
  for (const [unit, name] of UNITS) {
    // 1.1 GB / 1 GB is not exactly 1.1 in binary floating point.
    const hundredths = Math.round((bytes / unit) * 1e8) / 1e6;
    if (hundredths >= 100 && hundredths < 100_000 && Number.isInteger(hundredths)) return `${hundredths / 100} ${name}`;
  }
  for (const [unit, name] of WHOLE)
    if (bytes >= unit && Number.isInteger(bytes / unit)) return `${bytes / unit} ${name}`;
  return formatBytes(bytes);
}

/** The unit of an axis of sizes: GiB where all were most likely typed in binary units, else GB. */
export function sizeUnit(sizes: readonly number[]): { unit: number; name: string; binary: boolean } {
  const binary = sizes.length > 0 && sizes.every((bytes) => Number.isInteger(bytes / MiB));
  return binary ? { unit: GiB, name: 'GiB', binary } : { unit: GB, name: 'GB', binary };
}

/** Change of a counter: "-4.00 GiB", "+12 KiB", "0". */
export function moved(bytes: number | null, unicode: boolean): string {
  if (bytes === null) return UNKNOWN;
  if (bytes === 0) return '0';
  const sign = bytes < 0 ? (unicode ? '−' : '-') : '+';
  const size = Math.abs(bytes);
  return `${sign}${size >= GiB ? `${inGiB(size)} GiB` : formatBytes(size)}`;
}

/** Adds the full stop if it is missing. */
export function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}
