// lib/*.ts → dist/*.js, in few files: Node's loader takes about 0.5 ms per module, and as much for each 10 kB.
// What `import 'umaprobe'` loads is one chunk, and what the door of a wing exports is one more. The code of a snapshot is
// another, loaded by the first snapshot, with one that the guard needs as well; what every command needs besides, and the
// plain command's screen, are one each; each other command is a separate chunk, loaded when it is used.
//
// browser/report/*.ts → dist/report/, the script and style that are embedded in a report's page; browser/serve/*.ts → dist/serve/,
// the script of serve's page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { bundleValidators } from './machine-validator.mjs';
import { PACKAGE_DOORS } from './rooms.mjs';
import { root } from './run.mjs';

const lib = join(root, 'lib');
/** The chunk that `import 'umaprobe'` loads. */
const CORE =
  /^lib\/(base\/errors|core\/(host\/meminfo|snapshot\/(mem-get-info|memory|watch)|(cache|doctor|layout|processes|snapshot|stress|sweep)\/index))\.ts$/;
/** Modules that several of the others need, such as a snapshot and the guard. */
const SHARED =
  /^lib\/(base\/(folder|inherited|named-path|objects|signals)|core\/(host\/(files|meminfo-within|process)|memory\/(floor|guard-rules|pressure)|native\/machine-environment|snapshot\/settled))\.ts$/;

/** Modules that the first reading needs besides: one file instead of twenty. The rules of memory/ come whole. */
const READING =
  /^lib\/(base\/format|types\/kinds|core\/memory\/.*|core\/host\/(cgroup|driver|files|kernel|meminfo-lines|meminfo-within|process|procfs)|core\/snapshot\/(attributes|child-readings|cuda-memory|cuda-report|devices|failures|hidden-devices|libraries|own-context|pairs|take))\.ts$/;
/** Modules that every command needs. */
const COMMAND =
  /^lib\/(cli\/(main|parse|help|core\/(command|exit|interrupt|options|terminal|usage)|commands\/(floor-option|index))|show\/render\/(options|paint|text-layout|text\/frame))\.ts$/;
/** Modules that the plain command needs besides all that. */
const SCREEN =
  /^lib\/(cli\/(core\/reading-options|commands\/snapshot)|core\/memory\/tensors|show\/render\/(kinds|numbers|text\/snapshot[a-z-]*))\.ts$/;
/** The work of guard(), for whose start a user waits: one file instead of four. */
const GUARD = /^lib\/(base\/start-process|run\/guard\/(?!index).*)\.ts$/;
/** Modules that a door of a wing exports: the work is loaded by the first call. */
const DOOR = (rooms) => new RegExp(`^lib/(${rooms})/index\\.ts$`);
/** A group takes what its files import along, unless an earlier one has it. */
const GROUPS = {
  core: CORE,
  shared: SHARED,
  'models-door': DOOR('models/(estimate|fit)'),
  'run-door': DOOR('run/(cluster|explain|guard|launch|profile|record)'),
  'report-door': DOOR('show/(compare|report)'),
  'serve-door': DOOR('serve'),
  command: COMMAND,
  reading: READING,
  early: /^lib\/cli\/core\/early-reading\.ts$/,
  screen: SCREEN,
  guard: GUARD,
};

export async function bundle() {
  const build = await rolldown({
    input: {
      ...Object.fromEntries(Object.keys(PACKAGE_DOORS).map((door) => [door, join(lib, `${door}.ts`)])),
      cli: join(lib, 'cli.ts'),
      'mem-get-info-worker': join(lib, 'core/snapshot/mem-get-info-worker.ts'),
      'hidden-devices-worker': join(lib, 'core/snapshot/hidden-devices-worker.ts'),
      'memory-worker': join(lib, 'core/snapshot/memory-worker.ts'),
      worker: join(lib, 'worker.ts'),
    },
    platform: 'node',
    // Dependencies are not bundled.
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  });
  await build.write({
    dir: join(root, 'dist'),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    comments: false,
    codeSplitting: {
      groups: Object.entries(GROUPS).map(([name, files]) => ({
        name,
        test: (id) => files.test(id.slice(root.length + 1)),
      })),
    },
  });
  await build.close();
  await bundlePages();
  await bundleValidators();
}

/** Bundles uPlot into the pages with its licence text, as the licence requires; umaprobe itself does not load uPlot. */
async function bundlePages() {
  const uplot = join(root, 'node_modules', 'uplot');
  const licence = readFileSync(join(uplot, 'LICENSE'), 'utf8').trim();
  for (const name of ['report', 'serve']) {
    const build = await rolldown({ input: join(root, 'browser', name, 'main.ts'), platform: 'browser' });
    mkdirSync(join(root, 'dist', name), { recursive: true });
    await build.write({
      file: join(root, 'dist', name, 'page.js'),
      format: 'iife',
      minify: true,
      postBanner: `/*! uPlot\n${licence}\n*/`,
    });
    await build.close();
  }
  const styles = [join(uplot, 'dist', 'uPlot.min.css'), join(root, 'browser', 'report', 'page.css')];
  const style = styles.map((path) => readFileSync(path, 'utf8').trim()).join('\n');
  writeFileSync(join(root, 'dist', 'report', 'page.css'), style);
}
