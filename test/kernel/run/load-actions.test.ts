/** `umaprobe guard` on the real kernel: room for a program that loads, by dropping caches and compacting. */
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hostMemorySync } from '../../../lib/core/host/meminfo.ts';
import { guardThresholds } from '../../../lib/core/memory/guard-rules.ts';
import { permittedLoadActions } from '../../../lib/run/guard/start.ts';
import type { GuardReport } from '../../../lib/types/index.ts';
import { umaprobe } from '../../support/cli.ts';
import { compileC } from '../../support/clients.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';

/** Other programs free memory meanwhile, and a kernel that reclaims cold pages gives this cache back within seconds. */
const ATTEMPTS = 3;
/** Actions that may still end after the line that ends the load: one was begun before, and takes seconds on a busy machine. */
const MOST_LATE = 1;

it('a program has caches dropped, or memory compacted, until --ready says that it is loaded, and not after', {
  timeout: 300_000,
}, async (context) => {
  if (permittedLoadActions(false).length < 2) return context.skip('this user may not write to drop_caches');
  const { available, total } = hostMemorySync();
  const { floor, loadFreeBytes, loadStepBytes } = guardThresholds(total, {});
  if ((available ?? 0) < floor.bytes + 3 * GiB) return context.skip('too little is available');
  // Pages of a file without blocks are as any others in the cache, and cost no disk.
  const folder = temporaryFolder('load');
  const file = join(folder, 'sparse');
  writeFileSync(file, '');
  truncateSync(file, (available ?? 0) - loadFreeBytes + 3 * GiB);
  const taker = join(folder, 'taker');
  compileC(join(ROOT, 'test/kernel/taker.c'), taker);
  const run = async (actions: string, script: string): Promise<GuardReport> => {
    const options = ['--json', '--load-actions', actions, '--ready', '^ready$'];
    const ran = await umaprobe(['guard', ...options, '--', 'sh', '-c', script, file]);
    expect(ran.code).toBe(0);
    const report = parseDocument(ran.stdout) as unknown as GuardReport;
    const loadedAt = Number(/^(\d{13})$/m.exec(ran.stderr)?.[1] ?? Number.POSITIVE_INFINITY);
    for (const { action } of report.actions) expect(action).toBe(actions);
    const late = report.actions.filter(({ at }) => Date.parse(at) > loadedAt);
    expect(late.length, JSON.stringify(late)).toBeLessThanOrEqual(MOST_LATE);
    return report;
  };
  /** Repeats the run until little was free in it. */
  const runFull = async (actions: string, script: string, free: 'lowest' | 'after'): Promise<GuardReport> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const report = await run(actions, script);
      if ((report[free].free ?? Number.POSITIVE_INFINITY) < loadFreeBytes) return report;
    }
    return context.skip(`the cache did not stay full in ${ATTEMPTS} runs of --load-actions ${actions}`);
  };
  const done = ({ actions }: GuardReport) =>
    actions.map(({ action, failure, reason }) => `${action} ${reason} ${failure}`);
  const read = 'cat "$0" > /dev/null; sleep 1.5';
  const load = `${taker} private 100 ${Math.ceil((2 * loadStepBytes) / MiB)} > /dev/null & taker=$!; ${read}; kill $taker`;
  // It reads a file and does not grow: the cache is that of the whole machine.
  expect(done(await runFull('drop', read, 'lowest'))).toEqual([]);
  await runFull('none', load, 'lowest');
  expect(done(await runFull('compact', load, 'lowest'))).toContain('compact loading null');
  // The pages are there again once it is loaded, and stay.
  const dropped = await runFull('drop', `${load}; date +%s%3N; echo ready; sleep 1; ${load}; ${load}`, 'after');
  expect(done(dropped)).toContain('drop loading null');
});
