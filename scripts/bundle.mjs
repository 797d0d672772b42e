// lib/*.ts → dist/*.js, in few files: Node's loader takes about half a millisecond a module, and `import 'umaprobe'` may
// cost five. Everything that the library needs is one chunk, shared by its doors and by the command line, so that
// there is one UmaError; each command stays a chunk of its own, loaded when it is used.
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

const lib = join(root, 'lib');
const BESIDE_THE_LIBRARY = /^lib\/(cli|doctor|sim)[./]|^lib\/(format|findings|remedies|index|child-mem-get-info)\.ts$/;

export async function bundle() {
  const build = await rolldown({
    input: {
      index: join(lib, 'index.ts'),
      sim: join(lib, 'sim.ts'),
      cli: join(lib, 'cli.ts'),
      'child-mem-get-info': join(lib, 'child-mem-get-info.ts'),
    },
    platform: 'node',
    // Dependencies stay dependencies: only our own files are put together.
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  });
  await build.write({
    dir: join(root, 'dist'),
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [{ name: 'core', test: (id) => !BESIDE_THE_LIBRARY.test(id.slice(root.length + 1)) }],
    },
  });
  await build.close();
}
