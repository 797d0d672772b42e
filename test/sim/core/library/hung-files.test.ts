/** Kernel files that never answer: each is unknown alone, nothing stands still, and nothing waits for it twice. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { exitOf, startUmaprobe, umaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait.ts';

/** Simulated; the machines run at most 50 times as fast as this one. */
const NEVER_MS = 1e12;
const hang = (...paths: string[]) =>
  `machine.files = ${JSON.stringify(paths.map((path) => ({ path, hangMs: NEVER_MS })))};`;

/** A property in `from`, and the file that it stands in. */
const FILES = {
  pressure: '/proc/pressure/memory',
  contiguity: '/proc/buddyinfo',
  'kernel.vmstat': '/proc/vmstat',
  'kernel.swappiness': '/proc/sys/vm/swappiness',
  'kernel.transparentHugePages': '/sys/kernel/mm/transparent_hugepage/enabled',
  bootId: '/proc/sys/kernel/random/boot_id',
  cgroup: '/proc/self/cgroup',
  'driver.version': '/proc/driver/nvidia/version',
} as const;

/** The body of a program: how long something takes, how often the event loop ran meanwhile, and its answer. */
const TIMED = `
  const timed = async (call) => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const from = performance.now();
    const answer = await Promise.resolve().then(call).catch(caught);
    clearInterval(timer);
    return { ms: performance.now() - from, ticks, answer };
  };`;

interface Timed<T> {
  ms: number;
  ticks: number;
  answer: T;
}
type Thrown = { thrown: { code: string; message: string } };

// Side by side: they wait for deadlines.
describe.concurrent('snapshot()', () => {
  it('has everything but what stands in the files that hang, and the next one does not wait for them', async () => {
    const [first, second, many] = await evaluateOnMachine<[Timed<Snapshot>, Timed<Snapshot>, Timed<Snapshot[]>]>(
      'gb10',
      `${TIMED}
      const take = () => umaprobe.snapshot({ deadlineMs: 20_000 });
      const first = await timed(() => umaprobe.snapshot({ deadlineMs: 1000 }));
      // Those of the settings are kept for a second.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return [first, await timed(take), await timed(() => Promise.all(Array.from({ length: 40 }, take)))];`,
      { change: hang(...Object.values(FILES)) },
    );
    expect(first.ms).toBeGreaterThanOrEqual(990);
    expect(first.ms).toBeLessThan(10_000);
    expect(first.ticks).toBeGreaterThan(20);
    for (const { from, ...snapshot } of [first.answer, second.answer, ...many.answer]) {
      for (const [property, path] of Object.entries(FILES)) {
        expect(from[property]).toMatch(
          new RegExp(`^ERR_UMA_TIMEOUT: read ${path} answered TIMEOUT: .*in read ${path}$`),
        );
      }
      expect(Object.values(from).filter((source) => source.includes('TIMEOUT'))).toHaveLength(8);
      expect(snapshot).toMatchObject({ pressure: null, contiguity: null, bootId: null, cgroup: null });
      expect(snapshot.kernel).toMatchObject({
        release: expect.any(String),
        minFree: expect.any(Number),
        oomKill: null,
      });
      expect(snapshot.host.available).toBeGreaterThan(0);
      expect(snapshot.devices).toHaveLength(1);
    }
    expect(second.ms).toBeLessThan(10_000);
    expect(second.answer.from.pressure).toMatch(/an earlier call is still blocked for \d{4,} ms/);
    expect(many.ms).toBeLessThan(10_000);
  });

  it('of many at once the first ones wait together', async () => {
    const { answer, ms } = await evaluateOnMachine<Timed<Snapshot[]>>(
      'gb10',
      `${TIMED}
      return timed(() => Promise.all(Array.from({ length: 100 }, () => umaprobe.snapshot({ deadlineMs: 1000 }))));`,
      { change: hang(FILES.pressure) },
    );
    expect(ms).toBeLessThan(10_000);
    expect(answer).toHaveLength(100);
    for (const { contiguity, from, kernel } of answer) {
      expect(from.pressure).toMatch(/TIMEOUT/);
      expect(contiguity).not.toBeNull();
      expect(kernel.oomKill).toBe(0);
    }
  });

  it('reads a file again that answers later', async () => {
    const [before, after] = await evaluateOnMachine<Snapshot[]>(
      'gb10',
      `const before = await umaprobe.snapshot({ deadlineMs: 1000 });
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return [before, await umaprobe.snapshot({ deadlineMs: 5000 })];`,
      {
        change: `machine.files = [{ path: '/proc/pressure/memory', hangMs: 30_000, text: 'some avg10=1.00 avg60=0.00 avg300=0.00 total=1\\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\\n' }];`,
      },
    );
    expect(before?.pressure).toBeNull();
    expect(after?.pressure?.some.avg10).toBe(1);
  });

  it('without /proc/meminfo is an error that says so; hostMemorySync() then fails at once', async () => {
    const [first, second, sync, alive] = await evaluateOnMachine<Timed<Thrown>[]>(
      'gb10',
      `${TIMED}
      const take = () => umaprobe.snapshot({ deadlineMs: 20_000 });
      return [await timed(() => umaprobe.snapshot({ deadlineMs: 1000 })), await timed(take), await timed(() => umaprobe.hostMemorySync()),
        await timed(async () => { for await (const _ of umaprobe.watch({ intervalMs: 100, deadlineMs: 20_000 })) break; })];`,
      { change: hang('/proc/meminfo') },
    );
    const expected = {
      code: 'ERR_UMA_TIMEOUT',
      message: expect.stringMatching(/^read \/proc\/meminfo: .* \(TIMEOUT\)$/),
    };
    for (const answer of [first, second, sync, alive]) expect(answer?.answer.thrown).toMatchObject(expected);
    expect(first?.answer.thrown.message).toMatch(/no answer within \d+ ms.*lxcfs.*findmnt --target \/proc\/meminfo/);
    expect(first?.ticks).toBeGreaterThan(20);
    for (const answer of [second, sync, alive]) expect(answer?.ms).toBeLessThan(10_000);
  });
});

describe.concurrent('the command', () => {
  const onHung = (path: string) => machineFile('hung', { files: [{ path, hangMs: NEVER_MS }] });

  it.each([['snapshot'], ['doctor'], ['watch', '--count', '1'], ['prepare', '1GiB'], ['cache', 'status'], ['sweep']])(
    '%s ends with 6 and one line that names /proc/meminfo',
    async (...words) => {
      const { code, stderr, stdout } = await umaprobe([...words, '--sim', onHung('/proc/meminfo')]);
      expect(stderr).toMatch(/^umaprobe: read \/proc\/meminfo: no answer within \d+ ms: .*\n$/);
      expect(stderr.trim()).not.toContain('\n');
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    },
  );

  it('snapshot shows everything else, and is not OK', async () => {
    const { code, stdout } = await umaprobe(['snapshot', '--sim', onHung('/proc/vmstat')]);
    expect(stdout).toMatch(/\/proc\/vmstat does not answer/);
    expect(code).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends by %s while it waits', async (signal) => {
    const runtime = temporaryFolder('hung');
    const words = ['snapshot', '--deadline', '30s', '--sim', onHung('/proc/meminfo')];
    const child = startUmaprobe(words, { XDG_RUNTIME_DIR: runtime });
    const end = exitOf(child);
    // The command makes its machine once it handles signals, and then reads.
    await waitFor('a simulated machine', () => readdirSync(runtime).length);
    child.kill(signal);
    expect(await end).toBe(signal === 'SIGINT' ? 130 : 143);
  });
});
