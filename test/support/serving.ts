/** `umaprobe serve` as a child process, and requests that fetch() would not send. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { type IncomingHttpHeaders, request } from 'node:http';
import { startUmaprobe, stdoutMatching } from './cli.ts';

export interface Served {
  child: ChildProcessWithoutNullStreams;
  /** "http://127.0.0.1:41234/" */
  url: string;
  port: number;
}

/** Starts it on a free port of this machine. */
export async function startServing(args: readonly string[], env: Record<string, string> = {}): Promise<Served> {
  const child = startUmaprobe(['serve', '--listen', '127.0.0.1:0', ...args], env);
  const text = await stdoutMatching(child, /^http:\S+ is served/m);
  const url = /^(http:\S+) is served/m.exec(text)?.[1] ?? '';
  return { child, url, port: Number(new URL(url).port) };
}

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** The target goes out as it is. */
export function get(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.once('error', reject).end();
  });
}
