/** The event loop runs while thousands of files are inspected, listed and evicted. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { evaluatePackage } from '../../support/package-on-machine.ts';
import { diskFolder } from '../../support/real-files.ts';

const FILES = 20_000;
const disk = diskFolder(2 ** 30);
const folder = 'path' in disk ? disk.path : '';
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
}, 300_000);

interface Measured {
  files: number;
  durationMs: number;
  /** The longest time for which the event loop was blocked. */
  longestMs: number;
}

/** Measures calls in a program with nothing else in its event loop. */
const program = (tree: string) => `
  const { cacheStatus, evictFiles } = umaprobe;
  const tree = ${JSON.stringify(tree)};
  let last = 0;
  let longest = 0;
  let immediate;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    immediate = setImmediate(turn);
  };
  async function measure(call) {
    const from = last = performance.now();
    longest = 0;
    immediate = setImmediate(turn);
    const report = await call();
    clearImmediate(immediate);
    return { files: report.files.length, durationMs: performance.now() - from, longestMs: longest };
  }
  await cacheStatus([tree], { top: 1 });
  const status = await measure(() => cacheStatus([tree], { top: 100000 }));
  return [status, await measure(() => evictFiles([tree], { top: 100000 }))];`;

describe('the event loop', () => {
  // The benchmark limits the length of a turn. Here other programs may take the processor for some time.
  it('turns while files are inspected, listed and evicted', { retry: 2, timeout: 120_000 }, async (context) => {
    if ('reason' in disk) return context.skip(disk.reason);
    const tree = join(folder, 'tree');
    rmSync(tree, { recursive: true, force: true });
    for (let d = 0; d < 50; d++) {
      mkdirSync(join(tree, `d${d}`), { recursive: true });
      for (let f = 0; f < FILES / 50; f++) writeFileSync(join(tree, `d${d}`, `f${f}`), 'x'.repeat(1 + f));
    }
    execFileSync('sync');
    const calls = await evaluatePackage<Measured[]>(program(tree));
    for (const { durationMs, files, longestMs } of calls) {
      expect(files).toBeGreaterThan(0.9 * FILES); // other programs may drop caches meanwhile
      expect(longestMs).toBeLessThan(durationMs / 4);
    }
  });
});
