/** The machines of a page: followed while somebody asks, and no longer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { machinesBySsh } from '../../../lib/serve/machines.ts';
import { fakeSshOnPath, printing, sentSnapshot } from '../../support/fake-ssh.ts';

const ssh = fakeSshOnPath();
const ends = new AbortController();
afterAll(() => ends.abort());

it('a machine that is slow to answer is unknown until it has; when nobody asks, all are left', async () => {
  ssh.host('quick', `${printing(sentSnapshot('quick'), 0)}\nsleep 100`);
  ssh.host('slow', `sleep 8; ${printing(sentSnapshot('slow'), 0)}\nsleep 100`);
  const machines = machinesBySsh(['quick', 'slow'], 200, ends.signal);
  const states = async () => (await machines.read()).machines.map(({ because, state }) => because ?? state);
  expect(await states()).toEqual(['answered', 'It has not answered yet.']);
  await expect.poll(states, { timeout: 20_000, interval: 0 }).toEqual(['answered', 'answered']);
  expect(ssh.calls()).toHaveLength(2);
  await machines.read();
  expect(ssh.calls()).toHaveLength(2);
  // Nobody asks: the two are ended, and started again for whoever asks next.
  await sleep(6000);
  ssh.host('slow', printing(sentSnapshot('slow'), 0));
  await machines.read();
  expect(ssh.calls()).toHaveLength(4);
}, 40_000);
