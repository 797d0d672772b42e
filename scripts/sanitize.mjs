// Runs the simulated suite on a build with a sanitizer.
//   node scripts/sanitize.mjs address,undefined|thread [--build-only | vitest's arguments]
// Node itself is not instrumented, so the runtime is preloaded and checks that need an instrumented Node are off.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { capture, findTool, main, root, run } from './run.mjs';

/**
 * Tests that take minutes, because they wait for simulated machines, start many commands or compile, and exercise no
 * native code beyond that of the folders native. library/guard starts ps, which hangs where a sanitizer is preloaded.
 */
const waiting = [
  'docs/*',
  'serve/*',
  '*/library/{report,sweep,layout,probe-kills,profile-kills,profile-peaks,broken-machines,odd-machines,visible-devices,contract,callbacks,ending,stress-others,fit,processes,guard,stress,child,memory,truth,pressure}',
  'run/native/field-series',
  '**/cli/*',
  'sim/library/abi',
];

const suppressions = join(root, 'native', 'tsan.supp');

// detect_leaks=0: V8 and OpenSSL keep memory until the process exits, and all of it would be reported.
// verify_asan_link_order=0: `sim run` preloads the simulated machine before the runtime.
// ignore_noninstrumented_modules=1: Node, V8 and vitest are not checked, only umaprobe's own code.
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
    // Commands exit before threads can race, and the programs of sim/library/world have one thread; the concurrent code is
    // tested in the other files. hung-files waits for deadlines, and its threads are those of native/host.
    without: [...waiting, 'core/library/{journal,cache,descriptors,hung-files}', 'sim/library/world'],
    options: { TSAN_OPTIONS: `halt_on_error=1:ignore_noninstrumented_modules=1:suppressions=${suppressions}` },
  },
};

const compiler = process.env.CXX ?? 'g++';

function runtimeOf(kind) {
  // libstdc++ too: the sanitizer must find __cxa_throw at its start, and Node may not be linked to that library.
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
  if (!existsSync(binary)) throw new Error(`cmake-js did not write ${binary}`);
  return binary;
}

/** Environment in which every process writes its findings to a separate file, because tests may not check them. */
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
  if (rest.includes('--build-only')) return;
  const reports = join(root, kind.folder, 'reports');
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports);
  const without = kind.without.map((file) => `test/sim/${file}.test.ts`).join(' ');
  const vitest = [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--project',
    'sim',
    '--project',
    'slow',
    // The project slow has tests of the real kernel, too: many commands, and of native code what test/sim has.
    'test/sim/',
    ...rest,
  ];
  // setarch -R: the thread sanitizer of GCC 12 does not work with address space randomisation.
  const env = { ...environment(kind, binary, reports), UMAPROBE_TEST_WITHOUT: without };
  const suite = run('setarch', ['-R', process.execPath, ...vitest], { env });
  const failure = await suite.then(() => null).catch((error) => error);
  const found = readdirSync(reports);
  for (const file of found) console.error(readFileSync(join(reports, file), 'utf8'));
  if (found.length > 0) throw new Error(`the ${name} sanitizer reported problems in ${found.length} processes`);
  if (failure) throw failure;
});
