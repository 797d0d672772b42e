/** The lines of the protocol, however the stream cuts them, and messages that are none. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lines, MAX_LINE, RPC, requestOf } from '../../../lib/cli/mcp/rpc.ts';
import { McpServer } from '../../../lib/cli/mcp/server.ts';

async function* pieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (let turn = 0; from < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function linesOf(text: string, sizes: readonly number[]): Promise<(string | null)[]> {
  const read: (string | null)[] = [];
  for await (const line of lines(pieces(Buffer.from(text), sizes))) read.push(line);
  return read;
}

describe('lines()', () => {
  it('are the same however the stream is cut, also within a character', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\n')));
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (list, cuts) => {
        expect(await linesOf(list.map((line) => `${line}\n`).join(''), cuts)).toEqual(list);
      }),
    );
  });

  it('one that is too long is null once, wherever it is cut, and the next one is read', async () => {
    const long = 'x'.repeat(MAX_LINE + 1);
    for (const size of [MAX_LINE + 10, MAX_LINE / 2, 65_536])
      expect(await linesOf(`a\n${long}\nb\n`, [size])).toEqual(['a', null, 'b']);
    expect(await linesOf(`${long.slice(1)}\n`, [65_536])).toEqual([long.slice(1)]);
  });
});

describe('messages', () => {
  const server = () => new McpServer({ version: '1', tools: async () => [] });

  it('whatever comes gets an answer of JSON-RPC or none, and never ends the server', async () => {
    const asked = server();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (line) => {
        for (const reply of [await asked.answer(line)].flat()) {
          if (reply === null) continue;
          expect(reply.jsonrpc).toBe('2.0');
          if ('error' in reply) expect(reply.error.code).not.toBe(RPC.internal);
        }
      }),
    );
  });

  it.each([
    [null],
    [7],
    [{ method: 'ping', id: 1 }],
    [{ jsonrpc: '2.0', id: {}, method: 'ping' }],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
  ])('%j is no request', (message) => expect(() => requestOf(message)).toThrow(/^expected /));

  it('an answer to nothing, and a notification, get none', async () => {
    expect(await server().answer('{"jsonrpc":"2.0","id":1,"result":{}}')).toBeNull();
    expect(await server().answer('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}')).toBeNull();
  });
});
