/**
 * Readers of the stream (server-sent events). All of them are sent the same bytes; a reader that does not keep up is dropped, and
 * its browser connects again, so that what waits for readers is bounded.
 */

import type { ServerResponse } from 'node:http';

/** Pages that are open: 1 of a person, and some tabs. */
const MOST_READERS = 32;
/** Bytes that may wait for one reader: several readings of 16 machines. */
const MOST_WAITING = 512 * 1024;
/** A connection on which nothing comes would be closed. */
const BEAT_MS = 10_000;
/** Time after which a reader that found no place tries again. */
export const RETRY_SECONDS = 10;

export class Readers {
  readonly #responses = new Set<ServerResponse>();
  readonly #beat = setInterval(() => this.send(Buffer.from(': beat\n\n')), BEAT_MS);

  constructor() {
    this.#beat.unref();
  }

  get count(): number {
    return this.#responses.size;
  }

  /** @returns false: there is no place. */
  add(response: ServerResponse): boolean {
    if (this.#responses.size >= MOST_READERS) return false;
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(`retry: 2000\n\n`);
    return true;
  }

  send(message: Buffer): void {
    for (const response of this.#responses) this.sendTo(response, message);
  }

  sendTo(response: ServerResponse, message: Buffer): void {
    if (response.writableLength > MOST_WAITING) {
      this.#responses.delete(response);
      response.destroy();
    } else response.write(message);
  }

  close(): void {
    clearInterval(this.#beat);
    for (const response of this.#responses) response.destroy();
  }
}

/** @param data without line breaks in it, which JSON has not. */
export function eventOf(name: string, data: object): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
