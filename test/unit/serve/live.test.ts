import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Live } from '../../../lib/serve/live.ts';
import type { LiveReading } from '../../../lib/types/index.ts';
import { snapshotOf } from '../../support/snapshots.ts';

const INTERVAL_MS = 100;
const SNAPSHOT = snapshotOf({ some: 3, full: 2, host: { swapFree: 12_000_000_000 } });
const ends = new AbortController();
let reads = 0;

/** A machine that takes more than half of the interval to answer, as over ssh. */
const live = new Live({
  config: { schema: 'umaprobe/live/1', intervalMs: INTERVAL_MS, staleMs: 20_000, hosts: ['a'] },
  machines: {
    hosts: ['a'],
    async read() {
      reads += 1;
      await sleep(0.6 * INTERVAL_MS);
      const snapshot = { ...SNAPSHOT, at: new Date(reads * 1000).toISOString() };
      return {
        machines: [{ host: 'a', state: 'answered', because: null, next: null, ageMs: 5000, snapshot }],
        summary: null,
      };
    },
  },
  assets: { script: '', style: '', version: '1' },
  own: false,
  argv: false,
  deadlineMs: 2000,
  signal: ends.signal,
});
const server = createServer((_, response) => live.join(response));

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  ends.abort();
  server.close();
});

/** The first readings that a reader gets. */
function readings(count: number): Promise<LiveReading[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }, (response) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const found = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data ?? '') as LiveReading);
        if (found.length < count) return;
        resolve(found.slice(0, count));
        request.destroy();
      });
    });
    request.once('error', reject);
  });
}

it('each interval has a reading of its own, and only what has changed is sent again', async () => {
  const found = await readings(4);
  expect(new Set(found.map(({ point }) => point?.at)).size).toBe(4);
  expect(Object.keys(found[0]?.pieces ?? {}).length).toBeGreaterThan(5);
  for (const { pieces } of found.slice(1)) expect(pieces).toEqual({});
});

it('a reading has the numbers and the age of the answer', async () => {
  const [reading] = await readings(1);
  const { available, free, swapFree, swapTotal } = SNAPSHOT.host;
  expect(reading?.point).toMatchObject({
    free,
    lowestFree: free,
    available,
    lowestAvailable: available,
    swapUsed: (swapTotal ?? 0) - (swapFree ?? 0),
    somePercent: 3,
    fullPercent: 2,
  });
  expect(reading?.ageMs).toBeGreaterThanOrEqual(5000);
});

it('a reader that comes later has everything at first', async () => {
  const [first, second] = await Promise.all([readings(3), sleep(2 * INTERVAL_MS).then(() => readings(1))]);
  expect(Object.keys(second[0]?.pieces ?? {})).toEqual(Object.keys(first[0]?.pieces ?? {}));
});

it('nothing is read while nobody looks', async () => {
  await readings(1);
  await sleep(3 * INTERVAL_MS);
  const before = reads;
  await sleep(5 * INTERVAL_MS);
  expect(reads).toBe(before);
});

it('pages that are opened together share a reading', async () => {
  const before = reads;
  const pages = await Promise.all([live.page(), live.page(), live.page()]);
  expect(reads).toBe(before + 1);
  expect(new Set(pages).size).toBe(1);
});
