/** The machines of a page: followed while somebody asks, and no longer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { machinesBySsh } from '../../../lib/serve/machines.ts';
import { fakeSsh, printing, sentSnapshot } from '../../support/fake-ssh.ts';

const ssh = fakeSsh();
const ends = new AbortController();
const before = process.env.PATH;
beforeAll(() => {
  process.env.PATH = `${ssh.folder}:${before}`;
});
afterAll(() => {
  process.env.PATH = before;
  ends.abort();
});

it('a machine whose first answer takes longer than a page is kept for is waited for; when nobody asks, all are left', async () => {
  ssh.host('quick', `${printing(sentSnapshot('quick'), 0)}\nsleep 100`);
  ssh.host('slow', `sleep 6; ${printing(sentSnapshot('slow'), 0)}\nsleep 100`);
  const machines = machinesBySsh(['quick', 'slow'], 200, ends.signal);
  const { machines: found } = await machines.read();
  expect(found.map(({ because, state }) => because ?? state)).toEqual(['answered', 'answered']);
  expect(ssh.calls()).toHaveLength(2);
  await machines.read();
  expect(ssh.calls()).toHaveLength(2);
  // Nobody asks: the two are ended, and started again for whoever asks next.
  await sleep(6000);
  ssh.host('slow', printing(sentSnapshot('slow'), 0));
  await machines.read();
  expect(ssh.calls()).toHaveLength(4);
}, 40_000);
