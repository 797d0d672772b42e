/** The Model Context Protocol: life cycle, list of tools, calls and their cancellation. Reads and writes nothing itself. */
import { isObject } from '../../base/objects.ts';
import { callCommand } from './call.ts';
import {
  errorReply,
  type Id,
  idOf,
  type Reply,
  RPC,
  RpcError,
  type RpcRequest,
  requestOf,
  resultReply,
} from './rpc.ts';
import type { Tool } from './tools.ts';

/** Newest first. Batches, which only 2025-03-26 has, are understood in each. */
const PROTOCOLS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** Calls at the same time: each is a process. */
const MOST_CALLS = 8;

/** Text for the model, sent once. */
const INSTRUCTIONS =
  'Memory of this machine and its GPUs. On an NVIDIA DGX Spark CPU and GPU share one pool, nvidia-smi has no number, and a load that is too large freezes the machine: ask `memory` before something large is loaded, `fit` before a model is started, `explain_error` with the message when a load has failed, `doctor` when a number is surprising. Sizes are bytes. null and "unknown" are no yes: say so, and never guess a number. Nothing here changes the machine.';

export interface ServerOptions {
  version: string;
  tools(): Promise<readonly Tool[]>;
}

export class McpServer {
  readonly #options: ServerOptions;
  readonly #calls = new Map<Id, AbortController>();
  #initialized = false;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** The answer to one line; null: it gets none. */
  async answer(line: string): Promise<Reply | Reply[] | null> {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return errorReply(null, new RpcError(RPC.parse, 'expected one line of JSON'));
    }
    if (!Array.isArray(message)) return this.#reply(message);
    if (message.length === 0) return errorReply(null, new RpcError(RPC.request, 'the batch is empty'));
    const replies = await Promise.all(message.map((part: unknown) => this.#reply(part)));
    const given = replies.filter((reply) => reply !== null);
    return given.length === 0 ? null : given;
  }

  async #reply(message: unknown): Promise<Reply | null> {
    try {
      const request = requestOf(message);
      if (request === null) return null;
      if (request.id === null) return this.#notified(request);
      const result = await this.#result(request, request.id);
      return result === null ? null : resultReply(request.id, result);
    } catch (error) {
      return errorReply(idOf(message), error);
    }
  }

  #notified({ method, params }: RpcRequest): null {
    const id = params.requestId;
    if (method === 'notifications/cancelled' && (typeof id === 'string' || typeof id === 'number'))
      this.#calls.get(id)?.abort();
    return null;
  }

  /** null: the request was cancelled, and gets no answer. */
  async #result({ method, params }: RpcRequest, id: Id): Promise<object | null> {
    if (method === 'ping') return {};
    if (method === 'initialize') return this.#initialize(params);
    if (!this.#initialized) throw new RpcError(RPC.request, `"${method}" comes before "initialize"`);
    if (method === 'tools/list') return this.#list(params);
    if (method === 'tools/call') return this.#call(params, id);
    throw new RpcError(RPC.method, `"${method}" is not a method of this server, which has tools/list and tools/call`);
  }

  #initialize({ protocolVersion }: RpcRequest['params']): object {
    if (this.#initialized) throw new RpcError(RPC.request, '"initialize" was sent before');
    if (typeof protocolVersion !== 'string')
      throw new RpcError(RPC.params, 'expected a "protocolVersion" that is a string');
    this.#initialized = true;
    return {
      // The client ends the session if it does not speak this one.
      protocolVersion: PROTOCOLS.find((version) => version === protocolVersion) ?? PROTOCOLS[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'umaprobe', version: this.#options.version },
      instructions: INSTRUCTIONS,
    };
  }

  async #list({ cursor }: RpcRequest['params']): Promise<object> {
    if (cursor !== undefined) throw new RpcError(RPC.params, `cursor ${JSON.stringify(cursor)}: the list has one page`);
    const tools = await this.#options.tools();
    return {
      tools: tools.map(({ description, inputSchema, name, openWorld, title }) => ({
        name,
        title,
        description,
        inputSchema,
        annotations: { readOnlyHint: true, openWorldHint: openWorld },
      })),
    };
  }

  async #call({ arguments: values, name }: RpcRequest['params'], id: Id): Promise<object | null> {
    if (this.#calls.has(id)) throw new RpcError(RPC.request, `the id ${JSON.stringify(id)} is in use`);
    if (this.#calls.size >= MOST_CALLS)
      throw new RpcError(RPC.busy, `${MOST_CALLS} calls are running: wait for one of them`);
    // Known before anything is awaited, because the next line may cancel it.
    const call = new AbortController();
    this.#calls.set(id, call);
    try {
      const tool = await this.#tool(name);
      const document = await callCommand(tool.invocation(values), call.signal);
      const { error } = document;
      if (!isObject(error)) return toolResult(tool.answer(document), false);
      return toolResult({ ...document, error: { ...error, message: tool.errorText(String(error.message)) } }, true);
    } catch (error) {
      if (call.signal.aborted) return null;
      throw error;
    } finally {
      this.#calls.delete(id);
    }
  }

  async #tool(name: unknown): Promise<Tool> {
    const tools = await this.#options.tools();
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool !== undefined) return tool;
    const names = tools.map((each) => each.name).join(', ');
    throw new RpcError(RPC.params, `${JSON.stringify(name)} is not a tool; there are ${names}`);
  }
}

/** The document as data, and as text for clients of before 2025-06-18. */
function toolResult(document: object, isError: boolean): object {
  return {
    content: [{ type: 'text', text: JSON.stringify(document) }],
    structuredContent: document,
    isError,
  };
}
