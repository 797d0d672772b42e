// lib/*.ts → dist/*.js, in few files: Node's loader takes about half a millisecond a module, and `import 'umaprobe'` may
// cost five. What every door needs is one chunk, so that there is one UmaError; what a snapshot needs is another, loaded
// by the first one; each command is a chunk of its own, loaded when it is used.
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

const lib = join(root, 'lib');
/** Modules that every door has in common. */
const CORE = /^lib\/(arguments|cache|errors|host-memory|mem-get-info|native|reason|root|snapshot|stress|watch)\.ts$/;

export async function bundle() {
  const build = await rolldown({
    input: {
      index: join(lib, 'index.ts'),
      sim: join(lib, 'sim.ts'),
      cli: join(lib, 'cli.ts'),
      'child-mem-get-info': join(lib, 'child-mem-get-info.ts'),
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
}
