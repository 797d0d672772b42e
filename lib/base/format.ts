/**
 * Numbers as text, and back. Bytes are shown in GiB (2^30, the unit of the kernel and CUDA); totals also in GB (10^9,
 * the unit of data sheets). The two differ by 9 for the memory of a Spark, and mixing them up looks like 9 GB lost.
 */

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const TiB = 1024 * GiB;
export const GB = 1e9;

/** Printed for a number that could not be read. Never "0". */
export const UNKNOWN = 'unknown';

/** "119.69": GiB with two decimals, for columns whose heading says GiB. */
export function inGiB(bytes: number | null): string {
  return bytes === null ? UNKNOWN : fixed(bytes / GiB, 2);
}

/** "128.52": GB with two decimals, for columns whose heading says GB. */
export function inGB(bytes: number | null): string {
  return bytes === null ? UNKNOWN : fixed(bytes / GB, 2);
}

/** "119.7 GiB", "44.1 MiB", "512 B": the fitting binary unit, for running text. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return UNKNOWN;
  const size = Math.abs(bytes);
  if (size < KiB) return `${bytes} B`;
  // 1,048,575 B is 1.0 MiB, not 1024.0 KiB: switch to the next unit as soon as it would round to 1.0.
  const reaches = (unit: number): boolean => size >= unit * (1 - 0.05 / 1024);
  if (reaches(TiB)) return `${fixed(bytes / TiB, 2)} TiB`;
  if (reaches(GiB)) return `${fixed(bytes / GiB, 1)} GiB`;
  if (reaches(MiB)) return `${fixed(bytes / MiB, 1)} MiB`;
  return `${fixed(bytes / KiB, 1)} KiB`;
}

/** "119.69 GiB (128.52 GB)", "64.0 MiB (67.1 MB)", "512 B": both units, for totals and sentences. */
export function formatBoth(bytes: number | null): string {
  if (bytes === null) return UNKNOWN;
  if (Math.abs(bytes) >= GiB) return `${inGiB(bytes)} GiB (${inGB(bytes)} GB)`;
  return Math.abs(bytes) < MiB ? formatBytes(bytes) : `${formatBytes(bytes)} (${(bytes / 1e6).toFixed(1)} MB)`;
}

/** "128,518,619,136": every digit. */
export function formatCount(count: number | null): string {
  if (count === null) return UNKNOWN;
  // toLocaleString() takes 8 ms on its first call.
  return Number.isSafeInteger(count)
    ? String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
    : count.toLocaleString('en-US', { maximumFractionDigits: 20 });
}

/** "12.3 %". The argument is a percentage already: 0.30 means 0.3 %. */
export function formatPercent(percent: number | null, digits = 1): string {
  return percent === null ? UNKNOWN : `${fixed(percent, digits)} %`;
}

/** "56.8": `part` in percent of `whole`, for columns whose heading says %. */
export function share(part: number, whole: number): string {
  return whole > 0 ? fixed((part / whole) * 100, 1) : UNKNOWN;
}

/** "0.42 ms", "35 ms", "1.50 s", "3 min 20 s", "2 h 5 min". */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${fixed(ms, 2)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${fixed(ms / 1000, 2)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** "500ms", "1.5s", "2m", "1h" → milliseconds; null for anything else. A number without a unit is rejected. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)$/i.exec(text.trim());
  if (match === null) return null;
  const [, number = '', unit = ''] = match;
  const ms = Number(number) * (DURATION_MS[unit.toLowerCase()] ?? Number.NaN);
  return Number.isFinite(ms) ? ms : null; // 400 digits
}

/** "100ms", "1m", "24h": a time as it is typed, for limits in help and messages. */
export function typedDuration(ms: number): string {
  const [unit, factor] = (
    [
      ['h', 3_600_000],
      ['m', 60_000],
      ['s', 1000],
    ] as const
  ).find(([, size]) => ms > 0 && ms % size === 0) ?? ['ms', 1];
  return `${ms / factor}${unit}`;
}

/** "2MiB", "64GiB": a size as it is typed. */
export function typedSize(bytes: number): string {
  const [unit, factor] = (
    [
      ['GiB', GiB],
      ['MiB', MiB],
      ['KiB', KiB],
    ] as const
  ).find(([, size]) => bytes > 0 && bytes % size === 0) ?? ['B', 1];
  return `${bytes / factor}${unit}`;
}

const SIZE_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: KiB,
  mib: MiB,
  gib: GiB,
  tib: TiB,
};

/**
 * "8GB" → 8·10^9, "8GiB" → 8·2^30, "4096B" → 4096 bytes; null for anything else. A number without a unit is rejected:
 * "60" was hardly ever meant as 60 bytes. "8G", which could be either, is rejected, too. "0" is the same in every unit.
 */
export function parseSize(text: string): number | null {
  if (text.trim() === '0') return 0;
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?i?b)$/i.exec(text.trim());
  if (match === null) return null;
  const [, number = '', unit = ''] = match;
  const factor = SIZE_BYTES[unit.toLowerCase()];
  // There is no half byte: the unit was mistyped.
  if (factor === 1 && number.includes('.')) return null;
  const bytes = factor === undefined ? Number.NaN : Number(number) * factor;
  if (!Number.isFinite(bytes)) return null;
  const whole = Math.round(bytes);
  return Number.isSafeInteger(whole) ? whole : null;
}

/** toFixed() that prints a tiny negative number as "0.00", not "-0.00". */
function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.startsWith('-') && Number(text) === 0 ? text.slice(1) : text;
}

/** "1 file", "12,345 files". */
export function fileCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'file' : 'files'}`;
}

/**
 * Characters that must not reach a terminal: control characters (also those above U+007F, which many terminals obey) and
 * marks that change the text direction.
 */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text from outside with a question mark in place of each character that could control a terminal. */
export function printable(text: string): string {
  return text.replace(CONTROL, '?');
}

/** The same on one line (a process name, a loader's message). */
export function clean(text: string): string {
  return printable(text.replace(/\s{2,}|[^\S ]/g, ' '));
}

/** A JSON document in which such characters are escaped: JSON.stringify leaves those above U+001F as they are. */
export function jsonText(document: object, indent?: number): string {
  return JSON.stringify(document, null, indent).replace(CONTROL, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** "tasks wait" → "Tasks wait", to begin a sentence. Names of files, functions and fields stay as they are. */
export function capitalized(text: string): string {
  return /^[a-z]+[ ,:;]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
}
