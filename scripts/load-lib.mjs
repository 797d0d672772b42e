// A module of lib/ with what it imports, for scripts that read its tables: bundled to build/lib and imported from there,
// because the oldest Node that we support does not run TypeScript.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { root } from './run.mjs';

/** @param path "lib/cli/core/exit.ts" */
export async function loadLib(path) {
  const folder = join(root, 'build/lib', path.replaceAll('/', '-'));
  const build = await rolldown({
    input: { module: join(root, path) },
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  });
  await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  await build.close();
  return import(pathToFileURL(join(folder, 'module.mjs')).href);
}
