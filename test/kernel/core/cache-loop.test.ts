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
  /** Processor time of the event loop, in all and in its longest turn: others take the processor for longer than that. */
  cpuMs: number;
  longestMs: number;
}

/** Measures calls in a program with nothing else in its event loop. */
const program = (tree: string) => `
  const { readFileSync } = await import('node:fs');
  const { cacheStatus, evictFiles } = umaprobe;
  const tree = ${JSON.stringify(tree)};
  let last = 0;
  let longest = 0;
  let immediate;
  // Of the thread whose id is that of the process.
  const cpuMs = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  const turn = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    immediate = setImmediate(turn);
  };
  async function measure(call) {
    const from = last = cpuMs();
    longest = 0;
    immediate = setImmediate(turn);
    const report = await call();
    clearImmediate(immediate);
    return { files: report.files.length, cpuMs: cpuMs() - from, longestMs: longest };
  }
  await cacheStatus([tree], { top: 1 });
  const status = await measure(() => cacheStatus([tree], { top: 100000 }));
  return [status, await measure(() => evictFiles([tree], { top: 100000 }))];`;

describe('the event loop', () => {
  it('turns while files are inspected, listed and evicted', async (context) => {
    if ('reason' in disk) return context.skip(disk.reason);
    const tree = join(folder, 'tree');
    rmSync(tree, { recursive: true, force: true });
    for (let d = 0; d < 50; d++) {
      mkdirSync(join(tree, `d${d}`), { recursive: true });
      for (let f = 0; f < FILES / 50; f++) writeFileSync(join(tree, `d${d}`, `f${f}`), 'x'.repeat(1 + f));
    }
    execFileSync('sync');
    const calls = await evaluatePackage<Measured[]>(program(tree));
    for (const { cpuMs, files, longestMs } of calls) {
      expect(files).toBeGreaterThan(0.9 * FILES); // other programs may drop caches meanwhile
      expect(longestMs).toBeLessThan(cpuMs / 4);
    }
  });
});
