/** What must be stopped: by `await using`, and by a signal that is aborted while it begins. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../../lib/run/record/folder.ts';
import { evaluateOnMachine, evaluatePackage } from '../../../support/package-on-machine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('the end of a scope (simulated)', () => {
  it('writes the rest of a recording, and the next one can begin', async () => {
    const folder = JSON.stringify(temporaryFolder('record'));
    const answer = await evaluateOnMachine<unknown[]>(
      'gb10',
      `const { readRecord, record } = await import('umaprobe/run');
      const recorder = await record({ folder: ${folder} });
      recorder.mark('epoch 3');
      await recorder[Symbol.asyncDispose]();
      const { sessions } = await readRecord({ folder: ${folder} });
      return [recorder.state().running, sessions[0].end, sessions[0].marks.map(({ text }) => text)];`,
    );
    expect(answer).toEqual([false, 'complete', ['epoch 3']]);
  });

  it('closes a server', async () => {
    const answer = await evaluateOnMachine<unknown[]>(
      'gb10',
      `const server = await (await import('umaprobe/serve')).serve({ listen: '127.0.0.1:0' });
      const { status } = await fetch(server.url + '-/healthy');
      await server[Symbol.asyncDispose]();
      return [status, await fetch(server.url).catch(({ cause }) => cause.code)];`,
    );
    expect(answer).toEqual([200, 'ECONNREFUSED']);
  });

  it.each([
    ['guard', 'graceMs: 100'],
    ['launch', 'graceMs: 100, bytes: 1e6, record: false'],
    ['profile', "vary: [{ name: 'n', values: [1] }], record: false, journal"],
  ])('ends the program of %s()', async (name, options) => {
    const file = join(temporaryFolder('ending'), 'ran');
    const command = JSON.stringify(['sh', '-c', `echo up; sleep 20; touch ${file}`, '{n}']);
    const stdio = name === 'profile' ? '' : "stdio: 'pipe',";
    const end = await evaluateOnMachine<string>(
      'gb10',
      `const { ${name} } = await import('umaprobe/run');
      let up;
      const begun = new Promise((resolve) => { up = resolve; });
      const onEvent = ({ type }) => { if (type === 'output') up(); };
      const run = ${name}({ command: ${command}, ${stdio} ${options}, onEvent });
      await begun;
      await run[Symbol.asyncDispose]();
      const { outcome, state } = await run;
      return outcome ?? state;`,
    );
    expect([end, existsSync(file)]).toEqual(['aborted', false]);
  });

  it('starts no program that has not begun, and throws nothing', async () => {
    const file = join(temporaryFolder('ending'), 'ran');
    const answer = await evaluatePackage<unknown[]>(
      `const run = (await import('umaprobe/run')).guard({ command: ['touch', '${file}'] });
      return [await run[Symbol.asyncDispose](), await run.catch(({ name }) => name)];`,
    );
    expect([answer[1], existsSync(file)]).toEqual(['AbortError', false]);
  });
});

describe('a signal that is aborted in the work (simulated)', () => {
  it('ends memory() although NVML hangs', async () => {
    const answer = await evaluateOnMachine<[string, boolean]>(
      'gb10-hang',
      `const abort = new AbortController();
      const ended = umaprobe.memory({ deadlineMs: 60_000, signal: abort.signal }).then(() => 'no error', ({ message }) => message);
      const begun = performance.now();
      await new Promise(setImmediate);
      abort.abort(new Error('enough'));
      return [await ended, performance.now() - begun < 30_000];`,
    );
    expect(answer).toEqual(['enough', true]);
  });

  it('ends a mark that no recorder answers, and its connection', async () => {
    const folder = temporaryFolder('mark');
    const message = await evaluatePackage<string>(
      `const { createServer } = await import('node:net');
      const abort = new AbortController();
      const server = createServer((socket) => abort.abort(new Error('enough')));
      await new Promise((resolve) => server.listen('${join(folder, SOCKET)}', resolve));
      const { mark } = await import('umaprobe/run');
      const message = await mark('x', { folder: '${folder}', signal: abort.signal }).catch(({ message }) => message);
      // It waits for every connection.
      await new Promise((resolve) => server.close(resolve));
      return message;`,
    );
    expect(message).toBe('enough');
  });

  it.each([
    ['record', `run.record({ folder: '${temporaryFolder('record')}', signal })`],
    ['serve', "serve.serve({ listen: '127.0.0.1:0', signal })"],
  ])('ends %s() while it begins to listen, and leaves nothing that runs', async (_, call) => {
    const message = await evaluateOnMachine<string>(
      'gb10',
      `const { Server } = await import('node:net');
      const [run, serve] = [await import('umaprobe/run'), await import('umaprobe/serve')];
      const begin = (signal) => ${call};
      const abort = new AbortController();
      const { listen } = Server.prototype;
      Server.prototype.listen = function (...args) {
        abort.abort(new Error('enough'));
        return listen.apply(this, args);
      };
      const message = await begin(abort.signal).then(() => 'it goes on', ({ message }) => message);
      Server.prototype.listen = listen;
      await (await begin(undefined))[Symbol.asyncDispose]();
      return message;`,
    );
    // A server that still listens would keep the process alive.
    expect(message).toBe('enough');
  });
});
