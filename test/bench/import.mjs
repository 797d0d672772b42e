/** What does `import 'umaprobe'` add to a bare Node, in time and in memory? */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limit, plainPath, quantile, temporaryFolder } from './measure.mjs';

const measure = (specifier, script = plainPath('import-one.mjs')) => {
  const [nanoseconds, kB] = execFileSync(process.execPath, ['--expose-gc', script, specifier], { encoding: 'utf8' })
    .split(' ')
    .map(Number);
  return { milliseconds: nanoseconds / 1e6, kB };
};

/** A program beside which an empty package is installed: Node takes time to find any package by its name. */
function programWithEmptyPackage() {
  const folder = temporaryFolder();
  const packageFolder = join(folder, 'node_modules', 'empty');
  mkdirSync(packageFolder, { recursive: true });
  writeFileSync(join(packageFolder, 'package.json'), '{ "name": "empty", "type": "module", "exports": "./index.js" }');
  writeFileSync(join(packageFolder, 'index.js'), '');
  copyFileSync(plainPath('import-one.mjs'), join(folder, 'import-one.mjs'));
  return join(folder, 'import-one.mjs');
}

const runs = 21;
const script = programWithEmptyPackage();
const bare = [];
const empty = [];
const ours = [];
for (let at = 0; at < runs; at++) {
  bare.push(measure('./empty.mjs'));
  empty.push(measure('empty', script));
  ours.push(measure('umaprobe'));
}
const median = (list, key) =>
  quantile(
    list.map((entry) => entry[key]),
    0.5,
  );
const bareMs = median(bare, 'milliseconds');
const ofNode = median(empty, 'milliseconds') - bareMs;
console.log(`     an empty package adds ${ofNode.toFixed(2)} ms`);
limit({
  question: 'import adds time',
  value: median(ours, 'milliseconds') - bareMs,
  unit: 'ms',
  atMost: 8,
});
limit({
  question: 'import adds memory',
  value: ((median(ours, 'kB') - median(bare, 'kB')) * 1024) / 1e6,
  unit: 'MB',
  atMost: 4,
});
