/** What callers give: functions that throw or reject, after which the next run can start, and signals, which are left as they were. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NOT_THERE } from '../../../../lib/run/cluster/copy.ts';
import { fakeSsh } from '../../../support/fake-ssh.ts';
import { filesOf, hubServer } from '../../../support/hub-server.ts';
import { evaluateOnMachine, evaluatePackage } from '../../../support/package-on-machine.ts';
import { ROOT } from '../../../support/root.ts';
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

/** Whatever nobody handles ends the process. */
const STRICT = { NODE_OPTIONS: '--unhandled-rejections=strict' };

it('programs: one that rejects is what the call rejects with, and the program is stopped (simulated)', async () => {
  const file = join(temporaryFolder('callbacks'), 'ran');
  const sleeps = `command: ['sh', '-c', 'sleep 5; touch ${file}'], graceMs: 100, stdio: 'pipe'`;
  const trials = `command: ['echo', '{n}'], vary: [{ name: 'n', values: [1] }], record: false, journal`;
  const rejects = Object.entries(THROWS).flatMap(([how, make]) => (how === 'throws' ? [] : [make]));
  const calls = rejects.flatMap((make) => [
    ...['started', 'ended'].map(
      (type) => `run.guard({ ${type === 'ended' ? "command: ['true']" : sleeps}, ${make(type)} })`,
    ),
    ...['plan', 'started', 'step'].map((type) => `run.launch({ ${sleeps}, bytes: 1e6, record: false, ${make(type)} })`),
    ...['started', 'trial-started', 'output', 'trial'].map((type) => `run.profile({ ${trials}, ${make(type)} })`),
  ]);
  const answers = await evaluateOnMachine<unknown[]>(
    'gb10',
    `const run = await import('umaprobe/run');
    const answers = [];
    for (const call of [${calls.map((call) => `() => ${call}`).join(', ')}]) answers.push(await call().then(() => 'no error', caught));
    return answers;`,
    { env: STRICT },
  );
  expect(answers).toEqual(calls.map(() => ({ thrown: { name: 'Error', code: 'MINE', message: 'mine' } })));
  expect(existsSync(file)).toBe(false);
});

it('files and machines: one that rejects is what the call rejects with', async () => {
  const ssh = fakeSsh();
  ssh.host('spark', `exit ${NOT_THERE}`);
  const hub = await hubServer(filesOf(join(ROOT, 'test/support/models/sharded')));
  onTestFinished(() => hub.close());
  const folder = temporaryFolder('callbacks');
  writeFileSync(join(folder, 'model.bin'), 'x');
  const rejects = "async () => { await null; throw new Error('mine'); }";
  const calls = [
    `umaprobe.cacheStatus(['${folder}'], { onEvent: ${rejects} })`,
    `umaprobe.evictFiles(['${folder}'], { onEvent: ${rejects} })`,
    `run.cluster({ hosts: ['spark'], copy: '${ssh.folder}/ssh', onCopy: ${rejects} })`,
    `models.openModel('hf:org/tiny', { onProgress: ${rejects} })`,
  ];
  const answers = await evaluatePackage<string[]>(
    `const [run, models] = [await import('umaprobe/run'), await import('umaprobe/models')];
    const answers = [];
    for (const call of [${calls.map((call) => `() => ${call}`).join(', ')}])
      answers.push(await call().then(() => 'no error', ({ message }) => message));
    return answers;`,
    {
      env: {
        ...STRICT,
        PATH: `${ssh.folder}:${process.env.PATH}`,
        HF_ENDPOINT: hub.endpoint,
        XDG_CACHE_HOME: temporaryFolder('cache'),
      },
    },
  );
  expect(answers).toEqual(calls.map(() => 'mine'));
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
    'memory({ signal })',
    `mark('epoch 3', { folder: ${folder}, signal }).catch(() => undefined)`,
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
