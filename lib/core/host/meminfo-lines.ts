/** The reason why a counter of /proc/meminfo is null: the binary returns NaN for it, and the text has the reason. */

import type { Failure } from '../../base/errors.ts';
import { type Provenance, reason } from '../../base/facts.ts';
import { clean } from '../../base/format.ts';
import type { HostMemory } from '../../types/index.ts';
import { MEMINFO, MEMINFO_KEYS } from '../../types/meminfo.ts';
import { type KernelFiles, readSeldom } from './files.ts';
import { HOST_MEMORY_FIELDS } from './meminfo.ts';

const NO_SUCH_LINE = `this kernel’s ${MEMINFO} has no such line`;

const COUNTS: ReadonlySet<keyof HostMemory> = new Set(['hugePagesTotal', 'hugePagesFree']);

/** Sizes that may exceed MemTotal: swap, address space, compressed pages. The binary has the same list. */
const BESIDE_TOTAL: ReadonlySet<keyof HostMemory> = new Set([
  'vmallocUsed',
  'committedAs',
  'zswap',
  'swapTotal',
  'swapFree',
  'hugePageSize',
]);

/**
 * Records the reason of each counter that is null. The file is read again for this, at most once a second: most kernels
 * lack some lines, and a reading must stay fast.
 */
export async function recordMissingLines(files: KernelFiles, host: HostMemory, provenance: Provenance): Promise<void> {
  provenance.record('host', MEMINFO);
  const fields = HOST_MEMORY_FIELDS.filter((field) => host[field] === null);
  if (fields.length === 0) return;
  const { sources } = await readSeldom(files, `why ${fields}`, 'a second', async (own) => {
    const [text] = await files.read([MEMINFO]);
    for (const field of fields)
      own.record(`host.${field}`, typeof text === 'string' ? whyNull(text, field) : reason(text as Failure));
    return {};
  });
  Object.assign(provenance.sources, sources);
}

/** Returns why the binary found no number for `field` in this text of /proc/meminfo. */
export function whyNull(text: string, field: keyof HostMemory): string {
  const key = MEMINFO_KEYS[field];
  const values = valuesOf(text, key);
  const [value] = values;
  if (value === undefined) return NO_SUCH_LINE;
  const why = values.length > 1 ? `there are ${values.length} such lines` : whyUnreadable(value, COUNTS.has(field));
  if (why !== null) return `${MEMINFO}, ${key}: ${why}`;
  // A count has no unit, which would show that its digits are complete.
  if (COUNTS.has(field) && !text.endsWith('\n') && text.endsWith(`${key}:${value}`))
    return `${MEMINFO}, ${key}: the file ends inside this line`;
  const [total = ''] = valuesOf(text, MEMINFO_KEYS.total);
  if (!COUNTS.has(field) && !BESIDE_TOTAL.has(field) && numberOf(value) > numberOf(total))
    return `${MEMINFO}, ${key}: ${value.trim()} is more than MemTotal, ${total.trim()}`;
  return `${MEMINFO}, ${key}: the line could not be read, but could a moment later`;
}

/** The texts after the colon of each line with this key. */
function valuesOf(text: string, key: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${key}:`))
    .map((line) => line.slice(key.length + 1));
}

function numberOf(value: string): number {
  return Number.parseInt(value, 10);
}

/** 2^53 bytes: the largest size that a JavaScript number holds exactly. The binary has the same limit. */
const MOST_KB = 2 ** 43;

/** Longest text of a line that a reason quotes. */
const QUOTED = 24;

/** null: the kernel writes lines like this one. */
function whyUnreadable(value: string, isCount: boolean): string | null {
  const { digits = '', rest = '' } = /^ *(?<digits>\d*)(?<rest>.*)$/s.exec(value)?.groups ?? {};
  const expected = isCount ? 'a number' : 'a number of kB';
  if (digits === '') return `the line has ${quoted(value.trim())}, expected ${expected}`;
  if (Number(digits) > MOST_KB) return `the line has a number of ${digits.length} digits, more than any machine has`;
  if (isCount) return rest === '' ? null : `the line has ${quoted(rest.trim())} after the number, expected nothing`;
  if (rest === ' kB') return null;
  if (rest === '') return 'the line has no unit, expected kB';
  return /^ [A-Za-z]+$/.test(rest)
    ? `the line has the unit ${rest.trim()}, expected kB`
    : `the line has ${quoted(rest)} after the number, expected kB`;
}

function quoted(text: string): string {
  // A control character that stands here is the reason, so it must be visible.
  const shown = clean([...text].map((c) => (c < ' ' ? '?' : c)).join(''));
  return `"${shown.length > QUOTED ? `${shown.slice(0, QUOTED)}…` : shown}"`;
}
