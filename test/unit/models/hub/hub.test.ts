/** Models on the Hub, from a server of this machine: what is read, what is kept, and what becomes of lies. */
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ModelFacts } from '../../../../lib/models/files/model.ts';
import { type OpenOptions, openModel } from '../../../../lib/models/files/open.ts';
import { HUB_LIMITS, HubClient } from '../../../../lib/models/hub/client.ts';
import { hubSettings } from '../../../../lib/models/hub/settings.ts';
import { filesOf, type HubServer, hubServer, type Served, type ServedFile } from '../../../support/hub-server.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const FIXTURES = join(ROOT, 'test/support/models');
const folder = temporaryFolder('hub');
let cache = '';
let server: HubServer;

const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  HF_ENDPOINT: server.endpoint,
  XDG_CACHE_HOME: cache,
  ...more,
});
const open = (name = 'hf:org/tiny', options: OpenOptions = {}): Promise<ModelFacts> =>
  openModel(name, { env: env(), home: null, ...options });

async function serve(files: Map<string, ServedFile>, options: { redirects?: boolean } = {}): Promise<void> {
  await server?.close();
  server = await hubServer(files, options);
}

async function failure(work: Promise<unknown>): Promise<{ code: string; message: string; nativeName: string }> {
  const error = (await work.then(
    () => null,
    (reason: unknown) => reason,
  )) as { code: string; message: string; nativeName: string } | null;
  expect(error).not.toBeNull();
  expect(error?.message).not.toContain('\n');
  return error as { code: string; message: string; nativeName: string };
}

beforeEach(async () => {
  cache = mkdtempSync(join(folder, 'cache-'));
  server = await hubServer(filesOf(join(FIXTURES, 'sharded')));
});
afterEach(async () => server.close());

function safetensors(tensors: Record<string, [dtype: string, shape: number[], bytes: number]>): ServedFile {
  let at = 0;
  const header = Object.fromEntries(
    Object.entries(tensors).map(([name, [dtype, shape, bytes]]) => {
      const entry = { dtype, shape, data_offsets: [at, at + bytes] };
      at += bytes;
      return [name, entry];
    }),
  );
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return { head: Buffer.concat([length, json]), size: 8 + json.length + at };
}

const CONFIG = {
  model_type: 'llama',
  hidden_size: 1024,
  num_hidden_layers: 160,
  num_attention_heads: 8,
  vocab_size: 32000,
  torch_dtype: 'bfloat16',
};

/** A layer in each of 160 shards; the first has the embedding too, the last the output layer. @param odd one shard of another type. */
function manyShards(odd = -1): Map<string, ServedFile> {
  const files = new Map<string, ServedFile>();
  const map: Record<string, string> = {};
  for (let layer = 0; layer < 160; layer++) {
    const [dtype, bytes] = layer === odd ? (['F32', 4] as const) : (['BF16', 2] as const);
    const tensors: Record<string, [string, number[], number]> = {
      [`model.layers.${layer}.mlp.up_proj.weight`]: [dtype, [4096, 1024], 4096 * 1024 * bytes],
      [`model.layers.${layer}.input_layernorm.weight`]: ['BF16', [1024], 2048],
      ...(layer === 0
        ? { 'model.embed_tokens.weight': ['BF16', [32000, 1024], 2 * 32000 * 1024] as [string, number[], number] }
        : {}),
      ...(layer === 159
        ? { 'lm_head.weight': ['BF16', [32000, 1024], 2 * 32000 * 1024] as [string, number[], number] }
        : {}),
    };
    const name = `model-${String(layer + 1).padStart(5, '0')}-of-00160.safetensors`;
    files.set(name, safetensors(tensors));
    for (const tensor of Object.keys(tensors)) map[tensor] = name;
  }
  const json = (value: object): ServedFile => {
    const head = Buffer.from(JSON.stringify(value));
    return { head, size: head.length };
  };
  files.set('config.json', json(CONFIG));
  files.set('model.safetensors.index.json', json({ metadata: { total_size: 0 }, weight_map: map }));
  return files;
}

describe('a model on the Hub is what the files of a folder are', () => {
  it.each(['sharded', 'fp8', 'awq', 'nvfp4'])('%s', async (name) => {
    await serve(filesOf(join(FIXTURES, name)));
    const { name: _, path, ...here } = await openModel(join(FIXTURES, name));
    const { name: shown, path: pinned, ...there } = await open();
    expect(there).toEqual(here);
    expect([shown, pinned]).toEqual(['org/tiny', `hf:org/tiny@${'c'.repeat(40)}`]);
  });

  it('a GGUF file, by its name or by a word of it', async () => {
    const gguf = filesOf(FIXTURES).get('llama.gguf') as ServedFile;
    await serve(
      new Map([
        ['tiny-Q4_K_M.gguf', gguf],
        ['sub/tiny-Q8_0.gguf', gguf],
        ['mmproj-tiny.gguf', gguf],
      ]),
    );
    const here = await openModel(join(FIXTURES, 'llama.gguf'));
    for (const name of ['tiny-Q4_K_M.gguf', 'q4_k_m', 'Q8_0', 'sub/tiny-Q8_0.gguf']) {
      const { architecture, weights } = await open(`hf:org/tiny:${name}`);
      expect({ architecture, weights }).toEqual({ architecture: here.architecture, weights: here.weights });
    }
    expect((await failure(open())).message).toContain(
      'it has 2 GGUF models: sub/tiny-Q8_0.gguf, tiny-Q4_K_M.gguf; name one, as hf:org/tiny:',
    );
    expect((await failure(open('hf:org/tiny:Q2_K'))).message).toContain('it has no file "Q2_K": sub/');
    await serve(filesOf(join(FIXTURES, 'split')));
    expect(await open()).toMatchObject({ source: 'gguf', files: 2 });
  });

  it('whatever the server makes of ranges: all of the file, or its length alone', async () => {
    const here = await openModel(join(FIXTURES, 'fp8'));
    await serve(filesOf(join(FIXTURES, 'fp8')));
    server.answer = ({ asUsual, request }) => {
      delete request.headers.range;
      asUsual();
    };
    expect((await open()).weights).toEqual(here.weights);
  });
});

describe('few requests', () => {
  it('tell what 160 shards hold', async () => {
    await serve(manyShards());
    const model = await open();
    expect(server.requests.length).toBeLessThanOrEqual(10);
    expect(model).toMatchObject({ files: 160, parameters: 160 * (4096 * 1024 + 1024) + 2 * 32000 * 1024 });
    expect(model.notes.join()).toContain('The headers of 2 of 160 files were read');
  });

  it('and a shard that is not like the others is read, too', async () => {
    await serve(manyShards(77));
    const model = await open();
    expect(model.weights.find(({ dtype }) => dtype === 'F32')).toMatchObject({ bytes: 4 * 4096 * 1024, tensors: 1 });
    expect(model.notes.join()).toContain('The headers of 3 of 160 files were read');
    expect(server.requests.length).toBeLessThanOrEqual(10);
  });

  it('are one if the model was read before, none without a network, and all are kept for this user alone', async () => {
    const first = await open();
    const asked = server.requests.length;
    expect(asked).toBeLessThanOrEqual(10);
    expect(await open()).toEqual(first);
    expect(server.requests.length).toBe(asked + 1);
    expect(await open(`hf:org/tiny@${'c'.repeat(40)}`)).toMatchObject({ parameters: first.parameters });
    const kept = join(cache, 'umaprobe/hub');
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(kept)) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);
    const before = server.requests.length;
    expect((await open(undefined, { env: env({ HF_HUB_OFFLINE: '1' }) })).notes.join()).toMatch(
      /did not answer: these are its files as of \d{4}-/,
    );
    expect(server.requests.length).toBe(before);
    await server.close();
    expect((await open()).weights).toEqual(first.weights);
    expect((await failure(open('hf:org/other'))).nativeName).toBe('ECONNREFUSED');
    // What is broken in the cache is not there.
    for (const name of readdirSync(kept))
      writeFileSync(join(kept, name), readFileSync(join(kept, name)).subarray(0, 30));
    expect((await failure(open())).code).toBe('ERR_UMA_NETWORK');
  });

  it('are asked again where the model changed', async () => {
    await open();
    const files = filesOf(join(FIXTURES, 'awq'));
    const { endpoint } = server;
    await server.close();
    server = await hubServer(files);
    server.commit = 'd'.repeat(40);
    expect(endpoint).not.toBe('');
    expect(await open()).toMatchObject({ files: 1, path: `hf:org/tiny@${'d'.repeat(40)}` });
  });
});

describe('the token', () => {
  it('goes to the Hub alone, and not with a redirect', async () => {
    const asked: [string, string | null][] = [];
    vi.stubGlobal('fetch', async (url: URL, { headers }: { headers: Record<string, string> }) => {
      asked.push([url.host, headers.authorization ?? null]);
      const isHub = url.host === 'hub.example';
      return isHub
        ? Response.json('', { status: 302, headers: { location: 'https://cdn.example/x' } })
        : Response.json({});
    });
    try {
      const settings = hubSettings({ HF_ENDPOINT: 'https://hub.example', HF_TOKEN: 'hf_secret' }, null);
      const client = new HubClient(settings);
      const answer = await client.get('hf:org/tiny', new URL('https://hub.example/api'), {});
      answer.body.cancel();
    } finally {
      vi.unstubAllGlobals();
    }
    expect(asked).toEqual([
      ['hub.example', 'Bearer hf_secret'],
      ['cdn.example', null],
    ]);
  });

  it('goes to the endpoint alone, from HF_TOKEN or from the file of huggingface_hub', async () => {
    await serve(manyShards());
    const other = await hubServer(manyShards());
    await open(undefined, { env: env({ HF_TOKEN: 'hf_secret' }) });
    expect(server.requests.every(({ authorization }) => authorization === 'Bearer hf_secret')).toBe(true);
    // The other origin is not the endpoint, so that its http is refused.
    server.answer = ({ asUsual, file, response }) => {
      if (file === 'config.json') response.writeHead(302, { location: `${other.endpoint}/cdn/config.json` }).end();
      else asUsual();
    };
    cache = mkdtempSync(join(folder, 'cache-'));
    expect((await failure(open(undefined, { env: env({ HF_TOKEN: 'hf_secret' }) }))).message).toContain(
      'which is not followed: only https is',
    );
    expect(other.requests).toEqual([]);
    await other.close();
    server.answer = null;
    writeFileSync(join(cache, 'token'), 'hf_file\n');
    await open(undefined, { env: env({ HF_TOKEN_PATH: join(cache, 'token') }) });
    expect(server.requests.at(-1)?.authorization).toBe('Bearer hf_file');
    const wrong = await failure(open(undefined, { env: env({ HF_TOKEN: 'a\r\nhost: b' }) }));
    expect(wrong.message).toContain('characters that no token has');
    expect(wrong.message).not.toContain('host');
  });

  it('is not needed, and http to another machine is refused before anything is sent', async () => {
    await open();
    expect(server.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
    expect((await failure(open(undefined, { env: env({ HF_ENDPOINT: 'http://example.org' }) }))).message).toContain(
      'expected an https address',
    );
  });
});

it('what was read before stands in for a Hub that fails, and not for one that refuses', async () => {
  await open();
  const answer = (status: number): void => {
    server.answer = ({ response }) => void response.writeHead(status).end();
  };
  answer(503);
  expect((await open()).notes.join()).toMatch(/The Hub did not answer: these are its files as of/);
  answer(429);
  expect((await failure(open())).code).toBe('ERR_UMA_NETWORK');
});

describe('an answer that is none is one line', () => {
  const end =
    (status: number, headers: Record<string, string> = {}, body = '') =>
    ({ response }: Served): void => {
      response.writeHead(status, headers).end(body);
    };
  const cases: [what: string, answer: (served: Served) => void, code: string, message: RegExp][] = [
    [
      'gated',
      end(403, { 'x-error-code': 'GatedRepo' }),
      'ERR_UMA_PERMISSION',
      /access is gated: accept its terms at http.*\/org\/tiny; set HF_TOKEN/,
    ],
    ['not there, or private', end(401), 'ERR_UMA_PERMISSION', /does not exist, or is private or gated/],
    ['missing', end(404, { 'x-error-code': 'RepoNotFound' }), 'ERR_UMA_MODEL', /there is no such model at/],
    ['no such revision', end(404, { 'x-error-code': 'RevisionNotFound' }), 'ERR_UMA_MODEL', /no such revision/],
    ['too many requests', end(429, { 'retry-after': '30' }), 'ERR_UMA_NETWORK', /try again in 30 s, or with HF_TOKEN/],
    ['a failed server', end(500), 'ERR_UMA_NETWORK', /the server failed: try again later/],
    [
      'a page',
      end(200, { 'content-type': 'text/html' }, '<html>'),
      'ERR_UMA_NETWORK',
      /sent a page instead of a list of files/,
    ],
    ['no JSON', end(200, {}, '<html>'), 'ERR_UMA_NETWORK', /the list of its files is no JSON/],
    ['no commit', end(200, {}, '{}'), 'ERR_UMA_NETWORK', /names no commit/],
    [
      'a redirect to itself',
      ({ request, response }) => response.writeHead(302, { location: request.url }).end(),
      'ERR_UMA_NETWORK',
      /more than 5 redirects/,
    ],
    [
      'a redirect to http',
      end(302, { location: 'http://example.org/' }),
      'ERR_UMA_NETWORK',
      /to http:\/\/example\.org, which is not followed/,
    ],
    [
      'a redirect with a password',
      end(302, { location: 'https://a:b@example.org/' }),
      'ERR_UMA_NETWORK',
      /which is not followed/,
    ],
    ['a redirect to a file', end(302, { location: 'file:///etc/passwd' }), 'ERR_UMA_NETWORK', /which is not followed/],
    ['a connection that ends', ({ response }) => response.destroy(), 'ERR_UMA_NETWORK', /cannot be reached/],
  ];

  it.each(cases)('%s', async (_, answer, code, message) => {
    server.answer = answer;
    const error = await failure(open());
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
  });
});

describe('a server that lies about a file', () => {
  const SHARD = 'model-00001-of-00002.safetensors';
  /** Of the first shard alone. */
  const lies = (lie: (served: Served) => void): void => {
    server.answer = (served) => (served.file === SHARD ? lie(served) : served.asUsual());
  };
  const range = (request: Served['request']): [number, number] => {
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    return [Number(from), Number(to)];
  };
  const shard = readFileSync(join(FIXTURES, 'sharded', SHARD));
  const part =
    (
      headers: (from: number, to: number) => Record<string, string | number>,
      body: (from: number, to: number) => Buffer,
    ) =>
    (served: Served): void => {
      const [from, to] = range(served.request);
      served.response.writeHead(206, headers(from, to));
      served.response.end(body(from, to));
    };
  const usual = (from: number, to: number): Record<string, string> => ({
    'content-range': `bytes ${from}-${to}/${shard.length}`,
  });
  const bytes = (from: number, to: number): Buffer => shard.subarray(from, to + 1);

  it.each([
    [
      'a short range',
      part(
        (from, to) => usual(from, to - 1),
        (from, to) => bytes(from, to - 1),
      ),
      /expected "bytes 0-/,
    ],
    ['another range', part((from, to) => usual(from + 1, to), bytes), /answered "bytes 1-/],
    [
      'another length of the file',
      part((from, to) => ({ 'content-range': `bytes ${from}-${to}/99` }), bytes),
      /\/99"; expected/,
    ],
    ['no range at all', part(() => ({}), bytes), /answered "no range"/],
    ['fewer bytes than it says', part(usual, (from, to) => bytes(from, to - 5)), /ended after .* of .* bytes from 0/],
    [
      'more bytes than it says',
      part(usual, (from, to) => Buffer.concat([bytes(from, to), Buffer.alloc(9)])),
      /sent more than/,
    ],
    [
      'a cut connection',
      part(
        (from, to) => ({ ...usual(from, to), 'content-length': to - from + 1 }),
        (from, to) => bytes(from, to - 5),
      ),
      /cannot be reached|ended after/,
    ],
    [
      'a compressed answer',
      part((from, to) => ({ ...usual(from, to), 'content-encoding': 'gzip' }), bytes),
      /sent it compressed \(gzip\)/,
    ],
    [
      'a page',
      part((from, to) => ({ ...usual(from, to), 'content-type': 'text/html; charset=utf-8' }), bytes),
      /sent a page instead of the file/,
    ],
    [
      'the whole file, of another length',
      ({ response }: Served) => response.writeHead(200, { 'content-length': 3 }).end('abc'),
      /answered "3"; expected/,
    ],
    [
      'no permission',
      ({ response }: Served) => response.writeHead(403, { 'x-error-code': 'GatedRepo' }).end(),
      /access is gated/,
    ],
  ])('%s is one line', async (_, lie, message) => {
    lies(lie);
    if (_ === 'a cut connection')
      server.answer = (served) => {
        if (served.file !== SHARD) return served.asUsual();
        const [from, to] = range(served.request);
        served.response.writeHead(206, { ...usual(from, to), 'content-length': to - from + 1 });
        served.response.write(bytes(from, to - 5), () => served.response.destroy());
      };
    expect((await failure(open())).message).toMatch(message);
  });

  it('a header of 10 GB is refused without reading it', async () => {
    const head = Buffer.alloc(4096);
    head.writeBigUInt64LE(10_000_000_000n);
    await serve(new Map([['model.safetensors', { head, size: 20_000_000_000 }]]));
    expect((await failure(open())).message).toContain(
      'its header claims 10,000,000,000 bytes; the format allows 100,000,000',
    );
    expect(server.requests.length).toBeLessThan(5);
  });

  it('another version in the middle of a file is an error', async () => {
    const big = safetensors(
      Object.fromEntries(
        Array.from({ length: 10_000 }, (_, index) => [`model.layers.${index}.weight`, ['U8', [1], 1]]),
      ),
    );
    await serve(new Map([['model.safetensors', big]]));
    let version = 0;
    server.answer = ({ asUsual, file, response }) => {
      if (file !== null) {
        const head = response.writeHead.bind(response);
        response.writeHead = ((status: number, headers: Record<string, string>) =>
          head(status, { ...headers, etag: `"${version++}"` })) as typeof response.writeHead;
      }
      asUsual();
    };
    expect((await failure(open())).message).toContain('has another version of it than a moment ago');
  });

  it('silence and drops end by a deadline, and a signal ends all at once', async () => {
    const limits = { ...HUB_LIMITS, stallMs: 300, deadlineMs: 2000 };
    lies(() => undefined);
    expect((await failure(open(undefined, { limits }))).message).toContain('sent nothing for 0.3 s');
    lies(({ request, response }) => {
      const [from, to] = range(request);
      response.writeHead(206, usual(from, to));
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    });
    expect((await failure(open(undefined, { limits: { ...limits, stallMs: 1500 } }))).message).toContain(
      'took more than 2 s for all that was asked',
    );
    const controller = new AbortController();
    lies(() => controller.abort(new Error('enough')));
    await expect(open(undefined, { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('more bytes or requests than a model takes are an error', async () => {
    expect((await failure(open(undefined, { limits: { ...HUB_LIMITS, bytesInAll: 1000 } }))).message).toContain(
      'were read for one model',
    );
    expect((await failure(open(undefined, { limits: { ...HUB_LIMITS, requests: 2 } }))).message).toContain(
      'more than 2 requests',
    );
  });
});

describe('a name that is none', () => {
  it.each(['hf:', 'hf:a/b/c', 'hf:org/name@', 'hf:org/../name', 'hf:org/name:../x', 'hf:org/name:a\0b', 'hf:-/ x'])(
    '%s',
    async (name) => {
      expect((await failure(open(name))).code).toBe('ERR_INVALID_ARG_VALUE');
      expect(server.requests).toEqual([]);
    },
  );
});

it('nothing is asked for a name without hf:', async () => {
  expect((await failure(open('org/tiny'))).message).toContain('there is none');
  expect(server.requests).toEqual([]);
});
