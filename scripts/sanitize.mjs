// Runs the simulated suite on a build with a sanitizer: node scripts/sanitize.mjs address,undefined|thread [vitest's arguments]
// Node itself is not instrumented, so the runtime is preloaded, and what only an instrumented Node could answer is off.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { capture, findTool, main, root, run } from './run.mjs';

/** Minutes of waiting for simulated machines in which the binary does nothing that native/* does not do in seconds. */
const waiting = ['docs/docs', 'library/{report,sweep,layout,probe-kills}', 'cli/{sweep,layout,stress}'];

const suppressions = join(root, 'native', 'tsan.supp');

// Leaks: V8 and OpenSSL keep memory until the process ends, all of it would be reported. Link order: `sim run` preloads
// the simulated machine before the runtime. Modules: of Node, V8 and vitest only what our own code does is judged.
const kinds = {
  'address,undefined': {
    folder: 'build-asan',
    library: 'libasan.so',
    without: waiting,
    options: {
      ASAN_OPTIONS: 'halt_on_error=1:detect_leaks=0:verify_asan_link_order=0',
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  },
  thread: {
    folder: 'build-tsan',
    library: 'libtsan.so',
    // Command lines end before threads meet: what is concurrent is in the other files.
    without: [...waiting, 'docs/examples', 'cli/*', 'library/{stress,journal,cache}'],
    options: { TSAN_OPTIONS: `halt_on_error=1:ignore_noninstrumented_modules=1:suppressions=${suppressions}` },
  },
};

const compiler = process.env.CXX ?? 'g++';

function runtimeOf(kind) {
  // libstdc++ too: the sanitizer wraps __cxa_throw, which it must find when it starts, and Node need not be linked to it.
  return [kind.library, 'libstdc++.so.6'].map((name) => {
    const path = capture(compiler, [`-print-file-name=${name}`]).trim();
    if (path === name) throw new Error(`${compiler} has no ${name}: install the sanitizer runtimes of your compiler`);
    return path;
  });
}

async function build(name, kind) {
  const cmake = join(root, 'node_modules', 'cmake-js', 'bin', 'cmake-js');
  const options = ['compile', '--out', kind.folder, '--config', 'RelWithDebInfo', `--CDSANITIZE=${name}`];
  await run(process.execPath, [cmake, ...options]);
  const binary = join(root, kind.folder, 'RelWithDebInfo', 'umaprobe.node');
  if (!existsSync(binary)) throw new Error(`cmake-js left no ${binary}`);
  return binary;
}

/** The environment in which every process of the run writes what it finds to a file of its own: a test may not look. */
function environment(kind, binary, reports) {
  const options = Object.entries(kind.options).map(([name, value]) => [
    name,
    `${value}:log_path=${join(reports, 'of')}`,
  ]);
  return {
    ...process.env,
    ...Object.fromEntries(options),
    UMAPROBE_BINARY: binary,
    LD_PRELOAD: runtimeOf(kind).join(':'),
  };
}

await main(async () => {
  const [name, ...rest] = process.argv.slice(2);
  const kind = kinds[name];
  if (!kind) throw new Error(`expected ${Object.keys(kinds).join(' or ')}, got ${name ?? 'nothing'}`);
  if (!findTool('cmake')) throw new Error('no cmake on PATH (Debian: apt-get install cmake)');
  await bootstrap();
  const binary = await build(name, kind);
  const reports = join(root, kind.folder, 'reports');
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports);
  const without = kind.without.flatMap((file) => ['--exclude', `test/sim/${file}.test.ts`]);
  const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'sim', ...without, ...rest];
  // setarch -R: the thread sanitizer of GCC 12 wants the addresses that a kernel without randomisation gives.
  const ended = run('setarch', ['-R', process.execPath, ...vitest], { env: environment(kind, binary, reports) });
  const failure = await ended.then(() => null).catch((error) => error);
  const found = readdirSync(reports);
  for (const file of found) console.error(readFileSync(join(reports, file), 'utf8'));
  if (found.length > 0) throw new Error(`the ${name} sanitizer reported in ${found.length} processes`);
  if (failure) throw failure;
});
