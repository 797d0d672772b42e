/**
 * The one place that opens a connection to another machine: requests to the Hub, for names that begin with "hf:".
 * Answers are bounded in bytes and time, redirects lead to https only, and the token goes to the endpoint's own origin alone.
 */

import { formatBytes, formatCount, MiB } from '../../base/format.ts';
import type { ModelProgress } from '../../types/index.ts';
import { hubError, refusal } from './errors.ts';
import type { HubSettings } from './settings.ts';

/** Bounds of what one model may cost. The largest header that the format allows has 100 MB. */
export interface HubLimits {
  /** All requests of one model, milliseconds. */
  deadlineMs: number;
  /** Time without any byte, milliseconds. */
  stallMs: number;
  bytesInAll: number;
  requests: number;
}

export const HUB_LIMITS: HubLimits = {
  deadlineMs: 120_000,
  stallMs: 15_000,
  bytesInAll: 512 * MiB,
  requests: 5000,
};

export interface ClientOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ModelProgress) => void) | undefined;
  limits?: HubLimits;
}

const MOST_REDIRECTS = 5;

/** An answer with its bytes still to come. */
export interface HubAnswer {
  response: Response;
  /** Address after redirects. */
  url: URL;
  body: Body;
}

export class HubClient {
  readonly settings: HubSettings;
  readonly #limits: HubLimits;
  readonly #signal: AbortSignal;
  readonly #deadline: AbortSignal;
  readonly #onProgress: ((progress: ModelProgress) => void) | undefined;
  #requests = 0;
  #bytes = 0;

  constructor(settings: HubSettings, options: ClientOptions = {}) {
    this.settings = settings;
    this.#limits = options.limits ?? HUB_LIMITS;
    this.#deadline = AbortSignal.timeout(this.#limits.deadlineMs);
    this.#signal = options.signal === undefined ? this.#deadline : AbortSignal.any([options.signal, this.#deadline]);
    this.#onProgress = options.onProgress;
  }

  /**
   * @param names the request in errors.
   * @param expected statuses besides 200 that are answers.
   * @throws UmaError ERR_UMA_NETWORK, ERR_UMA_PERMISSION, ERR_UMA_MODEL; the signal's reason.
   */
  async get(
    what: string,
    from: URL,
    headers: Record<string, string>,
    expected: readonly number[] = [],
  ): Promise<HubAnswer> {
    let url = from;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const { body, response } = await this.#request(what, url, headers);
      const location = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && response.status !== 304 && location !== null) {
        body.cancel();
        url = this.#redirected(what, url, location);
        continue;
      }
      if (response.status === 200 || expected.includes(response.status)) return { response, url, body };
      body.cancel();
      throw refusal(what, response, this.settings.page(what), this.#tokenFor(url) !== null);
    }
    throw hubError(what, 'REDIRECTS', `more than ${MOST_REDIRECTS} redirects, the last to ${url.host}`);
  }

  #tokenFor({ origin }: URL): string | null {
    return origin === this.settings.endpoint.origin ? this.settings.token : null;
  }

  #redirected(what: string, from: URL, location: string): URL {
    const url = URL.canParse(location, from.href) ? new URL(location, from) : null;
    const { endpoint, isLoopback } = this.settings;
    const mayFollow =
      url !== null &&
      (url.protocol === 'https:' || (isLoopback && url.origin === endpoint.origin)) &&
      url.username === '' &&
      url.password === '';
    if (mayFollow) return url;
    const target = url === null ? 'no address' : `${url.protocol}//${url.host}`;
    throw hubError(what, 'REDIRECT', `a redirect from ${from.host} to ${target}, which is not followed: only https is`);
  }

  async #request(what: string, url: URL, headers: Record<string, string>): Promise<{ response: Response; body: Body }> {
    if (++this.#requests > this.#limits.requests)
      throw hubError(what, 'REQUESTS', `more than ${formatCount(this.#limits.requests)} requests for one model`);
    this.#report();
    const token = this.#tokenFor(url);
    const stall = new Stall(this.#limits.stallMs, this.#signal);
    try {
      const response = await fetch(url, {
        redirect: 'manual',
        // A compressed answer has other ranges.
        headers: {
          ...headers,
          'accept-encoding': 'identity',
          'user-agent': 'umaprobe',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        signal: stall.signal,
      });
      stall.alive();
      return {
        response,
        body: new Body(
          response,
          stall,
          (error) => this.#failure(what, url, stall, error),
          (bytes) => this.#count(what, bytes),
        ),
      };
    } catch (error) {
      stall.end();
      throw this.#failure(what, url, stall, error);
    }
  }

  #count(what: string, bytes: number): void {
    this.#bytes += bytes;
    this.#report();
    if (this.#bytes > this.#limits.bytesInAll)
      throw hubError(what, 'BYTES', `more than ${formatBytes(this.#limits.bytesInAll)} were read for one model`);
  }

  #report(): void {
    this.#onProgress?.({ requests: this.#requests, bytes: this.#bytes });
  }

  #failure(what: string, { host }: URL, stall: Stall, error: unknown): unknown {
    if (this.#deadline.aborted)
      return hubError(
        what,
        'TIMEOUT',
        `${host} took more than ${this.#limits.deadlineMs / 1000} s for all that was asked`,
      );
    if (this.#signal.aborted) return this.#signal.reason;
    if (stall.isOver) return hubError(what, 'TIMEOUT', `${host} sent nothing for ${this.#limits.stallMs / 1000} s`);
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (!(error instanceof TypeError)) return error;
    const code = cause?.code ?? 'FETCH_FAILED';
    return hubError(what, code, `${host} cannot be reached${this.settings.proxyHint}`);
  }
}

/** Ends a request that sends nothing for a while. */
class Stall {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  isOver = false;

  constructor(ms: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, ms);
  }

  alive(): void {
    if (!this.isOver) this.#timer.refresh();
  }

  /** Gives up the rest. */
  end(): void {
    clearTimeout(this.#timer);
  }

  abort(): void {
    this.end();
    this.#controller.abort();
  }
}

/** Bytes of an answer, read as far as they are needed. */
class Body {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #stall: Stall;
  readonly #failure: (error: unknown) => unknown;
  readonly #count: (bytes: number) => void;

  constructor(response: Response, stall: Stall, failure: (error: unknown) => unknown, count: (bytes: number) => void) {
    this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    this.#stall = stall;
    this.#failure = failure;
    this.#count = count;
    if (this.#reader === undefined) stall.end();
  }

  /**
   * Reads at most `most` bytes after the first `skip`; fewer only if the answer ends. Gives up the rest.
   *
   * @param toEnd waits for the end, to say whether more came than was wanted.
   */
  async read(skip: number, most: number, toEnd: boolean): Promise<{ bytes: Buffer; hasMore: boolean }> {
    const pieces: Buffer[] = [];
    let skipped = 0;
    let filled = 0;
    let hasMore = false;
    try {
      while (!hasMore) {
        const piece = await this.#next();
        if (piece === null) break;
        const from = Math.min(piece.length, skip - skipped);
        skipped += from;
        const wanted = piece.subarray(from, from + most - filled);
        filled += wanted.length;
        hasMore = from + wanted.length < piece.length;
        if (wanted.length > 0) pieces.push(wanted);
        if (filled === most && !toEnd) break;
      }
    } finally {
      this.cancel();
    }
    return { bytes: Buffer.concat(pieces), hasMore };
  }

  async #next(): Promise<Buffer | null> {
    let result: { done: boolean; value?: Uint8Array | undefined } | undefined;
    try {
      result = await this.#reader?.read();
    } catch (error) {
      throw this.#failure(error);
    }
    if (result?.value === undefined || result.done) {
      this.#stall.end();
      return null;
    }
    this.#stall.alive();
    this.#count(result.value.length);
    return Buffer.from(result.value.buffer, result.value.byteOffset, result.value.length);
  }

  cancel(): void {
    this.#stall.end();
    this.#reader?.cancel().catch(() => undefined);
  }
}
