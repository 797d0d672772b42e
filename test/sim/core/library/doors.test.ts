/** The doors of the package: what each exports, and that opening one loads no file of another wing. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PACKAGE_DOORS } from '../../../../scripts/rooms.mjs';
import { evaluatePackage } from '../../../support/package-on-machine.ts';
import { parseLines, requireSuccess, resultOf, startModule } from '../../../support/processes.ts';
import { ROOT } from '../../../support/root.ts';

const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  umaprobe: [
    ...['UmaError', 'cacheStatus', 'compact', 'doctor', 'dropCaches', 'evictFiles', 'hostMemorySync', 'layout'],
    ...['memGetInfo', 'memGetInfoSync', 'memory', 'memorySync', 'prepare', 'processes', 'reclaim', 'snapshot'],
    ...['stress', 'sweep', 'watch'],
  ],
  'umaprobe/models': ['estimate', 'estimateTable', 'fit', 'openModel'],
  'umaprobe/report': ['compare', 'toCsv', 'toHtml', 'toMetrics'],
  'umaprobe/run': [
    ...['cluster', 'clusterCheck', 'explain', 'explainError', 'guard', 'launch', 'mark', 'profile', 'readRecord'],
    'record',
  ],
  'umaprobe/serve': ['serve'],
  'umaprobe/sim': ['activate', 'loadMachine', 'machines', 'simulate'],
};

const doors = Object.entries(PACKAGE_DOORS).map(([door, wing]) => ({
  door: door === 'index' ? 'umaprobe' : `umaprobe/${door}`,
  wing,
}));

it.each(doors)('$door exports these names and no others, by import and by require', async ({ door }) => {
  const names = await evaluatePackage<string[][]>(
    `return [await import('${door}'), createRequire(import.meta.url)('${door}')].map((door) => Object.keys(door).sort());`,
    { imports: "import { createRequire } from 'node:module';" },
  );
  expect(names).toEqual([EXPORTS[door], EXPORTS[door]]);
});

it('all doors have one class UmaError', async () => {
  const isOurs = await evaluatePackage<boolean>(
    `const { guard } = await import('umaprobe/run');
     return guard({ command: ['/nonexistent'] }).catch((error) => error instanceof umaprobe.UmaError);`,
  );
  expect(isOurs).toBe(true);
});

/** Prints the URL of each module that is loaded. */
const HOOK = `
  import { writeSync } from 'node:fs';
  export function load(url, context, next) {
    writeSync(1, JSON.stringify(url) + '\\n');
    return next(url, context);
  }`;

/** Files of lib whose code Node loads for this door: a file of dist names those that it is made of. */
async function filesLoadedBy(door: string): Promise<string[]> {
  const hook = JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOK)}`);
  const script = `import { register } from 'node:module'; register(${hook}); await import('${door}');`;
  const result = await resultOf(startModule(script, { cwd: ROOT }));
  requireSuccess(result);
  const dist = parseLines<string>(result.stdout).filter((url) => url.startsWith('file:'));
  return dist.flatMap((url) =>
    [...readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ lib\/(.+)$/gm)].map(([, file = '']) => file),
  );
}

it.each(doors)('$door loads no file of another wing', async ({ door, wing }) => {
  const files = await filesLoadedBy(door);
  expect(files).toContain('base/lazy.ts');
  const others = files.filter(
    (file) => /\//.test(file) && !['base', 'types', 'core', wing].includes(file.split('/')[0] ?? ''),
  );
  expect(others).toEqual([]);
});

it('each type is exported by one door', () => {
  const exported = (file: string): string[] =>
    [...readFileSync(join(ROOT, 'lib', file), 'utf8').matchAll(/^export type \* from '\.\/(.+)';$/gm)].flatMap(
      ([, path = '']) => {
        const own = file.startsWith('types/') ? `types/${path}` : path;
        const inner = exported(own);
        return inner.length === 0 ? [own] : inner;
      },
    );
  const byDoors = Object.keys(PACKAGE_DOORS).flatMap((door) => exported(`${door}.ts`));
  expect(byDoors.length).toBeGreaterThan(25);
  // globals.ts exports nothing: it declares.
  const ours = exported('types/index.ts').filter((path) => path !== 'types/globals.ts');
  expect(byDoors.toSorted()).toEqual(ours.toSorted());
});
