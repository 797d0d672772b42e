/** JSON-RPC 2.0 over lines: reading, writing, and its errors. */
import { jsonText } from '../../base/format.ts';
import { isObject } from '../../base/objects.ts';

/** Codes of JSON-RPC 2.0. */
export const RPC = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  /** First of the codes to which a server may give a meaning of its own. */
  busy: -32000,
} as const;

/** An error that the client gets as the answer to its request. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** MCP has no null here. */
export type Id = string | number;

export interface RpcRequest {
  /** null: a notification, which gets no answer. */
  id: Id | null;
  method: string;
  params: Readonly<Record<string, unknown>>;
}

export type Reply = { jsonrpc: '2.0'; id: Id | null } & (
  | { result: object }
  | { error: { code: number; message: string } }
);

export function resultReply(id: Id, result: object): Reply {
  return { jsonrpc: '2.0', id, result };
}

export function errorReply(id: Id | null, error: unknown): Reply {
  const { code, message } =
    error instanceof RpcError
      ? error
      : new RpcError(RPC.internal, error instanceof Error ? error.message : String(error));
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** The id of a message that may be none. */
export function idOf(message: unknown): Id | null {
  const id = isObject(message) ? message.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/**
 * A message as a request; null: it is an answer, and this server asks nothing.
 *
 * @throws RpcError for anything that is no message.
 */
export function requestOf(message: unknown): RpcRequest | null {
  if (!isObject(message) || message.jsonrpc !== '2.0')
    throw new RpcError(RPC.request, 'expected an object with "jsonrpc": "2.0"');
  const { method, params = {} } = message;
  if (method === undefined && ('result' in message || 'error' in message)) return null;
  if (typeof method !== 'string') throw new RpcError(RPC.request, 'expected a "method" that is a string');
  const id = idOf(message);
  if ('id' in message && id === null) throw new RpcError(RPC.request, 'expected an "id" that is a string or a number');
  if (!isObject(params)) throw new RpcError(RPC.params, 'expected "params" that are an object');
  return { id, method, params };
}

/** Longest line, in bytes: a text of `explain_error` with room for its escapes. */
export const MAX_LINE = 8 * 1024 * 1024;

/** Lines of a stream. One that is too long is null, and the rest of it is skipped. */
export async function* lines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let isSkipping = false;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const isTooLong = length + end - from > MAX_LINE;
      if (!isSkipping) yield isTooLong ? null : Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8');
      pieces = [];
      length = 0;
      isSkipping = false;
      from = end + 1;
    }
    if (isSkipping) continue;
    length += chunk.length - from;
    pieces.push(chunk.subarray(from));
    if (length <= MAX_LINE) continue;
    isSkipping = true;
    pieces = [];
    yield null;
  }
  if (length > 0 && !isSkipping) yield Buffer.concat(pieces).toString('utf8');
}

/** A message as the line that carries it. */
export function lineOf(message: Reply | readonly Reply[]): string {
  return `${jsonText(message)}\n`;
}
