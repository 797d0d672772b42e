/** What callers give: functions that throw or reject, after which the next run can start, and signals, which are left as they were. */

import { expect, it } from 'vitest';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const CALLS = {
  sweep: (callback: string) => `umaprobe.sweep({ sizes: [1e6, 2e6, 3e6], journal, ${callback} })`,
  layout: (callback: string) => `umaprobe.layout({ a: 1e6, b: 1e6, c: 1e6 }, { journal, ${callback} })`,
  stress: (callback: string) => `umaprobe.stress({ maxBytes: 2 ** 30, journal, ${callback} })`,
};
const MINE = "throw Object.assign(new Error('mine'), { code: 'MINE' });";
const THROWS = {
  throws: (type: string) => `onEvent(event) { if (event.type === '${type}') ${MINE} }`,
  rejects: (type: string) => `async onEvent(event) { await null; if (event.type === '${type}') ${MINE} }`,
  'rejects later': (type: string) =>
    `async onEvent(event) { await new Promise((r) => setTimeout(r, 20)); if (event.type === '${type}') ${MINE} }`,
};

it.each(Object.entries(CALLS))('%s (simulated)', async (command, call) => {
  const events = ['started', command === 'layout' ? 'part' : 'step'];
  const bodies = events.flatMap((type) => Object.values(THROWS).map((make) => call(make(type))));
  const answers = await evaluateOnMachine<unknown[]>(
    'gb10',
    `const answers = [];
    for (const call of [${bodies.map((body) => `() => ${body}`).join(', ')}]) answers.push(await call().then(() => 'no error', caught));
    answers.push((await ${call('')}).state);
    return answers;`,
  );
  const thrown = { thrown: { name: 'Error', code: 'MINE', message: 'mine' } };
  expect(answers).toEqual([...bodies.map(() => thrown), command === 'stress' ? 'limit' : 'complete']);
});

it('a child that cannot be started leaves the journal free (simulated)', async () => {
  const answers = await evaluateOnMachine<unknown[]>(
    'gb10',
    `const { execPath } = process;
    const run = () => umaprobe.sweep({ sizes: [1e6], journal }).then(({ state }) => state, ({ name, nativeName }) => [name, nativeName]);
    process.execPath = '/nonexistent/node';
    const failed = await run();
    process.execPath = execPath;
    return [failed, await run()];`,
  );
  expect(answers).toEqual([['UmaError', 'ENOENT'], 'complete']);
});

it('nothing is left at the signal of a call that has ended (simulated)', async () => {
  const folder = JSON.stringify(temporaryFolder('signal'));
  const calls = [
    'snapshot({ signal })',
    'watch({ signal, intervalMs: 10 })[Symbol.asyncIterator]().next()',
    'processes({ signal })',
    'doctor({ signal })',
    'explain({ signal })',
    'prepare({ bytes: 1e9, signal, dryRun: true })',
    'sweep({ sizes: [1e6], journal, signal })',
    'layout({ a: 1e6 }, { journal, signal })',
    'stress({ maxBytes: 2 ** 30, journal, signal })',
    "guard({ command: ['true'], stdio: 'pipe', signal })",
    "guard({ command: ['no such program'], stdio: 'pipe', signal })",
    `record({ folder: ${folder}, signal }).then((recorder) => recorder.stop())`,
    `readRecord({ folder: ${folder}, signal })`,
    "serve({ listen: '127.0.0.1:0', signal }).then((server) => server.close())",
  ];
  const left = await evaluateOnMachine<[string, string, number][]>(
    'gb10',
    `const { getEventListeners } = await import('node:events');
    const doors = { ...umaprobe, ...(await import('umaprobe/run')), ...(await import('umaprobe/serve')) };
    const left = [];
    for (const [name, call] of Object.entries({ ${calls.map((call) => `${JSON.stringify(call)}: (signal) => doors.${call}`).join(', ')} })) {
      const { signal } = new AbortController();
      const ended = await call(signal).then(() => 'ended', ({ message }) => message);
      left.push([name, ended, getEventListeners(signal, 'abort').length]);
    }
    return left;`,
  );
  expect(left).toEqual(
    calls.map((call) => [call, call.includes('no such') ? expect.stringContaining('no such program') : 'ended', 0]),
  );
});
