/** umaprobe-guard under real memory pressure: programs in a control group that is too small for the file that they read. */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileC } from '../../support/clients.ts';
import { HARMLESS, runGuard } from '../../support/guard-program.ts';
import { removeGroup } from '../../support/processes.ts';
import { diskFolder, writeRandom } from '../../support/real-files.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { MiB } from '../../support/units.ts';

/** How often each is shown; by hand UMAPROBE_TEST_REPEATS=10. */
const REPEATS = Number(process.env.UMAPROBE_TEST_REPEATS ?? 1);
const LIMIT = 32 * MiB;
const SECONDS = 3;
/** Workers: more than processors, so that some wait for a page while others run. */
const WORKERS = 6;

/** Time in which at least one task waited for memory, and in which all did, in µs since boot. */
function pressure(): { some: number; full: number } {
  const text = readFileSync('/proc/pressure/memory', 'utf8');
  const total = (kind: string) => Number(new RegExp(`^${kind} .*total=(\\d+)$`, 'm').exec(text)?.[1]);
  return { some: total('some'), full: total('full') };
}

/** A control group with a limit, of version 2 or 1; null: this user or this machine has none. */
function makeGroup(): { path: string; tasks: string } | null {
  const name = `umaprobe-test-${process.pid}`;
  for (const [root, limit] of [
    ['/sys/fs/cgroup', 'memory.max'],
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
  ] as const) {
    const path = join(root, name);
    try {
      mkdirSync(path);
    } catch {
      continue;
    }
    try {
      // A plain folder has no such file, and neither has a group without the controller.
      if (!existsSync(join(path, limit))) throw new Error('no controller of memory');
      writeFileSync(join(path, limit), String(LIMIT));
      return { path, tasks: join(path, 'cgroup.procs') };
    } catch {
      rmdirSync(path);
    }
  }
  return null;
}

let group: ReturnType<typeof makeGroup> = null;
let command: string[] = [];
let missing = '';

beforeAll(() => {
  const disk = diskFolder(512 * MiB);
  group = makeGroup();
  if (!existsSync('/proc/pressure/memory')) missing = 'this kernel has no /proc/pressure';
  else if (group === null) missing = 'no control group with a limit of memory can be made here';
  else if ('reason' in disk) missing = disk.reason;
  else {
    const program = join(temporaryFolder('thrash'), 'thrash');
    compileC(join(ROOT, 'test/kernel/thrash.c'), program);
    const file = join(disk.path, 'pages');
    writeRandom(file, 256 * MiB, true);
    command = [program, file, group.tasks, String(SECONDS), String(WORKERS)];
  }
});

afterAll(async () => {
  if (group !== null) await removeGroup(group.path);
});

describe('real memory pressure', () => {
  beforeEach((context) => {
    if (missing !== '') context.skip(missing);
  });

  it('of seconds is not stopped, on a machine with memory to spare', async () => {
    for (let at = 0; at < REPEATS; at++) {
      const before = pressure();
      const started = performance.now();
      const { code, ended, stderr } = await runGuard(HARMLESS, command);
      const share = (pressure().some - before.some) / 10 / (performance.now() - started);
      expect([code, stderr, ended.actions]).toEqual([0, '', []]);
      // On an idle machine it is 60 % and more; with other programs on all processors less.
      expect(share).toBeGreaterThan(2);
      if (REPEATS > 1) console.log(`some task waited for memory in ${share.toFixed(0)} % of the time`);
    }
  });

  it('that lasts is stopped: the guard reads this kernel’s pressure', async () => {
    const rules = { ...HARMLESS, pressure_full_percent: 1, pressure_for_s: 1 };
    const { code, ended } = await runGuard(rules, command);
    expect(code).toBe(6);
    expect(ended.actions.find(({ action }) => action === 'term')).toMatchObject({ reason: 'stalled', failure: null });
  });
});
