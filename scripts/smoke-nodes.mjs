// Loads the addon, which is built once, in every supported version of Node, as Node-API promises.
//   node scripts/smoke-nodes.mjs [20 22 …]
import { appendFileSync } from 'node:fs';
import { bootstrap } from './bootstrap.mjs';
import { nodeBinary } from './fetch-node.mjs';
import { capture, main } from './run.mjs';

const majors = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];

/** The problem with one version of Node, as a sentence; null: none. */
function smoke(node) {
  const snapshot = JSON.parse(capture(node, ['dist/cli.js', 'snapshot', '--sim', 'gb10', '--json']));
  if (snapshot.simulated !== 'gb10') return `simulated is ${snapshot.simulated}, not gb10`;
  if (snapshot.devices[0]?.cuda?.free !== snapshot.host.free) return 'cuda.free is not host.free on the simulated GB10';
  const code = "console.log(typeof require('umaprobe').hostMemorySync().total)";
  const type = capture(node, ['--no-warnings', '-e', code]).trim();
  return type === 'number' ? null : `require('umaprobe').hostMemorySync().total is a ${type}`;
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
  const totals = { passed: majors.length - failed.length, failed: failed.length, skipped: 0 };
  if (process.env.UMAPROBE_TEST_TOTALS) appendFileSync(process.env.UMAPROBE_TEST_TOTALS, `${JSON.stringify(totals)}\n`);
  if (failed.length > 0) throw new Error(`failed on ${failed.join(', ')}`);
});
