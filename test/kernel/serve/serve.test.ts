/** The page of `umaprobe serve` on this machine: command lines of its processes are shown only where that was asked for. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { expect, it } from 'vitest';
import { exitOf } from '../../support/cli.ts';
import { startServing } from '../../support/serving.ts';

const SECRET = 'token-of-the-test-serve';

/** What the stream sends until it has told of the process. */
function streamedUntil(url: string, found: (text: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const request = get(`${url}events`, (response) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (!found(text)) return;
        request.destroy();
        resolve(text);
      });
    });
    request.once('error', (error) => found(text) || reject(error));
  });
}

it.each([
  [[], false],
  [['--argv'], true],
])('with %j the command line of a process is on the page: %s', async (args, shown) => {
  const code = 'globalThis.held = Buffer.alloc(2 ** 29, 1); console.log(); setInterval(() => undefined, 1000)';
  const holder = spawn(process.execPath, ['-e', code, SECRET], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(holder.stdout, 'data');
  const { child, url } = await startServing(args);
  try {
    const text = await streamedUntil(url, (sent) => sent.includes(`<td>${holder.pid}</td>`));
    expect(text.includes(SECRET)).toBe(shown);
  } finally {
    holder.kill();
    child.kill();
    await exitOf(child);
  }
});
