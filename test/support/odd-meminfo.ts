/** Texts of /proc/meminfo that no kernel writes: the field that is then null, and the reason. */
import type { HostMemory } from '../../lib/types/index.ts';

export interface OddLine {
  title: string;
  text: string;
  field: keyof HostMemory;
  why: string;
}

const TOTAL = 'MemTotal:       125506464 kB\n';
const DIGITS = '9'.repeat(400);

function odd(title: string, lines: string, field: keyof HostMemory, why: string): OddLine {
  return { title, text: TOTAL + lines, field, why };
}

export const ODD_LINES: readonly OddLine[] = [
  odd('another unit', 'MemFree:  64194 MB\n', 'free', '/proc/meminfo, MemFree: the line has the unit MB, expected kB'),
  odd('no unit', 'MemFree:  64194\n', 'free', '/proc/meminfo, MemFree: the line has no unit, expected kB'),
  odd(
    'NUL in the number',
    'MemAvailable:  64\x00194 kB\n',
    'available',
    '/proc/meminfo, MemAvailable: the line has "?194 kB" after the number, expected kB',
  ),
  odd(
    '400 digits',
    `Cached:  ${DIGITS} kB\n`,
    'cached',
    '/proc/meminfo, Cached: the line has a number of 400 digits, more than any machine has',
  ),
  odd(
    'just above 2^53 bytes',
    'SwapTotal:  8796093022209 kB\n',
    'swapTotal',
    '/proc/meminfo, SwapTotal: the line has a number of 13 digits, more than any machine has',
  ),
  odd('no line', 'MemFree:  1 kB\n', 'cached', 'this kernel’s /proc/meminfo has no such line'),
  odd(
    'a negative number',
    'Shmem:  -12 kB\n',
    'shmem',
    '/proc/meminfo, Shmem: the line has "-12 kB", expected a number of kB',
  ),
  odd('nothing', 'Shmem:\n', 'shmem', '/proc/meminfo, Shmem: the line has "", expected a number of kB'),
  odd('two lines', 'Cached:  1 kB\nCached:  1 kB\n', 'cached', '/proc/meminfo, Cached: there are 2 such lines'),
  odd(
    'more available than there is',
    'MemAvailable:  125506465 kB\n',
    'available',
    '/proc/meminfo, MemAvailable: 125506465 kB is more than MemTotal, 125506464 kB',
  ),
  odd(
    'more free than there is',
    'MemFree:  900000000 kB\n',
    'free',
    '/proc/meminfo, MemFree: 900000000 kB is more than MemTotal, 125506464 kB',
  ),
  odd(
    'CRLF',
    'MemFree:  12 kB\r\n',
    'free',
    '/proc/meminfo, MemFree: the line has " kB?" after the number, expected kB',
  ),
  odd('cut off in the number', 'MemFree:  1234', 'free', '/proc/meminfo, MemFree: the line has no unit, expected kB'),
  odd(
    'cut off in the unit',
    'MemFree:  1234 k',
    'free',
    '/proc/meminfo, MemFree: the line has the unit k, expected kB',
  ),
  odd(
    'cut off in a count',
    'HugePages_Total:  10',
    'hugePagesTotal',
    '/proc/meminfo, HugePages_Total: the file ends inside this line',
  ),
  odd(
    'a count with a unit',
    'HugePages_Free:  10 kB\n',
    'hugePagesFree',
    '/proc/meminfo, HugePages_Free: the line has "kB" after the number, expected nothing',
  ),
  odd(
    'words',
    'Buffers:  unknown kB\n',
    'buffers',
    '/proc/meminfo, Buffers: the line has "unknown kB", expected a number of kB',
  ),
];

/** Texts whose MemTotal says nothing. */
export const ODD_TOTALS: readonly [title: string, text: string, message: RegExp][] = [
  ['no line', 'MemFree: 1 kB\n', /has no MemTotal line; expected one line "MemTotal: <number> kB" of 16 MiB or more/],
  ['another unit', 'MemTotal:  64194 MB\n', /has the line "MemTotal: 64194 MB"; expected/],
  ['zero', 'MemTotal:  0 kB\n', /has the line "MemTotal: 0 kB"; expected/],
  ['400 digits', `MemTotal:  ${DIGITS} kB\n`, /has the line "MemTotal: 9{49}"; expected/],
  ['NUL', 'X: 1\nMemTotal:  12\x0034 kB\n', /has the line "MemTotal: 12\?34 kB"; expected/],
];
