/** Machines that are followed by one ssh each: the newest answer of each, and a reason from where none comes any more. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FOLLOW_TIMES, FollowedHosts } from '../../../../lib/run/cluster/follow.ts';
import { runBySsh } from '../../../../lib/run/cluster/ssh.ts';
import { fakeSshOnPath, sentSnapshot } from '../../../support/fake-ssh.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const ssh = fakeSshOnPath();
const folder = temporaryFolder('follow');

/** A script that prints its snapshot on a line, again and again. */
function repeating(name: string, times = 1000): string {
  return `for each in {1..${times}}; do cat <<'SENT'
${JSON.stringify(sentSnapshot(name))}
SENT
sleep 0.2; done`;
}

function follow(hosts: readonly string[], times = FOLLOW_TIMES): { machines: FollowedHosts; ends: AbortController } {
  const ends = new AbortController();
  return { machines: new FollowedHosts(hosts, 200, ends.signal, times), ends };
}

const callsTo = (host: string): string[] => ssh.calls().filter((call) => call.includes(`-- ${host} `));

it('one ssh for each host gives all of its readings, in the order of the hosts', async () => {
  ssh.host('a', `echo $$ > ${join(folder, 'pid')}; ${repeating('a')}`);
  ssh.host('b', repeating('b'));
  const { ends, machines } = follow(['b', 'a']);
  for (let round = 0; round < 5; round++) {
    const { machines: found, summary } = await machines.read();
    expect(found.map(({ host, state }) => [host, state])).toEqual([
      ['b', 'answered'],
      ['a', 'answered'],
    ]);
    expect(found[0]?.snapshot?.hostName).toBe('b');
    expect(summary).toBe('102.8 GiB can be loaded on each of 2 machines.');
  }
  expect(callsTo('a')).toEqual([expect.stringMatching(/-T -- a umaprobe watch --json --interval 200ms$/)]);
  expect(callsTo('b')).toHaveLength(1);
  const pid = readFileSync(join(folder, 'pid'), 'utf8').trim();
  ends.abort();
  await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 10_000 }).toBe(false);
});

it('a machine that answers no longer says why, beside one that does, and is asked again', async () => {
  // Asked again, it answers when it is told to.
  const [began, again] = [join(folder, 'began'), join(folder, 'again')];
  const waits = `until [[ -e ${again} ]]; do sleep 0.05; done`;
  ssh.host('ends', `if [[ -e ${began} ]]; then ${waits}; fi; touch ${began}; ${repeating('ends', 2)}`);
  ssh.host('off', 'echo "ssh: connect to host off port 22: No route to host" >&2; exit 255');
  ssh.host('stays', repeating('stays'));
  const { ends, machines } = follow(['ends', 'off', 'stays'], { ...FOLLOW_TIMES, retryMs: 300 });
  const states = async () => (await machines.read()).machines.map(({ because, state }) => because ?? state);
  const off = 'Connect to host off port 22: No route to host.';
  expect(await states()).toEqual(['answered', off, 'answered']);
  await expect
    .poll(states, { timeout: 10_000, interval: 0 })
    .toEqual(['The umaprobe there has ended.', off, 'answered']);
  writeFileSync(again, '');
  await expect.poll(states, { timeout: 20_000, interval: 0 }).toEqual(['answered', off, 'answered']);
  expect(callsTo('stays')).toHaveLength(1);
  expect(callsTo('ends').length).toBeGreaterThan(1);
  ends.abort();
}, 40_000);

it('the same machine under two names is there once', async () => {
  const twice = repeating('twin');
  ssh.host('twin-1', twice);
  ssh.host('twin-2', twice);
  const { ends, machines } = follow(['twin-1', 'twin-2']);
  const { machines: found, summary } = await machines.read();
  expect(found.map(({ state }) => state)).toEqual(['answered', 'doubled']);
  expect(summary).toMatch(/twin-2/);
  ends.abort();
});

it('the age of an answer grows while no other one comes', async () => {
  ssh.host('silent', `${repeating('silent', 1)}; sleep 60`);
  const { ends, machines } = follow(['silent']);
  const [first] = (await machines.read()).machines;
  await sleep(1000);
  const [later] = (await machines.read()).machines;
  expect(later).toMatchObject({ state: 'answered' });
  expect((later?.ageMs ?? 0) - (first?.ageMs ?? 0)).toBeGreaterThanOrEqual(1000);
  ends.abort();
});

it('of several answers the deadline is that of each', async () => {
  ssh.host('slow', 'for each in {1..8}; do echo x; sleep 0.3; done; sleep 60');
  let answers = 0;
  const end = await runBySsh('slow', 'true', {
    deadlineMs: 2000,
    signal: undefined,
    onText: (_, renew) => {
      answers += 1;
      renew();
    },
  });
  expect([end.how, answers]).toEqual(['timeout', 8]);
});
