// Loads the addon, which is built once, in every supported version of Node, as Node-API promises. The command says on
// an older Node, in one line, which one it needs.
//   node scripts/smoke-nodes.mjs [20 22 …]
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { nodeBinary } from './fetch-programs.mjs';
import { readJson } from './packages.mjs';
import { capture, main, root } from './run.mjs';
import { writeTotals } from './skip-reporter.mjs';

/** Versions that are too old; 18 is Ubuntu 24.04's. */
const OLD = ['12', '16', '18'];
const majors = process.argv.length > 2 ? process.argv.slice(2) : [...OLD, '20', '22', '24', '26'];

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

/** The same of a version that is too old. */
function refusal(node, version) {
  const needed = /^>=(\d+\.\d+)\.0$/.exec(readJson(join(root, 'package.json')).engines.node)?.[1];
  const line = `umaprobe needs Node ${needed} or later, and this is ${version.slice(1)}. `;
  const { status, stderr, stdout } = spawnSync(node, ['dist/cli.js', 'fit', '--json'], { cwd: root, encoding: 'utf8' });
  if (status !== 2) return `the exit code is ${status}, not 2`;
  if (!stderr.startsWith(line) || stderr.trimEnd().includes('\n'))
    return `stderr is not one line that begins "${line}": ${stderr}`;
  if (JSON.parse(stdout).error.message !== stderr.trimEnd()) return `--json says ${stdout}`;
  // Node 12 cannot parse what is imported.
  if (version.startsWith('v12.')) return null;
  const importing = "import('umaprobe').catch((error) => console.log(error.message))";
  const imported = capture(node, ['-e', importing]);
  if (`${imported.trimEnd()}. ` !== line) return `import('umaprobe') says ${imported}`;
  const required = capture(node, ['-e', "try { require('umaprobe') } catch (error) { console.log(error.message) }"]);
  return required.includes(` needs Node ${needed}, `) ? null : `require('umaprobe') says ${required}`;
}

/** Text of three readings on stderr. Node 24 warns about a pause below 0, in a process that was late. */
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

const fine = (major) =>
  OLD.includes(major) ? 'refused in one line' : 'loads, snapshot --sim gb10 (simulated) and hostMemorySync() answer';

await main(async () => {
  await bootstrap();
  const failed = [];
  for (const major of majors) {
    const node = nodeBinary(process.arch, major);
    const version = capture(node, ['--version']).trim();
    let problem;
    try {
      problem = OLD.includes(major) ? refusal(node, version) : smoke(node);
    } catch (error) {
      problem = error.message;
    }
    console.log(`node ${version}: ${problem ?? fine(major)}`);
    if (problem !== null) failed.push({ name: `node ${version}`, text: problem });
  }
  writeTotals({ passed: majors.length - failed.length, skipped: 0, failures: failed, problems: [] });
  if (failed.length > 0) throw new Error(`failed on ${failed.map(({ name }) => name).join(', ')}`);
});
