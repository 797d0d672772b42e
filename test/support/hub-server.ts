/** A server of this machine that answers as the Hub does, and lies where a test asks for it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A file with holes has only its beginning; the rest is zeros. */
export interface ServedFile {
  head: Buffer;
  size: number;
}

export interface Served {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path in the repository; null: the list of files. */
  file: string | null;
  /** Answers as the Hub does. */
  asUsual(): void;
}

export interface HubServer {
  endpoint: string;
  requests: { path: string; range: string | undefined; authorization: string | undefined }[];
  /** Takes the place of the usual answers. */
  answer: ((served: Served) => void) | null;
  commit: string;
  close(): Promise<void>;
}

export function filesOf(folder: string): Map<string, ServedFile> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names.map(({ name, parentPath }) => {
      const head = readFileSync(join(parentPath, name));
      return [join(parentPath, name).slice(folder.length + 1), { head, size: head.length }];
    }),
  );
}

function etagOf({ head, size }: ServedFile): string {
  return createHash('sha256').update(head).update(String(size)).digest('hex');
}

function bytesOf({ head }: ServedFile, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(end - start + 1);
  head.copy(bytes, 0, Math.min(start, head.length), Math.min(end + 1, head.length));
  return bytes;
}

/** @param redirects whether large files lie behind a redirect, as those of the Hub do. */
export async function hubServer(files: Map<string, ServedFile>, { redirects = true } = {}): Promise<HubServer> {
  const state: HubServer = {
    endpoint: '',
    requests: [],
    answer: null,
    commit: 'c'.repeat(40),
    close: async () => undefined,
  };
  const send = (file: ServedFile, request: IncomingMessage, response: ServerResponse): void => {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const etag = `"${etagOf(file)}"`;
    if (from === undefined) {
      response.writeHead(200, { 'content-length': file.size, etag });
      response.end(bytesOf(file, 0, file.size - 1));
      return;
    }
    const end = Math.min(Number(to), file.size - 1);
    const bytes = bytesOf(file, Number(from), end);
    response.writeHead(206, {
      'content-range': `bytes ${from}-${end}/${file.size}`,
      'content-length': bytes.length,
      etag,
    });
    response.end(bytes);
  };
  const list = (request: IncomingMessage, response: ServerResponse): void => {
    const siblings = [...files].map(([rfilename, file]) => ({
      rfilename,
      size: file.size,
      blobId: etagOf(file).slice(0, 40),
      ...(file.size > 100_000 ? { lfs: { sha256: etagOf(file), size: file.size } } : {}),
    }));
    const text = JSON.stringify({ id: 'org/tiny', sha: state.commit, siblings });
    const etag = `W/"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`;
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', etag });
    response.end(text);
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname);
    state.requests.push({ path, range: request.headers.range, authorization: request.headers.authorization });
    const isList = path.startsWith('/api/models/');
    const name = isList ? null : (/^\/(?:cdn|org\/tiny\/resolve\/[^/]+)\/(.+)$/.exec(path)?.[1] ?? null);
    const asUsual = (): void => {
      const file = name === null ? undefined : files.get(name);
      const isAway = redirects && file !== undefined && file.size > 100_000 && !path.startsWith('/cdn/');
      if (isList && path.startsWith('/api/models/org/tiny/')) list(request, response);
      else if (isList) response.writeHead(404, { 'x-error-code': 'RepoNotFound' }).end();
      else if (file === undefined) response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
      else if (isAway) response.writeHead(302, { location: `/cdn/${name}` }).end();
      else send(file, request, response);
    };
    if (state.answer === null) asUsual();
    else state.answer({ request, response, file: name, asUsual });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return state;
}
