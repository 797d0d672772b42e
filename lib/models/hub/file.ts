/** A file on the Hub as bytes: ranges of it are asked for as they are read. */

import { formatCount, MiB } from '../../base/format.ts';
import type { HubCache } from './cache.ts';
import type { HubAnswer, HubClient } from './client.ts';
import { hubError, notRead } from './errors.ts';

/** Bytes of one file. The format of safetensors allows a header of 100 MB. */
const MOST_BYTES = 128 * MiB;
/** Smaller files are read whole. */
const SMALL = MiB / 2;
/** Longest range of a file that is read from its beginning on, beyond the requested bytes. */
const LONGEST_AHEAD = 8 * MiB;

interface Segment {
  at: number;
  bytes: Buffer;
}

export interface HubFileFacts {
  /** Path in messages. */
  path: string;
  url: URL;
  size: number;
  /** ETag of its content; null: it is not kept. */
  etag: string | null;
}

export class HubFile {
  readonly path: string;
  readonly size: number;
  readonly #client: HubClient;
  readonly #cache: HubCache;
  readonly #key: string | null;
  #url: URL;
  #segments: Segment[] = [];
  #read = 0;
  /** Bytes of the next range that continues the last one. */
  #ahead = MiB;
  #etag: string | null = null;
  #isChanged = false;

  constructor(client: HubClient, cache: HubCache, { etag, path, size, url }: HubFileFacts) {
    this.path = path;
    this.size = size;
    this.#client = client;
    this.#cache = cache;
    this.#url = url;
    this.#key = etag === null ? null : `${client.settings.endpoint.href} ${path} ${size} ${etag}`;
    if (this.#key !== null) this.#segments = parse(cache.read(this.#key));
  }

  async read(buffer: Buffer, position: number): Promise<number> {
    const length = Math.max(0, Math.min(buffer.length, this.size - position));
    let filled = this.#copy(buffer.subarray(0, length), position);
    while (filled < length) {
      await this.#ask(position + filled, length - filled);
      filled += this.#copy(buffer.subarray(filled, length), position + filled);
    }
    return length;
  }

  /** Keeps the bytes read for the next time. */
  keep(): void {
    if (this.#key !== null && this.#isChanged) this.#cache.write(this.#key, format(this.#segments));
  }

  /** Copies the known bytes from `position` on. */
  #copy(buffer: Buffer, position: number): number {
    const segment = this.#segments.find(({ at, bytes }) => position >= at && position < at + bytes.length);
    return segment === undefined ? 0 : segment.bytes.copy(buffer, 0, position - segment.at);
  }

  async #ask(position: number, least: number): Promise<void> {
    if (this.#client.settings.isOffline) throw notRead(this.path);
    const before = this.#segments.find(({ at, bytes }) => at + bytes.length === position);
    const ahead = this.size <= SMALL ? this.size : before === undefined ? 0 : this.#ahead;
    if (before !== undefined) this.#ahead = Math.min(LONGEST_AHEAD, 2 * this.#ahead);
    const length = Math.min(Math.max(least, ahead), this.size - position);
    this.#read += length;
    if (this.#read > MOST_BYTES)
      throw hubError(this.path, 'BYTES', `its header goes on after ${formatCount(MOST_BYTES)} bytes`, 'ERR_UMA_MODEL');
    const bytes = await this.#range(position, length);
    this.#isChanged = true;
    if (before === undefined) this.#segments.push({ at: position, bytes });
    else before.bytes = Buffer.concat([before.bytes, bytes]);
  }

  async #range(position: number, length: number): Promise<Buffer> {
    const end = position + length - 1;
    const answer = await this.#client.get(this.path, this.#url, { range: `bytes=${position}-${end}` }, [206]);
    const isWhole = answer.response.status === 200;
    try {
      this.#checkAnswer(answer, isWhole ? null : { position, end });
    } catch (error) {
      answer.body.cancel();
      throw error;
    }
    // A redirect leads to where the bytes are; it is not asked for again.
    this.#url = answer.url;
    const { bytes, hasMore } = await answer.body.read(
      isWhole ? position : 0,
      length,
      !isWhole || end + 1 === this.size,
    );
    const expected = `${formatCount(length)} bytes from ${formatCount(position)}`;
    if (bytes.length < length) throw this.#lie(answer, `ended after ${formatCount(bytes.length)} of ${expected}`);
    if (hasMore && !(isWhole && end + 1 < this.size)) throw this.#lie(answer, `sent more than ${expected}`);
    return bytes;
  }

  #checkAnswer(answer: HubAnswer, range: { position: number; end: number } | null): void {
    const { headers } = answer.response;
    const type = headers.get('content-type') ?? '';
    if (type.startsWith('text/html'))
      throw this.#lie(answer, 'sent a page instead of the file: is there a proxy or a login in between?');
    const encoding = headers.get('content-encoding') ?? 'identity';
    if (encoding !== 'identity')
      throw this.#lie(answer, `sent it compressed (${encoding.slice(0, 20)}), in which ranges are others`);
    const etag = headers.get('etag');
    if (this.#etag !== null && etag !== null && etag !== this.#etag)
      throw this.#lie(answer, 'has another version of it than a moment ago: try again');
    this.#etag ??= etag;
    const text = range === null ? headers.get('content-length') : headers.get('content-range');
    if (range === null && text === null) return;
    const expected = range === null ? String(this.size) : `bytes ${range.position}-${range.end}/${this.size}`;
    const agrees = text === expected || (range !== null && text === `bytes ${range.position}-${range.end}/*`);
    if (!agrees)
      throw this.#lie(
        answer,
        `answered ${JSON.stringify((text ?? 'no range').slice(0, 60))}; expected ${JSON.stringify(expected)}`,
      );
  }

  #lie({ url }: HubAnswer, what: string): Error {
    return hubError(this.path, 'HUB_ANSWER', `${url.host} ${what}`);
  }
}

/** A line with the places of the segments, then their bytes. */
function format(segments: readonly Segment[]): Buffer {
  const places = segments.map(({ at, bytes }) => [at, bytes.length]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(places)}\n`), ...segments.map(({ bytes }) => bytes)]);
}

/** No segments for a file that was not written by `format`. */
function parse(kept: Buffer | null): Segment[] {
  const line = kept?.indexOf('\n') ?? -1;
  if (kept === null || line < 0) return [];
  let places: unknown;
  try {
    places = JSON.parse(kept.toString('utf8', 0, line));
  } catch {
    return [];
  }
  const segments: Segment[] = [];
  let from = line + 1;
  for (const [at, length] of Array.isArray(places) ? (places as [unknown, unknown][]) : []) {
    if (!Number.isSafeInteger(at) || !Number.isSafeInteger(length) || from + (length as number) > kept.length)
      return [];
    segments.push({ at: at as number, bytes: kept.subarray(from, from + (length as number)) });
    from += length as number;
  }
  return from === kept.length ? segments : [];
}
