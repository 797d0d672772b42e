/** docs/verified.md says which versions are needed and verified: those of the source. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { floor } from '../../../scripts/glibc-floor.mjs';
import { ROOT } from '../../support/root.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const machines = readdirSync(join(ROOT, 'lib/machines')).map((name) => read(`lib/machines/${name}`));

const found = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? `no ${pattern}`;

/** "5.15 to 7.0": the oldest and the newest version that simulated machines have. */
function simulated(pattern: RegExp): string {
  const versions = machines.flatMap((text) => pattern.exec(text)?.[1] ?? []);
  const sorted = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return `${sorted[0]} to ${sorted.at(-1)}`;
}

it('has the versions of the source', () => {
  const rows = [...read('docs/verified.md').matchAll(/^\| (Node|glibc|Linux|NVIDIA driver) \| (.+) \| (.+) \|$/gm)];
  const [node, glibc, linux, driver] = rows.map(([, , ...cells]) => cells);
  const nodes = found(read('scripts/smoke-nodes.mjs'), /\[\.\.\.OLD, (.*)\];/).replaceAll("'", '');
  expect(node).toEqual([found(read('package.json'), /"node": ">=(\d+\.\d+)\.0"/), nodes]);
  expect(glibc?.[0]).toBe(floor);
  const reclaim = found(read('lib/core/cache/reclaim.ts'), /since Linux ([\d.]+\d)/);
  const dirty = found(read('lib/core/cache/status.ts'), /no cachestat \(Linux ([\d.]+)\)/);
  expect(linux?.[0]).toBe(`\`cache reclaim\`: ${reclaim}; dirty pages in \`cache status\`: ${dirty}`);
  expect(linux?.[1]).toContain(simulated(/"release": "(\d+\.\d+)/));
  const runtimes = [...read('native/cuda/runtime.cc').matchAll(/"libcudart\.so\.(\d+)/g)].map(([, major]) => major);
  expect(driver?.[0]).toBe(`of CUDA ${runtimes.at(-1)} to ${runtimes[0]}`);
  expect(driver?.[1]).toContain(simulated(/"driver": \{\s*"version": "([\d.]+)"/));
});
