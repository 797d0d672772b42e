/** Headers that are made to cost time and memory, and headers of any bytes: one line each, or what JSON.parse makes of them. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { UmaError } from '../../../../lib/base/errors.ts';
import { estimate, estimateTable, openModel } from '../../../../lib/models/estimate/index.ts';
import { readGguf } from '../../../../lib/models/files/gguf.ts';
import type { ByteSource } from '../../../../lib/models/files/model-file.ts';
import { readSafetensors } from '../../../../lib/models/files/safetensors.ts';
import { entryOf } from '../../../../lib/models/files/safetensors-entry.ts';
import { forEachTensor, type HeaderEntry } from '../../../../lib/models/files/safetensors-header.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('hostile');
let made = 0;

function safetensors(header: string): string {
  const path = join(folder, `${++made}.safetensors`);
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text]));
  return path;
}

function inFolder(files: Readonly<Record<string, string>>): string {
  const path = join(folder, String(++made));
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

/** A file in memory that counts what is read of it. */
function source(bytes: Buffer, size = bytes.length): ByteSource & { reads: number } {
  return {
    path: 'memory',
    size,
    reads: 0,
    async read(buffer, position) {
      this.reads++;
      return bytes.copy(buffer, 0, position);
    },
  };
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([u64(value.length), Buffer.from(value)]);
const gguf = (...parts: Buffer[]): Buffer => ggufOf(1, ...parts);
const ggufOf = (keys: number, ...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(keys), ...parts]);

/** In one line, of the package itself. */
async function refused(work: Promise<unknown>, message: string): Promise<void> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UmaError);
  expect((error as UmaError).code).toBe('ERR_UMA_MODEL');
  expect((error as UmaError).message).toContain(message);
  expect((error as UmaError).message).not.toContain('\n');
}

describe('a header that would cost minutes and gigabytes', () => {
  // 4 MB do what 36 MB do: JSON.parse takes seconds for them.
  const deep = 1_000_000;

  it('of nested metadata', async () => {
    await refused(
      openModel(safetensors(`{"__metadata__":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}}`)),
      'the format allows strings',
    );
    await refused(openModel(safetensors(`{"__metadata__":{"a":[${'[],'.repeat(deep)}1]}}`)), '"a", which is no string');
  });

  it('of a shape that is nested, or of which each number is a list', async () => {
    const nested = `{"a":{"dtype":"F32","shape":${'['.repeat(deep)}${']'.repeat(deep)},"data_offsets":[0,4]}}`;
    await refused(openModel(safetensors(nested)), 'tensor "a" is nested more than 8 times');
    const wide = `{"a":{"dtype":"F32","shape":[${'[],'.repeat(deep)}1],"data_offsets":[0,4]}}`;
    await refused(openModel(safetensors(wide)), 'takes more than 65,536 bytes of the header');
  });

  it('of a config or an index that is nested, or of empty lists', async () => {
    for (const name of ['config.json', 'model.safetensors.index.json']) {
      const of = (json: string): string => inFolder({ [name]: json });
      await refused(openModel(of(`{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`)), 'nested more than 64 times');
      await refused(openModel(of(`{"a":[${'[],'.repeat(3 * deep)}1]}`)), 'more than 2,000,000 values');
    }
  });

  it('of lists in lists, and of more strings than any vocabulary has', async () => {
    const lists = gguf(
      text('k'),
      u32(9),
      u32(9),
      u64(deep),
      ...Array.from({ length: 1000 }, () => Buffer.concat([u32(0), u64(0)])),
    );
    await refused(readGguf(source(lists, 20 * deep)), 'more than 8,000,000 entries, with those of "k"');
    const strings = source(gguf(text('k'), u32(9), u32(8), u64(10 * deep)), 100 * deep);
    await refused(readGguf(strings), 'more than 8,000,000 entries');
    expect(strings.reads).toBe(1);
  });

  it('of a tensor that ends within a block takes the whole block', async () => {
    // Q4_0: 18 bytes for 32 elements.
    const tensor = Buffer.concat([text('a.weight'), u32(1), u64(33), u32(2), u64(0)]);
    const header = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(1), u64(0), tensor]);
    const { largestTensor } = await readGguf(source(header, Math.ceil(header.length / 32) * 32 + 64));
    expect(largestTensor).toBe(36);
  });

  it('that a disk gives for more than a minute', async () => {
    const begin = gguf(text('k'), u32(9), u32(8), u64(400));
    const slow = source(begin, 2 ** 30);
    slow.read = async (buffer, position) => {
      slow.reads++;
      vi.setSystemTime(Date.now() + 31_000);
      // After the begin strings of 2 MiB each.
      if (position === 0) return begin.copy(buffer);
      buffer.writeBigUInt64LE(2n ** 21n);
      return buffer.length;
    };
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      await refused(readGguf(slow), 'its header took more than 60 s to read, and ends later than at byte');
    } finally {
      vi.useRealTimers();
    }
    expect(slow.reads).toBe(2);
  });

  it('of more parts than any model has', async () => {
    const path = join(folder, 'many-00001-of-09999.gguf');
    writeFileSync(path, gguf());
    await refused(openModel(path), 'it is one of 9,999 parts; expected at most 2,048');
  });

  it('that goes on for more than a GiB', async () => {
    const path = join(folder, 'long.gguf');
    writeFileSync(path, ggufOf(2, text('k'), u32(9), u32(0), u64(2 ** 31)));
    truncateSync(path, 2 ** 32);
    await refused(openModel(path), 'its header is longer than 1,073,741,824 bytes');
  });
});

describe('a number that no machine has', () => {
  it('of elements of a type that is not known', async () => {
    const size = Number.MAX_SAFE_INTEGER;
    const shape = JSON.stringify(Array.from({ length: 30 }, () => size));
    const path = safetensors(`{"a":{"dtype":"F2","shape":${shape},"data_offsets":[0,0]}}`);
    await refused(openModel(path), 'of F2 does not take the 0 bytes of its offsets');
  });
});

describe('shards', () => {
  const empty = safetensors('{}');
  const shards = (...names: string[]): string => {
    const path = inFolder({});
    for (const name of names) writeFileSync(join(path, name), Buffer.concat([u64(2), Buffer.from('{}')]));
    return path;
  };

  it('are complete only if each number is there', async () => {
    await refused(
      openModel(shards('model-00001-of-00002.safetensors', 'model-00003-of-00002.safetensors')),
      '1 of 2 shards "model-…" are there; download the others, such as model-00002-of-00002.safetensors',
    );
    expect(
      await openModel(shards('model-00001-of-000002.safetensors', 'model-00002-of-000002.safetensors')),
    ).toMatchObject({ files: 2 });
    expect(await openModel(empty)).toMatchObject({ files: 1 });
  });
});

describe('a signal', () => {
  const path = inFolder({
    'config.json':
      '{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":2,"vocab_size":100}',
  });
  const machine = snapshotOf();
  const calls: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
    openModel: (signal) => openModel(path, { signal }),
    estimate: (signal) => estimate(path, { signal }),
    estimateTable: (signal) => estimateTable(path, { signal }),
    fit: (signal) => fitInto({ model: path, snapshot: machine, signal }),
    'fit() of a table': (signal) => fitInto({ table: true, model: path, snapshot: machine, signal }),
  };

  it.each(Object.keys(calls))('ends %s()', async (name) => {
    const call = calls[name] as (signal: AbortSignal) => Promise<unknown>;
    await expect(call(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    const controller = new AbortController();
    const running = call(controller.signal);
    controller.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await expect(call(new AbortController().signal)).resolves.toBeDefined();
    await expect(call('now' as unknown as AbortSignal)).rejects.toThrow('expected an AbortSignal');
  });
});

describe('a signal while a long header is walked', () => {
  it('ends it', async () => {
    const name = 'x'.repeat(1000);
    const entry = (at: number) => `"${at}${name}":{"dtype":"F32","shape":[1],"data_offsets":[${4 * at},${4 * at + 4}]}`;
    const fileOf = (count: number) => {
      const json = Buffer.from(`{${Array.from({ length: count }, (_, at) => entry(at)).join(',')}}`);
      return source(Buffer.concat([u64(json.length), json]), 8 + json.length + 4 * count);
    };
    const context = { layers: null, packedBits: null };
    const controller = new AbortController();
    const abort = () => controller.abort(new Error('enough'));
    const read = (count: number) => readSafetensors({ ...fileOf(count), signal: controller.signal }, context, abort);
    await expect(read(6000)).rejects.toThrow('enough');
    await expect(readSafetensors(fileOf(6000), context)).resolves.toMatchObject({ largestTensor: 4 });
  });
});

/** What a header holds by JSON.parse; null: it is no header. */
function byJson(header: string): HeaderEntry[] | null {
  try {
    const value: unknown = JSON.parse(header);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return Object.entries(value).flatMap(([name, entry]) =>
      name === '__metadata__' ? [] : [entryOf(name, entry, 'x')],
    );
  } catch {
    return null;
  }
}

async function byWalk(header: string): Promise<HeaderEntry[] | null> {
  const entries: HeaderEntry[] = [];
  try {
    const found = (entry: HeaderEntry) => entries.push(entry);
    const other = (name: string, value: unknown) => entryOf(name, value, 'x');
    await forEachTensor(Buffer.from(header), 'x', { found, other });
    return entries;
  } catch (error) {
    expect(error).toBeInstanceOf(UmaError);
    return null;
  }
}

/** An object of JavaScript has names that are whole numbers first, whatever the text has. */
function sortedByName<T extends { name: string }>(tensors: readonly T[] | null): T[] | null {
  return tensors === null ? null : tensors.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

describe('the walk over a header', () => {
  const count = fc.integer({ min: 0, max: 2 ** 53 - 1 });
  const range = fc.tuple(count, count).map((pair) => pair.sort((a, b) => a - b));
  const fields = fc.record({
    dtype: fc.oneof(fc.constantFrom('F32', 'BF16'), fc.string()),
    shape: fc.array(count, { maxLength: 5 }),
    data_offsets: range,
  });
  const entry = fc.tuple(fields, fc.integer({ min: 0, max: 2 })).map(([value, turn]) => {
    const list = Object.entries(value);
    return Object.fromEntries([...list.slice(turn), ...list.slice(0, turn)]);
  });
  const name = fc
    .oneof(fc.string(), fc.string({ unit: 'grapheme' }))
    .filter((key) => key !== '__proto__' && key !== '__metadata__');
  const header = fc
    .tuple(fc.dictionary(name, entry), fc.dictionary(name, fc.string()), fc.constantFrom(undefined, 1, '\t'))
    .map(([tensors, metadata, space]) => JSON.stringify({ __metadata__: metadata, ...tensors }, null, space));

  it('finds what JSON.parse finds', async () => {
    await fc.assert(
      fc.asyncProperty(header, async (json) => {
        expect(await byWalk(json)).toEqual(byJson(json));
      }),
    );
  });

  it('takes nothing that JSON.parse refuses, and refuses in one line', async () => {
    const change = fc.tuple(
      header,
      fc.nat(),
      fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '0', '-1', '1e3', ' ', '\\', 'null', '\u0001', '\u00e9'),
      fc.nat(3),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([json, at, piece, cut]) => {
        const place = at % (json.length + 1);
        // Half of a character that is cut becomes another one in bytes.
        const broken = Buffer.from(json.slice(0, place) + piece + json.slice(place + cut)).toString();
        const walked = await byWalk(broken);
        if (walked !== null && new Set(walked.map((tensor) => tensor.name)).size === walked.length)
          expect(sortedByName(walked)).toEqual(sortedByName(byJson(broken)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a GGUF header of any bytes', () => {
  it('is read or refused in one line', async () => {
    const value = fc.oneof(
      fc.integer({ min: 0, max: 2 ** 31 }).map(u32),
      fc.integer({ min: 0, max: 20 }).map(u32),
      fc.integer({ min: 0, max: 40 }).map(u64),
      fc.string().map(text),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 30 }), async (parts) => {
        const error = await readGguf(source(gguf(...parts))).then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error !== null) expect(error).toBeInstanceOf(UmaError);
      }),
      { numRuns: 300 },
    );
  });
});
