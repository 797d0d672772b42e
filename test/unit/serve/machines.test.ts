/** The machines of a page: followed while somebody asks, and no longer. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { machinesBySsh } from '../../../lib/serve/machines.ts';
import { fakeSshOnPath, printing, sentSnapshot } from '../../support/fake-ssh.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ssh = fakeSshOnPath();
const folder = temporaryFolder('machines');
const ends = new AbortController();
afterAll(() => ends.abort());

it('a machine that is slow to answer is unknown until it has; when nobody asks, all are left', async () => {
  const [go, pid] = [join(folder, 'go'), join(folder, 'pid')];
  ssh.host('quick', `echo $$ > ${pid}; ${printing(sentSnapshot('quick'), 0)}\nexec sleep 100`);
  ssh.host('slow', `until [[ -e ${go} ]]; do sleep 0.05; done; ${printing(sentSnapshot('slow'), 0)}\nexec sleep 100`);
  const times = { firstMs: 500, retryMs: 5000, idleMs: 1500 };
  const machines = machinesBySsh(['quick', 'slow'], 200, ends.signal, times);
  const states = async () => (await machines.read()).machines.map(({ because, state }) => because ?? state);
  const soon = { timeout: 20_000, interval: 0 };
  await expect.poll(states, soon).toEqual(['answered', 'It has not answered yet.']);
  writeFileSync(go, '');
  await expect.poll(states, soon).toEqual(['answered', 'answered']);
  expect(ssh.calls()).toHaveLength(2);
  await machines.read();
  expect(ssh.calls()).toHaveLength(2);
  // Nobody asks: the two are ended, and started again for whoever asks next.
  const quick = readFileSync(pid, 'utf8').trim();
  await expect.poll(() => existsSync(`/proc/${quick}`), soon).toBe(false);
  await expect.poll(states, soon).toEqual(['answered', 'answered']);
  expect(ssh.calls()).toHaveLength(4);
}, 60_000);
