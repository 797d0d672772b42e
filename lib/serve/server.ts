/** The HTTP server: the gate decides first, then a handler for each route answers. Nothing is logged. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { UmaError } from '../base/errors.ts';
import { clean } from '../base/format.ts';
import { hostName } from '../core/host/machine-name.ts';
import { type Assets, policyOf } from '../show/render/html/page.ts';
import { toMetrics } from '../show/report/index.ts';
import { pageAssets } from '../show/report/package-files.ts';
import type { Serving } from '../types/index.ts';
import { CONTENT_TYPES, chosenFormat } from './accept.ts';
import { decide, type Refusal, type Route, rulesFor } from './gate.ts';
import { historiesBySsh, ownHistory, SharedHistories } from './history.ts';
import type { ListenAddress } from './listen.ts';
import { Live } from './live.ts';
import { machinesBySsh, ownMachine } from './machines.ts';
import type { ServeSettings } from './options.ts';
import { SharedReading } from './reading.ts';
import { RETRY_SECONDS } from './stream.ts';

/** Limit of all clients together. */
const MOST_CONNECTIONS = 128;
/** Time for the headers of a request, and for a client that takes nothing of an answer. */
const SLOW_REQUEST_MS = 10_000;
const SLOW_ANSWER_MS = 30_000;
const MOST_HEADER_BYTES = 16_384;

/** Headers of every answer: it is kept nowhere, is of its declared type, and belongs to no other page. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Longer than a machine takes to answer over ssh, which has 15 s. */
const LEAST_STALE_MS = 20_000;

const PLAIN = 'text/plain; charset=utf-8';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

export async function startServer(settings: ServeSettings): Promise<Serving> {
  const { folder, hosts, listen, signal, token } = settings;
  const reading = new SharedReading(settings.deadlineMs);
  const ends = new AbortController();
  const history = new SharedHistories(hosts === null ? ownHistory(folder) : historiesBySsh(hosts, folder, ends.signal));
  const histories = Array.from({ length: hosts?.length ?? 1 }, (_, index) => `/history/${index}`);
  const assets = pageAssets('serve');
  const live = liveOf(settings, reading, assets, ends.signal);
  const policy = `${policyOf(assets, true)}; frame-ancestors 'none'`;
  const handlers: Readonly<Record<Route, Handler>> = {
    page: async (_, response) => {
      const text = await live.page();
      response.setHeader('content-security-policy', policy);
      send(response, 200, 'text/html; charset=utf-8', text);
    },
    events: ({ method }, response) => {
      if (method === 'HEAD') return send(response, 200, 'text/event-stream; charset=utf-8', '');
      if (live.join(response)) return;
      response.setHeader('retry-after', RETRY_SECONDS);
      send(response, 503, PLAIN, 'Too many pages are open.\n');
    },
    history: async ({ url = '' }, response) =>
      send(response, 200, 'application/json; charset=utf-8', await history.read(histories.indexOf(url))),
    metrics: async ({ headers }, response) => {
      const format = chosenFormat(headers.accept);
      const text = await toMetrics(await reading.take(), { format });
      send(response, 200, CONTENT_TYPES[format], text);
    },
    healthy: (_, response) => send(response, 200, PLAIN, 'umaprobe answers.\n'),
    ready: (_, response) => {
      if (reading.hasOne) return send(response, 200, PLAIN, 'The machine has been read.\n');
      void reading.take().catch(() => undefined);
      send(response, 503, PLAIN, 'The machine has not been read yet.\n');
    },
  };
  const rules = rulesFor(listen.host, hostname(), token, histories);
  const server = createServer(
    { headersTimeout: SLOW_REQUEST_MS, requestTimeout: SLOW_REQUEST_MS, maxHeaderSize: MOST_HEADER_BYTES },
    (request, response) => void answer(request, response),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.setTimeout(SLOW_ANSWER_MS);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method, url } = request;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const route = decide(
      {
        method,
        target: url,
        host: headers.host,
        origin: headers.origin,
        fetchSite: headers['sec-fetch-site'] as string | undefined,
        authorization: headers.authorization,
      },
      rules,
    );
    if (typeof route !== 'string') return refuse(response, route);
    try {
      await handlers[route](request, response);
    } catch (error) {
      // Prometheus then has no sample: unknown, and never 0.
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else send(response, 503, PLAIN, `${clean(message)}\n`);
    }
  }

  await listening(server, listen);
  void reading.take().catch(() => undefined);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    ends.abort();
    closed ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
  if (signal?.aborted) await close();
  signal?.throwIfAborted();
  signal?.addEventListener('abort', () => void close(), { once: true, signal: ends.signal });
  return { url: urlOf(server), close, [Symbol.asyncDispose]: close };
}

function liveOf(settings: ServeSettings, reading: SharedReading, assets: Assets, signal: AbortSignal): Live {
  const { argv, deadlineMs, hosts, intervalMs } = settings;
  const machines = hosts === null ? ownMachine(reading, hostName()) : machinesBySsh(hosts, intervalMs, signal);
  const config = {
    schema: 'umaprobe/live/1',
    intervalMs,
    staleMs: Math.max(LEAST_STALE_MS, 3 * intervalMs),
    hosts: machines.hosts,
  } as const;
  return new Live({ config, machines, assets, own: hosts === null, argv, deadlineMs, signal });
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function refuse(response: ServerResponse, { message, status }: Refusal): void {
  if (status === 401) response.setHeader('www-authenticate', 'Basic realm="umaprobe", charset="UTF-8"');
  if (status === 405) response.setHeader('allow', 'GET, HEAD');
  send(response, status, PLAIN, `${message}\n`);
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as { address: string; family: string; port: number };
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`;
}

/** The system's names for faults of an address, in words. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; port 0 takes one that is free',
  EACCES: 'this user may not listen there; take a port from 1024 on',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the name has no address',
};

function listening(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const name = error.code ?? 'UNKNOWN';
      reject(
        new UmaError(
          name === 'EADDRINUSE' ? 'ERR_UMA_BUSY' : name === 'EACCES' ? 'ERR_UMA_PERMISSION' : 'ERR_UMA_CALL_FAILED',
          {
            source: 'umaprobe',
            call: `listen on ${host.includes(':') ? `[${host}]` : host}:${port}`,
            status: null,
            name,
            message: PROBLEMS[name] ?? error.message,
          },
        ),
      );
    });
    // The primary process of a cluster would listen.
    server.listen({ host, port, exclusive: true }, resolve);
  });
}
