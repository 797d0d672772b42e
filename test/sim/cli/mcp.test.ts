/** `umaprobe mcp` as an agent uses it: the official client, the answers of the command line, and a conversation as text. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryOf } from '../../../lib/core/memory/pool.ts';
import { CLI, cliEnvironment, exitOf, runUmaprobe, snapshotJson, startUmaprobe } from '../../support/cli.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait.ts';

const MACHINE = ['--sim', 'gb10-cached'];
const GOLDEN = join(ROOT, 'test/sim/cli/golden/mcp.txt');

interface Answer {
  structuredContent?: Record<string, unknown>;
  content: { type: string; text: string }[];
  isError?: boolean;
}

/** Times and process numbers differ from run to run. */
const VARYING = /"(at|durationMs|startedAt|pid|uptimeMs|took\w*|\w+Ms)":("[^"]*"|[\d.]+)/g;
const steady = (document: unknown): unknown => JSON.parse(JSON.stringify(document).replace(VARYING, '"$1":0'));

describe('with the official client', () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Answer> =>
    (await client.callTool({ name, arguments: args })) as unknown as Answer;

  beforeAll(async () => {
    const env = cliEnvironment() as Record<string, string>;
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp', ...MACHINE], env }));
  });
  afterAll(() => client.close());

  it('agrees on the newest version, and lists tools that only read', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'umaprobe' });
    expect(client.getInstructions()).toMatch(/never guess/);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'memory',
      'snapshot',
      'doctor',
      'fit',
      'estimate',
      'explain_error',
      'processes',
    ]);
    for (const { annotations, inputSchema, name } of tools) {
      expect(annotations?.readOnlyHint).toBe(true);
      // Only a model named hf:org/name is asked of the network.
      expect(annotations?.openWorldHint).toBe(name === 'fit' || name === 'estimate');
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  const log = join(temporaryFolder('mcp'), 'app.log');
  const message = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';
  writeFileSync(log, message);

  it.each<[string, Record<string, unknown>, string[]]>([
    ['doctor', { only: ['pressure', 'swap.*'] }, ['doctor', '--only', 'pressure,swap.*']],
    [
      'fit',
      { params: 70e9, dtype: 'int4', for: 'vllm' },
      ['fit', '--params', '70e9', '--dtype', 'int4', '--for', 'vllm'],
    ],
    ['fit', { bytes: '200GB' }, ['fit', '--bytes', '200GB']],
    ['fit', { bytes: 14e9 }, ['fit', '--bytes', '14GB']],
    ['estimate', { params: 8e9, use: 'lora' }, ['estimate', '--params', '8e9', '--use', 'lora']],
    ['explain_error', { path: log }, ['explain', '--error', log]],
    ['processes', {}, ['processes']],
    // Mistakes that the command explains.
    ['fit', { model: '--html=/tmp/x' }, ['fit', '--', '--html=/tmp/x']],
    ['estimate', { model: '/nowhere' }, ['estimate', '/nowhere']],
  ])('%s %j answers as the command does', async (name, args, typed) => {
    const { content, isError, structuredContent } = await call(name, args);
    const printed = JSON.parse(runUmaprobe([...typed.slice(0, 1), '--json', ...MACHINE, ...typed.slice(1)]).stdout);
    expect(steady(structuredContent)).toEqual(steady(printed));
    expect(JSON.parse(content[0]?.text as string)).toEqual(structuredContent);
    expect(isError).toBe(printed.schema === 'umaprobe/error/1');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['fit', {}, 'What shall fit? Name a model, or give "params" 70e9 or "bytes" 100GiB.'],
    ['fit', { params: 7e9, context: '--bytes' }, '"context" "--bytes" is not a whole number from 1 to 100000000.'],
    ['fit', { params: 7e9, 'program-version': '1' }, '"program-version" needs "for".'],
    ['doctor', { only: ['x'] }, '"only" "x" matches no check. umaprobe doctor --list shows the checks.'],
    ['explain_error', { path: '/none' }, '"path" "/none": there is no such file or folder (ENOENT 2)'],
  ])('%s %j: the error names arguments, not options', async (name, args, message) => {
    const { isError, structuredContent } = await call(name, args);
    expect([isError, structuredContent]).toEqual([true, expect.objectContaining({ schema: 'umaprobe/error/1' })]);
    expect(structuredContent?.error).toMatchObject({ message });
  });

  it('memory and snapshot answer as snapshot does', async () => {
    const printed = snapshotJson(MACHINE);
    expect((await call('memory')).structuredContent).toEqual(memoryOf(printed));
    const seen = (await call('snapshot')).structuredContent as unknown as typeof printed;
    expect([seen.schema, seen.judgement, seen.host.total]).toEqual([
      printed.schema,
      printed.judgement,
      printed.host.total,
    ]);
  });

  it('explain_error takes a text, and guesses nothing', async () => {
    const known = (await call('explain_error', { text: message })).structuredContent;
    const printed = JSON.parse(runUmaprobe(['explain', '--json', '--error', log, ...MACHINE]).stdout);
    expect(steady(known)).toEqual(steady(printed));
    expect((await call('explain_error', { text: 'hello' })).structuredContent).toMatchObject({ errors: [] });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['nope', {}, /"nope" is not a tool; there are memory, snapshot/],
    ['memory', { gpu: 1 }, /memory has no argument "gpu"; it takes no arguments/],
    ['fit', { html: '/tmp/x' }, /fit has no argument "html"/],
    ['fit', { model: 7 }, /"model" is 7; expected a text/],
    ['doctor', { only: 'swap' }, /"only" is "swap"; expected a list of texts/],
    ['explain_error', {}, /takes "text" or "path", one of them/],
    ['explain_error', { text: 'x'.repeat(2 ** 20 + 1) }, /expected at most 1048576: give "path"/],
  ])('refuses %s %j with a sentence', async (name, args, sentence) => {
    await expect(call(name, args)).rejects.toThrow(sentence);
  });

  it('a path is never stdin, and a device is no log', async () => {
    for (const path of ['-', '/dev/zero', ROOT]) {
      const { isError, structuredContent } = await call('explain_error', { path });
      expect([path, isError, structuredContent?.schema]).toEqual([path, true, 'umaprobe/error/1']);
    }
  });
});

/** Sends lines, in turn where `inTurn`, and answers what was printed. */
async function converse(lines: readonly string[], machine: readonly string[] = MACHINE, inTurn = true) {
  const server = startUmaprobe(['mcp', ...machine]);
  let [out, err] = ['', ''];
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  for (const line of lines) {
    const before = out.split('\n').length;
    server.stdin.write(`${line}\n`);
    const isAnswered = !inTurn || line.includes('"method":"notifications/');
    if (!isAnswered) await waitFor(`an answer to ${line}`, () => out.split('\n').length > before);
  }
  server.stdin.end();
  const code = await exitOf(server);
  return { code, err, out: out.split('\n').filter((line) => line !== '') };
}

const request = (id: unknown, method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
const initialize = (version: string): string =>
  request(0, 'initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } });
const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

/** The list of tools without its descriptions, which are those of the commands' options. */
function shortened(line: string): string {
  const { id, result } = JSON.parse(line) as { id: number; result?: { tools?: Tool[] } };
  if (result?.tools === undefined) return line;
  return `(id ${id}) ${result.tools.map(({ inputSchema, name }) => `${name}(${Object.keys(inputSchema.properties).join(', ')})`).join(' ')}`;
}

interface Tool {
  name: string;
  inputSchema: { properties: object };
}

describe('line by line', () => {
  it('is the conversation of golden/mcp.txt, and nothing else is printed', async () => {
    const lines = [
      request(1, 'tools/list'),
      initialize('2025-06-18'),
      INITIALIZED,
      request(2, 'ping'),
      request(3, 'tools/list'),
      request('four', 'tools/call', { name: 'memory' }),
      request(5, 'tools/call', { name: 'memory', arguments: { unit: 'GiB' } }),
      request(6, 'tools/call', { name: 'fit', arguments: { params: 7e9, for: 'ollam' } }),
      request(7, 'resources/list'),
      request(8, 'initialize', { protocolVersion: '2025-06-18' }),
      request(null, 'ping'),
      '{"jsonrpc":"2.0","id":9,"method":7}',
      '{"id":10,"method":"ping"}',
      'free -g',
      '[]',
      `[${request(11, 'ping')},${INITIALIZED},${request(12, 'nope')}]`,
    ];
    const { code, err, out } = await converse(lines);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const answers = [...out];
    const text = lines
      .map((line) => (line === INITIALIZED ? `> ${line}\n` : `> ${line}\n< ${shortened(answers.shift() as string)}\n`))
      .join('');
    expect(answers).toEqual([]);
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-11-25', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ])('asked for version %s it speaks %s', async (asked, spoken) => {
    const { out } = await converse([initialize(asked)]);
    expect(JSON.parse(out[0] as string).result.protocolVersion).toBe(spoken);
  });

  it('answers what it was asked before its input ended, and skips a line that is too long', async () => {
    const long = `"${'x'.repeat(8 * 1024 * 1024)}"`;
    const { code, out } = await converse(
      [initialize('2025-11-25'), long, request(1, 'tools/call', { name: 'estimate', arguments: { params: 7e9 } })],
      MACHINE,
      false,
    );
    expect(code).toBe(0);
    const byId = new Map(out.map((line) => [JSON.parse(line).id, JSON.parse(line)]));
    expect(byId.get(null).error.message).toMatch(/more than 8388608 bytes/);
    expect(byId.get(1).result.structuredContent.schema).toBe('umaprobe/estimate/1');
  });

  it('ends a call that is cancelled, without an answer, and goes on', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } };
    const started = performance.now();
    // Its reading waits for CUDA.
    const { out } = await converse(
      [
        initialize('2025-11-25'),
        request(1, 'tools/call', { name: 'doctor' }),
        JSON.stringify(cancel),
        request(2, 'ping'),
      ],
      ['--sim', 'gb10-cuda-hang'],
      false,
    );
    expect(out.map((line) => JSON.parse(line).id)).toEqual([0, 2]);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('runs at most eight calls at once', async () => {
    const calls = Array.from({ length: 9 }, (_, index) =>
      request(index + 1, 'tools/call', { name: 'estimate', arguments: { params: 7e9 } }),
    );
    const { out } = await converse([initialize('2025-11-25'), ...calls], MACHINE, false);
    const errors = out.map((line) => JSON.parse(line)).filter(({ error }) => error !== undefined);
    expect(errors).toEqual([
      { jsonrpc: '2.0', id: 9, error: { code: -32000, message: '8 calls are running: wait for one of them' } },
    ]);
    expect(out).toHaveLength(10);
  });
});
