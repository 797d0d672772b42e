// lib/*.ts → dist/*.js, in few files: Node's loader takes about half a millisecond a module, and `import 'umaprobe'` may
// cost five. What every door needs is one chunk, so that there is one UmaError; what a snapshot needs is another, loaded
// by the first one; each command is a chunk of its own, loaded when it is used.
// browser/report/*.ts → dist/report/, the script and style that a report's page carries in itself.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

const lib = join(root, 'lib');
/** Modules that every door has in common. */
const CORE =
  /^lib\/(root|base\/(arguments|errors|facts)|(cache|layout|snapshot|stress|sweep)\/index|host\/meminfo|native\/binding|probe\/options|snapshot\/(mem-get-info|watch))\.ts$/;

export async function bundle() {
  const build = await rolldown({
    input: {
      index: join(lib, 'index.ts'),
      sim: join(lib, 'sim.ts'),
      cli: join(lib, 'cli.ts'),
      'mem-get-info-worker': join(lib, 'snapshot/mem-get-info-worker.ts'),
      worker: join(lib, 'worker.ts'),
    },
    platform: 'node',
    // Dependencies stay dependencies: only our own files are put together.
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

/** uPlot goes into the page with its licence, as that asks; nothing of it is loaded by umaprobe itself. */
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
