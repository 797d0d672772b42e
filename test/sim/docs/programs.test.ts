/** The three programs of docs/library.md, as a newcomer saves them: in a folder of its own in which umaprobe is installed. */

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, snapshotJson } from '../../support/cli.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait.ts';

const page = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
const programs = new Map(
  [...page.matchAll(/<!-- program: (\S+) -->\n```js\n(.*?)```/gs)].map((match) => [
    match[1] as string,
    match[2] as string,
  ]),
);
const folder = temporaryFolder('programs');
mkdirSync(join(folder, 'node_modules'));
symlinkSync(ROOT, join(folder, 'node_modules/umaprobe'));
for (const [name, code] of programs) writeFileSync(join(folder, name), code);

const onSpark = (machine: string, ...words: string[]): string[] => [
  CLI,
  'sim',
  'run',
  machine,
  '--',
  process.execPath,
  ...words,
];
const run = (machine: string, ...words: string[]) =>
  spawnSync(process.execPath, onSpark(machine, ...words), {
    cwd: folder,
    encoding: 'utf8',
    env: cliEnvironment(),
    timeout: 60_000,
  });

const running: ChildProcessWithoutNullStreams[] = [];
afterAll(() => {
  for (const child of running) child.kill('SIGTERM');
});

describe('the programs of docs/library.md', () => {
  it('are three, of 15 lines at most', () => {
    expect([...programs.keys()]).toEqual(['server.mjs', 'costs.mjs', 'gate.mjs']);
    for (const code of programs.values()) expect(code.trim().split('\n').length).toBeLessThanOrEqual(15);
  });

  it.each(['gb10-cached', 'gb10-resting'])('server: on %s it answers what can be loaded', async (machine) => {
    const port = await freePort();
    const env = cliEnvironment({ PORT: String(port) });
    const child = spawn(process.execPath, onSpark(machine, 'server.mjs'), { cwd: folder, env });
    running.push(child);
    const answer = (await answerOf(`http://127.0.0.1:${port}/`)).json();
    const { judgement } = snapshotJson(['--sim', machine]);
    expect(await answer).toEqual({
      loadable: judgement.mayLoad === 'yes' ? judgement.safe.bytes : 0,
      because: expect.stringContaining(judgement.because.slice(0, 30)),
    });
  });

  it('sweep: writes a table and a page', () => {
    const { status, stderr, stdout } = run('gb10', 'costs.mjs');
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: 'complete 6 rows in costs.csv\n' });
    const [head, ...rows] = readFileSync(join(folder, 'costs.csv'), 'utf8').trim().split('\r\n');
    expect(head).toMatch(/^at,simulated,device,/);
    expect(rows).toHaveLength(6);
    expect(readFileSync(join(folder, 'costs.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('gate: lets a model pass that fits, with flags, and stops one that does not', () => {
    const model = (name: string, hidden: number): string => {
      const config = {
        model_type: 'llama',
        architectures: ['LlamaForCausalLM'],
        hidden_size: hidden,
        intermediate_size: 4 * hidden,
        num_hidden_layers: 80,
        num_attention_heads: 64,
        num_key_value_heads: 8,
        vocab_size: 32_000,
        torch_dtype: 'bfloat16',
        max_position_embeddings: 65_536,
      };
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'config.json'), JSON.stringify(config));
      return name;
    };
    const small = run('gb10', 'gate.mjs', model('small', 2048));
    expect({ status: small.status, stderr: small.stderr }).toEqual({ status: 0, stderr: '' });
    expect(small.stdout).toMatch(/--max-model-len/);
    const large = run('gb10', 'gate.mjs', model('large', 16_384));
    expect(large.status).toBe(1);
    expect(large.stdout).toMatch(/do not fit/);
  });
});

/** The first answer of a server that is being started. */
const answerOf = (url: string): Promise<Response> => waitFor(`an answer of ${url}`, () => fetch(url).catch(() => null));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
