// lib/*.ts → dist/*.js, in few files: Node's loader takes about 0.5 ms per module, and `import 'umaprobe'` may take 5 ms.
// The code that all entry points share is one chunk, so that there is one class UmaError; the code of a snapshot is
// another, loaded by the first snapshot; each command is a separate chunk, loaded when it is used.
//
// browser/report/*.ts → dist/report/, the script and style that are embedded in a report's page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

const lib = join(root, 'lib');
/** Modules that all entry points share. */
const CORE =
  /^lib\/(root|base\/(arguments|errors|facts)|(cache|layout|snapshot|stress|sweep)\/index|host\/meminfo|native\/binding|snapshot\/(mem-get-info|watch))\.ts$/;

export async function bundle() {
  const build = await rolldown({
    input: {
      index: join(lib, 'index.ts'),
      sim: join(lib, 'sim.ts'),
      cli: join(lib, 'cli.ts'),
      'mem-get-info-worker': join(lib, 'snapshot/mem-get-info-worker.ts'),
      'hidden-devices-worker': join(lib, 'snapshot/hidden-devices-worker.ts'),
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
    codeSplitting: { groups: [{ name: 'core', test: (id) => CORE.test(id.slice(root.length + 1)) }] },
  });
  await build.close();
  await bundlePage();
}

/** Bundles uPlot into the page with its licence text, as the licence requires; umaprobe itself does not load uPlot. */
async function bundlePage() {
  const folder = join(root, 'dist', 'report');
  const uplot = join(root, 'node_modules', 'uplot');
  const licence = readFileSync(join(uplot, 'LICENSE'), 'utf8').trim();
  mkdirSync(folder, { recursive: true });
  const build = await rolldown({ input: join(root, 'browser', 'report', 'main.ts'), platform: 'browser' });
  await build.write({
    file: join(folder, 'page.js'),
    format: 'iife',
    minify: true,
    postBanner: `/*! uPlot\n${licence}\n*/`,
  });
  await build.close();
  const styles = [join(uplot, 'dist', 'uPlot.min.css'), join(root, 'browser', 'report', 'page.css')];
  writeFileSync(join(folder, 'page.css'), styles.map((path) => readFileSync(path, 'utf8').trim()).join('\n'));
}
