/** What does `import 'umaprobe'` add to a bare Node, in time and in memory? */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { limit, quantile } from './measure.mjs';

const script = fileURLToPath(new URL('plain/import-one.mjs', import.meta.url));
const measure = (specifier) => {
  const [nanoseconds, kB] = execFileSync(process.execPath, ['--expose-gc', script, specifier], { encoding: 'utf8' })
    .split(' ')
    .map(Number);
  return { milliseconds: nanoseconds / 1e6, kB };
};
const runs = 21;
const bare = [];
const ours = [];
for (let at = 0; at < runs; at++) {
  bare.push(measure('./empty.mjs'));
  ours.push(measure('umaprobe'));
}
const median = (list, key) =>
  quantile(
    list.map((entry) => entry[key]),
    0.5,
  );
limit({
  question: 'import adds time',
  value: median(ours, 'milliseconds') - median(bare, 'milliseconds'),
  unit: 'ms',
  atMost: 4,
});
limit({
  question: 'import adds memory',
  value: ((median(ours, 'kB') - median(bare, 'kB')) * 1024) / 1e6,
  unit: 'MB',
  atMost: 4,
});
