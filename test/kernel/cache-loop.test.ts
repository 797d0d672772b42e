/** The event loop goes on while thousands of files are looked at, listed and evicted. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../support/cli.ts';
import { diskFolder } from '../support/real-files.ts';

const FILES = 20_000;
const disk = diskFolder(2 ** 30);
const folder = 'path' in disk ? disk.path : '';
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
}, 300_000);

/** In a program of its own, in whose loop nothing else is: how long a call takes, and the longest that the loop stood still. */
const PROGRAM = `
const { cacheStatus, evictFiles } = await import(process.argv[1]);
const tree = process.argv[2];
let last = 0;
let longest = 0;
const turn = () => {
  const now = performance.now();
  longest = Math.max(longest, now - last);
  last = now;
  immediate = setImmediate(turn);
};
let immediate;
async function held(call) {
  const from = last = performance.now();
  longest = 0;
  immediate = setImmediate(turn);
  const report = await call();
  clearImmediate(immediate);
  return { files: report.files.length, durationMs: performance.now() - from, longestMs: longest };
}
await cacheStatus([tree], { top: 1 });
const look = await held(() => cacheStatus([tree], { top: 100000 }));
console.log(JSON.stringify([look, await held(() => evictFiles([tree], { top: 100000 }))]));
`;

describe('the event loop', () => {
  // How long a turn is allowed to be is a matter of the benchmark. Other programs may stop this one for some time.
  it('turns while files are looked at, listed and evicted', { retry: 2, timeout: 120_000 }, (context) => {
    if ('reason' in disk) return context.skip(disk.reason);
    const tree = join(folder, 'tree');
    rmSync(tree, { recursive: true, force: true });
    for (let d = 0; d < 50; d++) {
      mkdirSync(join(tree, `d${d}`), { recursive: true });
      for (let f = 0; f < FILES / 50; f++) writeFileSync(join(tree, `d${d}`, `f${f}`), 'x'.repeat(1 + f));
    }
    execFileSync('sync');
    const library = join(CLI, '../index.js');
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM, library, tree], {
      encoding: 'utf8',
      env: cliEnvironment(),
    });
    const calls = JSON.parse(output) as { files: number; durationMs: number; longestMs: number }[];
    for (const { durationMs, files, longestMs } of calls) {
      expect(files).toBeGreaterThan(0.9 * FILES); // somebody else may drop caches meanwhile
      expect(longestMs).toBeLessThan(durationMs / 4);
    }
  });
});
