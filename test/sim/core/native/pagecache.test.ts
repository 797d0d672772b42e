/** The page cache of a simulated machine, which is a number and never a real file; and the calls that free memory there. */

import { describe, expect, it } from 'vitest';
import { native } from '../../../../lib/core/native/binding.ts';
import { loadMachine } from '../../../../lib/sim.ts';
import { printedBy, printedOnMachine } from '../../../support/binary-on-machine.ts';

const cached = () => loadMachine('gb10-cached');

describe('on a simulated machine', () => {
  it('no real file is read, evicted or found mapped', async () => {
    const refused = {
      failed: true,
      source: 'sim',
      name: 'NOT_SUPPORTED',
      status: null,
      message: 'a simulated machine has no files: its page cache is a number',
    };
    const [status, evict, mappings] = await printedOnMachine(
      cached(),
      `for (const mode of ['status', 'evict']) print(b.cacheWalk([process.execPath], { mode, listEmpty: true }));
         const { dev, ino } = (await import('node:fs')).statSync(process.execPath);
         print(await b.mappings(new Float64Array([dev, ino]), 5000));`,
    );
    expect(status).toEqual({ ...refused, call: 'cacheWalk' });
    expect(evict).toEqual(status);
    expect(mappings).toEqual({ ...refused, call: 'mappings' });
  });

  it('drop_caches drops the cache of that machine', async () => {
    const free = `const out = new Float64Array(b.hostMemoryFields().length); b.hostMemory(out); print(out[b.hostMemoryFields().indexOf('free')]);`;
    const [before, answer, after] = await printedOnMachine(
      cached(),
      `{ ${free} } print(await b.writeFile('/proc/sys/vm/drop_caches', '3', 30000)); { ${free} }`,
    );
    expect(answer).toEqual({ durationMs: expect.any(Number) });
    expect((after as number) - (before as number)).toBeGreaterThan(2 ** 30);
  });

  it('sync answers', async () => {
    const [answer] = await printedOnMachine(cached(), 'print(await b.syncAll(30000))');
    expect(answer).toEqual({ durationMs: expect.any(Number) });
  });

  it('that is unreachable, calls fail instead of using real files and the real kernel', async () => {
    const env = { UMAPROBE_SIM: '/nowhere/machine' };
    const told = await printedBy(
      `print(b.cacheWalk(['/etc'], { mode: 'status', listEmpty: true }));
       print(await b.mappings(new Float64Array([1, 2]), 5000));
       print(await b.writeFile('/proc/sys/vm/drop_caches', '1', 5000));
       print(await b.syncAll(5000));`,
      env,
    );
    expect(told).toHaveLength(4);
    for (const answer of told) expect(answer).toMatchObject({ failed: true, source: 'sim' });
  });
});

describe('writeFile', () => {
  it.each([
    '/etc/passwd',
    '/proc/sys/vm/swappiness',
    '/proc/sys/vm/../vm/drop_caches',
    '/proc/self/mem',
    'memory.reclaim',
  ])('does not write to %s', async (path) => {
    expect(await native().writeFile(path, '1', 5000)).toMatchObject({
      failed: true,
      source: 'umaprobe',
      name: 'EINVAL',
      call: `write ${path}`,
    });
  });
});

describe('arguments', () => {
  it('of the wrong kind are a TypeError, and nothing begins', () => {
    const b = native() as unknown as Record<string, (...values: unknown[]) => unknown>;
    for (const values of [[], ['/etc'], [[1], {}], [['/etc']], [['/etc'], null]]) {
      expect(() => b.cacheWalk?.(...values)).toThrow(TypeError);
    }
    expect(() => b.mappings?.([1, 2], 1000)).toThrow(TypeError);
    expect(() => b.cacheNext?.('1', 50, 1000)).toThrow(TypeError);
  });
});

describe('a walk', () => {
  it('ends with its worker, in the middle of a tree', async () => {
    const [exits] = await printedBy(`
      const { Worker } = await import('node:worker_threads');
      const code = "const b = require(process.env.BINARY); const id = b.cacheWalk(['/usr', '/proc'], { mode: 'status', listEmpty: true });" +
        "(async () => { for (;;) { const { done } = await b.cacheNext(id, 5, 10000); require('worker_threads').parentPort.postMessage(done); if (done) break; } })();";
      const exits = [];
      for (let i = 0; i < 10; i++) {
        const worker = new Worker(code, { eval: true, execArgv: [], env: { ...process.env, BINARY: binary } });
        await new Promise((resolve) => worker.once('message', resolve));
        exits.push(await worker.terminate());
      }
      print(exits);`);
    expect(exits).toEqual(Array(10).fill(1));
  });
});
