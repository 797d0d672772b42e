/** Histories of the machines of a page: each machine is asked once for all pages, and what is not known says why. */
import { beforeEach, expect, it, vi } from 'vitest';
import { historiesBySsh, SharedHistories } from '../../../lib/serve/history.ts';
import type { LiveHistory } from '../../../lib/types/index.ts';
import { fakeSshOnPath, printing } from '../../support/fake-ssh.ts';
import { recordOf, sessionOf } from '../../support/reports.ts';

const ssh = fakeSshOnPath();

const ends = new AbortController();
let histories: SharedHistories;
beforeEach(() => {
  histories = new SharedHistories(historiesBySsh(['a', 'b'], undefined, ends.signal));
});

async function historyOf(index: number): Promise<LiveHistory> {
  return JSON.parse((await histories.read(index)).toString()) as LiveHistory;
}

const callsOf = (host: string) => ssh.calls().filter((call) => call.includes(`-- ${host} `)).length;

it('each machine has its own, without texts that are for its own users', async () => {
  ssh.host('a', printing(recordOf()));
  ssh.host('b', 'echo "ssh: connect to host b port 22: Connection refused" >&2; exit 255');
  const [a, b] = await Promise.all([historyOf(0), historyOf(1)]);
  expect(a).toEqual({ sessions: [sessionOf({ kernelMessages: [], notes: [] })], why: null, isLate: false });
  expect(b).toEqual({
    sessions: [],
    why: 'Connect to host b port 22: Connection refused. Next: see whether it is on and sshd runs there.',
    isLate: false,
  });
});

it('is what the last day had by the clock of the machine, and says so where that is nothing', async () => {
  const old = sessionOf({ lastAt: '2026-11-19T18:00:00.000Z' });
  ssh.host('a', printing(recordOf({ sessions: [old, sessionOf()] })));
  ssh.host('b', printing(recordOf({ sessions: [old] })));
  expect((await historyOf(0)).sessions.length).toBe(1);
  expect(await historyOf(1)).toEqual({
    sessions: [],
    why: 'Nothing was recorded in the last day. Next: umaprobe record keeps a history.',
    isLate: false,
  });
});

it('has the newest marks of a program that sets one at each step', async () => {
  const { at } = recordOf();
  const marks = Array.from({ length: 10_000 }, (_, step) => ({ at, text: `step ${step}`, pid: 1 }));
  ssh.host('a', printing(recordOf({ sessions: [sessionOf({ marks })] })));
  const [session] = (await historyOf(0)).sessions;
  expect([session?.marks.length, session?.marks.at(-1)?.text]).toEqual([1000, 'step 9999']);
});

it('pages that are opened together ask each machine once; one that is late is told from one that has nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  ssh.host('a', printing(recordOf()));
  ssh.host('b', 'exec sleep 60');
  const counts = () => [callsOf('a'), callsOf('b')];
  const [a, b] = counts() as [number, number];
  const late = historyOf(1);
  await Promise.all([historyOf(0), historyOf(0)]);
  vi.advanceTimersByTime(9000);
  await historyOf(0);
  expect(counts()).toEqual([a + 1, b + 1]);
  vi.advanceTimersByTime(1000);
  await historyOf(0);
  expect(counts()).toEqual([a + 2, b + 1]);
  vi.advanceTimersByTime(5000);
  expect(await late).toMatchObject({ why: expect.stringMatching(/^No whole answer came within 15/), isLate: true });
  await historyOf(1);
  expect(counts()).toEqual([a + 2, b + 1]);
  vi.useRealTimers();
});

it('ends with the server', async () => {
  ssh.host('a', 'exec sleep 60');
  ssh.host('b', 'exec sleep 60');
  const asked = historyOf(0);
  ends.abort(new Error('closed'));
  expect(await asked).toEqual({ sessions: [], why: 'closed.', isLate: false });
});
