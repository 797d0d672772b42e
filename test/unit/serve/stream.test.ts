import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { eventOf, Readers } from '../../../lib/serve/stream.ts';

const readers = new Readers();
const server = createServer((_, response) => {
  if (!readers.add(response)) response.writeHead(503, { 'retry-after': '10' }).end();
});
const sockets: Socket[] = [];

function reader(): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('readable', () => resolve(socket));
  });
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  readers.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

it('of a hundred readers that take nothing most are refused, the others dropped, and little waits for them', async () => {
  const all = await Promise.all(Array.from({ length: 100 }, reader));
  const firstLines = all.map((socket) => String(socket.read(12)));
  expect(firstLines.filter((line) => line === 'HTTP/1.1 200').length).toBe(32);
  expect(firstLines.filter((line) => line === 'HTTP/1.1 503').length).toBe(68);
  expect(readers.count).toBe(32);
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  const message = eventOf('machine', { text: 'x'.repeat(100_000) });
  let sent = 0;
  for (; readers.count > 0 && sent < 2000; sent += 1) {
    readers.send(message);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // What the kernel buffers, some megabytes each, and then half a megabyte.
  expect(readers.count).toBe(0);
  expect(process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before).toBeLessThan(32 * 2 ** 20);
});

it('a reader that leaves makes place', async () => {
  const socket = await reader();
  expect(readers.count).toBe(1);
  socket.destroy();
  await expect.poll(() => readers.count).toBe(0);
});

it('a reader that keeps up stays', async () => {
  const socket = await reader();
  socket.on('data', () => undefined);
  const message = eventOf('machine', { text: 'x'.repeat(100_000) });
  for (let sent = 0; sent < 100; sent += 1) {
    readers.send(message);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(readers.count).toBe(1);
});

it('an event is one line of data', () => {
  expect(eventOf('a', { text: 'x\ny' }).toString()).toBe('event: a\ndata: {"text":"x\\ny"}\n\n');
});

it('a beat keeps connections until the end, and is none after it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const own = new Readers();
    expect(vi.getTimerCount()).toBe(1);
    own.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
