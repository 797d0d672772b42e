/** Every public number has a unit and a source, in its own doc comment or in that of the type around it; the name may give the unit. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { publicNumbers } from '../../../scripts/public-numbers.mjs';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const UNIT_IN_NAME =
  /(bytes|ms|us|percent|hz|milliwatt|kbps|gbps|count|persecond|perhour|pids?|uid)$|[a-z](C|W)$|Bytes|PerGiB/i;
const UNIT =
  /\b(bytes?|kB|[KMG]iB|milliseconds|ms|microseconds|seconds?|percent|shares? of|0 to \d+|0 or 1|k?Hz|MHz|watts|milliwatts|degrees Celsius|bits|(number|count)s? of|counts|tokens|position|index|ordinal|process ids?|offset|line|exit code|version|ten-thousandths|factor|exponent|(in|own) `?units?`?|rows|nvml\w+_t|0:? (is )?(off|none))\b/i;
/** A file or counter of the kernel, a library, a calculation, a measurement, a document, or the caller. */
const SOURCE =
  /\/proc|\/sys\b|\bvm\.|debugfs|\bCUDA|\bcuda[A-Z]|NVML|\bnvml[A-Z]|\b(Mem(Free|Available|Total)|Swap(Total|Free)|PSI)\b|cgroup|memory\.\w|\(2\)|\b(sums?|less|divided|measured|calculated|counted)\b|−|÷|\bclock\b|\bsnapshot\b|`from`|\bjournal\b/i;
/** Who gave it, of a whole type. */
const GIVER = /the caller|\bgiven\b|\bgives\b|command line/i;

const lacking = (numbers: Awaited<ReturnType<typeof publicNumbers>>) =>
  numbers.flatMap(({ around, isOption, name, own, place }) => {
    const hasUnit = UNIT_IN_NAME.test(name) || [own, ...around].some((text) => UNIT.test(text));
    const isGiven = isOption || [own, ...around].some((text) => GIVER.test(text));
    // A comment around a number speaks of it where it has a unit, too.
    const hasSource =
      isGiven || SOURCE.test(own) || around.some((text: string) => UNIT.test(text) && SOURCE.test(text));
    const lacks = [...(hasUnit ? [] : ['unit']), ...(hasSource ? [] : ['source'])];
    return lacks.length === 0 ? [] : [`${place} ${name}: no ${lacks.join(', no ')}`];
  });

it('says unit and source of every public number', async () => {
  const numbers = await publicNumbers();
  expect(numbers.length).toBeGreaterThan(700);
  expect(lacking(numbers)).toEqual([]);
}, 180_000);

it('finds a number without them, at any depth', async () => {
  const file = join(temporaryFolder('numbers'), 'types.ts');
  writeFileSync(
    file,
    `/** Bytes, from /proc/meminfo. */
export interface Whole { total: number; parts: { free: number | null }[] }
export interface Bare { total: bigint; lists: readonly number[]; inner: { limitBytes: number | null } }
/** Given by the caller. */
export interface Asked {
  /** Number of tries. */
  tries?: number;
  times?: number;
}
export declare function answers(): Promise<{ count: number; answer: 42 }>;
`,
  );
  const found = lacking(await publicNumbers([file]));
  expect(found.map((line) => line.replace(/^.*:\d+ /, '')).toSorted()).toEqual([
    'count: no source',
    'limitBytes: no source',
    'lists: no unit, no source',
    'times: no unit',
    'total: no unit, no source',
  ]);
});
