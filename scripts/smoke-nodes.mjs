// Loads the addon, which is built once, in every supported version of Node, as Node-API promises.
//   node scripts/smoke-nodes.mjs [20 22 …]
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { bootstrap } from './bootstrap.mjs';
import { nodeBinary } from './fetch-programs.mjs';
import { capture, main, root } from './run.mjs';

const majors = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];

/** The problem with one version of Node, as a sentence; null: none. */
function smoke(node) {
  const snapshot = JSON.parse(
    capture(node, ['dist/cli.js', 'snapshot', '--memgetinfo', 'child', '--sim', 'gb10', '--json']),
  );
  if (snapshot.simulated !== 'gb10') return `simulated is ${snapshot.simulated}, not gb10`;
  if (snapshot.devices[0]?.cuda?.free !== snapshot.host.free) return 'cuda.free is not host.free on the simulated GB10';
  const code = "console.log(typeof require('umaprobe').hostMemorySync().total)";
  const warnings = warningsOfWatch(node);
  if (warnings !== '') return `watch printed: ${warnings}`;
  const type = capture(node, ['--no-warnings', '-e', code]).trim();
  return type === 'number' ? null : `require('umaprobe').hostMemorySync().total is a ${type}`;
}

/** What three readings print on stderr. Node 24 warns about a pause below 0, in a process that was late. */
function warningsOfWatch(node) {
  const late =
    'data:text/javascript,setInterval(() => { const end = Date.now() + 150; while (Date.now() < end); }, 1).unref()';
  const args = [
    '--import',
    late,
    'dist/cli.js',
    'watch',
    '--interval',
    '100ms',
    '--count',
    '5',
    '--json',
    '--sim',
    'gb10',
  ];
  return spawnSync(node, args, { cwd: root, encoding: 'utf8', timeout: 60_000 }).stderr.trim();
}

await main(async () => {
  await bootstrap();
  const failed = [];
  for (const major of majors) {
    const node = nodeBinary(process.arch, major);
    const version = capture(node, ['--version']).trim();
    let problem;
    try {
      problem = smoke(node);
    } catch (error) {
      problem = error.message;
    }
    console.log(`node ${version}: ${problem ?? 'loads, snapshot --sim gb10 (simulated) and hostMemorySync() answer'}`);
    if (problem !== null) failed.push(version);
  }
  const totals = {
    passed: majors.length - failed.length,
    failed: failed.length,
    skipped: 0,
    failures: failed.map((version) => `node ${version}`),
  };
  if (process.env.UMAPROBE_TEST_TOTALS) appendFileSync(process.env.UMAPROBE_TEST_TOTALS, `${JSON.stringify(totals)}\n`);
  if (failed.length > 0) throw new Error(`failed on ${failed.join(', ')}`);
});
