/** `umaprobe guard` on the real kernel: room for a program that loads, by dropping caches and compacting. */
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { permittedLoadActions } from '../../lib/guard/load-actions.ts';
import { hostMemorySync } from '../../lib/host/meminfo.ts';
import { guardThresholds } from '../../lib/memory/guard-rules.ts';
import type { GuardReport } from '../../lib/types/index.ts';
import { umaprobe } from '../support/cli.ts';
import { parseDocument } from '../support/schemas.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GiB } from '../support/units.ts';

it('a program has caches dropped, or memory compacted, until --ready says that it is loaded, and not after', {
  timeout: 120_000,
  // Other programs free memory, and drop caches, too.
  retry: 2,
}, async (context) => {
  if (permittedLoadActions(false).length < 2) return context.skip('this user may not write to drop_caches');
  const { available, total } = hostMemorySync();
  const { floor, loadFreeBytes } = guardThresholds(total, {});
  if ((available ?? 0) < floor.bytes + 2 * GiB) return context.skip('too little is available');
  // Pages of a file without blocks are as any others in the cache, and cost no disk.
  const file = join(temporaryFolder('load'), 'sparse');
  writeFileSync(file, '');
  truncateSync(file, (available ?? 0) - loadFreeBytes + 2 * GiB);
  const run = async (actions: string, script: string): Promise<{ report: GuardReport; stderr: string }> => {
    const options = ['--json', '--load-actions', actions, '--ready', '^ready$'];
    const ran = await umaprobe(['guard', ...options, '--', 'sh', '-c', script, file]);
    expect(ran.code).toBe(0);
    return { report: parseDocument(ran.stdout) as unknown as GuardReport, stderr: ran.stderr };
  };
  const done = ({ actions }: GuardReport) =>
    actions.map(({ action, failure, reason }) => `${action} ${reason} ${failure}`);
  const read = 'cat "$0" > /dev/null; sleep 1.2';
  const none = await run('none', read);
  expect(none.report.lowest.free).toBeLessThan(loadFreeBytes);
  expect(done(none.report)).toEqual([]);
  // The pages are still there.
  const compacted = await run('compact', 'sleep 1.5');
  expect(done(compacted.report)).toContain('compact loading null');
  expect(done(compacted.report).join()).not.toContain('drop');
  // They are there again once it is loaded, and stay.
  const dropped = await run('drop', `sleep 1.5; date +%s%3N; echo ready; sleep 1; ${read}`);
  expect(done(dropped.report)).toContain('drop loading null');
  const loadedAt = Number(/^(\d{13})$/m.exec(dropped.stderr)?.[1]);
  for (const { at } of dropped.report.actions) expect(Date.parse(at)).toBeLessThan(loadedAt + 500);
  expect(dropped.report.after.free).toBeLessThan(loadFreeBytes);
});
