/**
 * Runs the benchmarks, each in a process of its own: `node test/bench/run.mjs [name…]`. Both sides of a ratio are measured
 * in the same run on the same machine. Exit 1 when a goal was missed.
 */

import { spawnSync } from 'node:child_process';

const all = [
  'host-memory',
  'mem-get-info',
  'snapshot',
  'import',
  'shell',
  'standalone',
  'leak',
  'alloc',
  'guard',
  'guard-program',
  'cache',
  'headers',
  'sweep',
  'stress',
  'explain',
  'processes',
  'record',
  'record-read',
  'cluster',
  'serve',
];
/** V8's space for young objects grows with the live objects between awaits, up to 48 MB, which is no leak. */
const FLAGS = { leak: ['--min-semi-space-size=1', '--max-semi-space-size=1'] };
const chosen = process.argv.length > 2 ? process.argv.slice(2) : all;
let missed = 0;
for (const name of chosen) {
  console.log(`\n# ${name}`);
  const code = `import(${JSON.stringify(new URL(`${name}.mjs`, import.meta.url).href)}).then(async () => {
    const { results } = await import(${JSON.stringify(new URL('measure.mjs', import.meta.url).href)});
    process.exitCode = results.some((result) => result.held === false) ? 1 : 0;
  })`;
  const { status } = spawnSync(
    process.execPath,
    [...(FLAGS[name] ?? []), '--expose-gc', '--input-type=module', '-e', code],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) missed++;
}
process.exitCode = missed === 0 ? 0 : 1;
