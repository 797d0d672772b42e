/** Lists of machines as Slurm writes them. Pure. */

/** Names of one part at most: a range can have a billion. */
const MOST_NAMES = 64;

/**
 * The names in "spark-[1-2,07-10],login". A part that is not understood stays as it is, and is no name that ssh takes:
 * the path of a file, a range that runs backwards.
 */
export function namesOfNodelist(list: string): string[] {
  return list.split(/,(?![^[]*\])/).flatMap((part) => (part === '' ? [] : (namesOfPart(part) ?? [part])));
}

function namesOfPart(part: string): string[] | null {
  const [, before, ranges, after] = /^([^[\]]*)\[([\d,-]+)\](.*)$/s.exec(part) ?? [];
  if (before === undefined || ranges === undefined || after === undefined) return /[[\]]/.test(part) ? null : [part];
  const numbers = numbersOf(ranges.split(','));
  const ends = namesOfPart(after);
  if (numbers === null || ends === null || numbers.length * ends.length > MOST_NAMES) return null;
  return numbers.flatMap((number) => ends.map((end) => `${before}${number}${end}`));
}

/** "1-2", "07-10" with as many digits as its start has. */
function numbersOf(ranges: readonly string[]): string[] | null {
  const numbers: string[] = [];
  for (const range of ranges) {
    const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range) ?? [];
    const count = Number(last) - Number(first) + 1;
    if (first === '' || count < 1 || numbers.length + count > MOST_NAMES) return null;
    for (let index = 0; index < count; index++) numbers.push(`${Number(first) + index}`.padStart(first.length, '0'));
  }
  return numbers;
}
