/** What does `import 'umaprobe'` add to a bare Node, in time and in memory? */

import { execFileSync } from 'node:child_process';
import { limit, quantile } from './measure.mjs';

// The same script with and without the import: what is measured is umaprobe, not the ES module loader's own start.
const script = (body) => `const from = process.hrtime.bigint(); ${body}; const took = Number(process.hrtime.bigint() - from);
  globalThis.gc?.(); const status = (await import('node:fs')).readFileSync('/proc/self/status', 'utf8');
  console.log(took, Number(/RssAnon:\\s+(\\d+)/.exec(status)[1]) + Number(/RssFile:\\s+(\\d+)/.exec(status)[1]))`;
const measure = (body) => {
  const [nanoseconds, kB] = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script(body)], { encoding: 'utf8' }).split(' ').map(Number);
  return { milliseconds: nanoseconds / 1e6, kB };
};
const runs = 15;
const bare = [];
const ours = [];
for (let at = 0; at < runs; at++) {
  bare.push(measure("await import('node:events')"));
  ours.push(measure("await import('umaprobe')"));
}
const median = (list, key) => quantile(list.map((entry) => entry[key]), 0.5);
limit({ question: 'import adds time', value: median(ours, 'milliseconds') - median(bare, 'milliseconds'), unit: 'ms', atMost: 5 });
limit({ question: 'import adds memory', value: ((median(ours, 'kB') - median(bare, 'kB')) * 1024) / 1e6, unit: 'MB', atMost: 4 });
