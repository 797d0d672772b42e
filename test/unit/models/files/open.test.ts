/** Reading models: files of the formats' own Python writers, stores, and files that are damaged on purpose. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UmaError } from '../../../../lib/base/errors.ts';
import { openModel as open } from '../../../../lib/models/estimate/index.ts';
import { ggmlType } from '../../../../lib/models/files/ggml-types.ts';
import { openModel } from '../../../../lib/models/files/open.ts';
import { bytesOf } from '../../../../lib/models/files/weights.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const FIXTURES = join(ROOT, 'test/support/models');
const newFolder = (): string => temporaryFolder('models');

describe('files of the Python package safetensors', () => {
  it('in shards, of several types', async () => {
    const model = await openModel(join(FIXTURES, 'sharded'));
    const parameters = 2 * 96 * 32 + 2 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 64 * 32) + 3 * 32;
    expect(model).toMatchObject({ name: 'sharded', source: 'safetensors', files: 2, parameters, dtype: 'bfloat16' });
    expect(bytesOf(model.weights)).toBe(2 * (parameters - 96) + 4 * 96);
    expect(bytesOf(model.weights, 'embedding')).toBe(2 * 96 * 32);
    expect(model.largestTensor).toBe(2 * 96 * 32);
  });

  it('in FP8: its scales are no parameters; vision and further prediction layers stand apart', async () => {
    const { weights, parameters, quantization } = await openModel(join(FIXTURES, 'fp8'));
    expect(parameters).toBe(96 * 32 + 64 * 32 + 16 * 32 + 32 * 64 + 24 * 8);
    expect(bytesOf(weights, 'mtp')).toBe(2 * 32 * 64);
    expect(bytesOf(weights, 'vision')).toBe(2 * 24 * 8);
    expect(bytesOf(weights, 'experts')).toBe(16 * 32);
    expect(quantization).toMatchObject({ method: 'fp8', bits: 8, kvDtype: null });
  });

  it('in AWQ, packed eight to an element', async () => {
    const { parameters, quantization } = await openModel(join(FIXTURES, 'awq'));
    expect(parameters).toBe(96 * 32 + 64 * 32);
    expect(quantization).toMatchObject({ method: 'awq', bits: 4 });
  });

  it('in NVFP4, packed two to a byte, with the cache that the checkpoint asks for', async () => {
    const { parameters, quantization } = await openModel(join(FIXTURES, 'nvfp4'));
    expect(parameters).toBe(96 * 32 + 64 * 32);
    expect(quantization).toMatchObject({ method: 'nvfp4', bits: 4, kvDtype: 'fp8' });
  });

  it('alone, with the config beside it', async () => {
    const model = await openModel(join(FIXTURES, 'awq/model.safetensors'));
    expect(model).toMatchObject({ name: 'model.safetensors', files: 1, parameters: 96 * 32 + 64 * 32 });
    expect(model.architecture?.layers).toBe(1);
  });

  it('of which only the config is there', async () => {
    const model = await openModel(join(FIXTURES, 'sharded/config.json'));
    expect(model).toMatchObject({ name: 'sharded', source: 'config', weights: [], parameters: null });
  });
});

describe('a pipeline of diffusers', () => {
  const pipeline = (...parts: [folder: string, file: string][]): string => {
    const path = newFolder();
    writeFileSync(join(path, 'model_index.json'), '{"_class_name": "FluxPipeline"}');
    for (const [part, file] of parts) {
      mkdirSync(join(path, part), { recursive: true });
      writeFileSync(join(path, part, 'config.json'), '{"_class_name": "AutoencoderKL", "num_layers": 19}');
      cpSync(join(FIXTURES, 'fp8/model.safetensors'), join(path, part, file));
    }
    return path;
  };
  const one = openModel(join(FIXTURES, 'fp8/model.safetensors'));

  it('is the sum of its parts, without copies in other types', async () => {
    const path = pipeline(
      ['transformer', 'diffusion_pytorch_model.safetensors'],
      ['transformer', 'diffusion_pytorch_model.fp16.safetensors'],
      ['vae', 'diffusion_pytorch_model.safetensors'],
      ['text_encoder', 'model.safetensors'],
    );
    mkdirSync(join(path, 'scheduler'));
    const model = await openModel(path);
    expect(bytesOf(model.weights)).toBe(3 * bytesOf((await one).weights));
    expect(model).toMatchObject({ files: 3, architecture: null });
    expect(model.notes.join()).toMatch(
      /text_encoder [\d.]+ KiB, transformer [\d.]+ KiB, vae [\d.]+ KiB\. What a picture/,
    );
  });

  it('or one of them, whose config is not that of a language model', async () => {
    const path = pipeline(['vae', 'diffusion_pytorch_model.safetensors']);
    const model = await openModel(join(path, 'vae'));
    expect(model).toMatchObject({ files: 1, architecture: null });
    expect(model.notes.join()).toContain('no config.json of a language model');
  });

  it('without weights, or with a part that leads elsewhere, is refused in one line', async () => {
    const empty = pipeline();
    mkdirSync(join(empty, 'vae'));
    await expect(openModel(empty)).rejects.toThrow('no folder of this pipeline has safetensors files');
    const linked = pipeline();
    mkdirSync(join(linked, 'vae'));
    symlinkSync('/etc/passwd', join(linked, 'vae', 'diffusion_pytorch_model.safetensors'));
    await expect(openModel(linked)).rejects.toThrow('it leads out of its folder');
  });
});

/**
 * Number, name, elements and bytes of a block: its scales, then its bits. They are GGML_QUANT_SIZES of gguf 0.19, but for
 * Q8_1, which is in no file: its two scales are halves (block_q8_1 of ggml-common.h), where gguf has 4 + 4 bytes.
 */
const BLOCKS = `
  0 F32 1 4, 1 F16 1 2, 24 I8 1 1, 25 I16 1 2, 26 I32 1 4, 27 I64 1 8, 28 F64 1 8, 30 BF16 1 2
  2 Q4_0 32 2+16, 3 Q4_1 32 2+2+16, 6 Q5_0 32 2+4+16, 7 Q5_1 32 2+2+4+16, 8 Q8_0 32 2+32, 9 Q8_1 32 2+2+32
  10 Q2_K 256 2+2+16+64, 11 Q3_K 256 2+12+32+64, 12 Q4_K 256 2+2+12+128, 13 Q5_K 256 2+2+12+32+128
  14 Q6_K 256 2+16+64+128, 15 Q8_K 256 4+32+256, 16 IQ2_XXS 256 2+64, 17 IQ2_XS 256 2+8+64, 18 IQ3_XXS 256 2+32+64
  19 IQ1_S 256 2+16+32, 20 IQ4_NL 32 2+16, 21 IQ3_S 256 2+4+8+32+64, 22 IQ2_S 256 2+8+8+64, 23 IQ4_XS 256 2+2+4+128
  29 IQ1_M 256 8+16+32, 34 TQ1_0 256 2+4+48, 35 TQ2_0 256 2+64, 39 MXFP4 32 1+16, 40 NVFP4 64 4+32`;

describe('files of the Python package gguf', () => {
  it.each(BLOCKS.trim().split(/\s*[,\n]\s*/))('in blocks of type %s', (row) => {
    const [number, name, elements, parts = ''] = row.split(' ');
    const blockBytes = parts.split('+').reduce((sum, part) => sum + Number(part), 0);
    expect(ggmlType(Number(number))).toEqual({ name, blockElements: Number(elements), blockBytes });
  });

  it('with tensors of several types, and a vocabulary that is not built', async () => {
    const model = await openModel(join(FIXTURES, 'llama.gguf'));
    const bytes = (300 * 256 * 144) / 256 + (256 * 256 * 18) / 32 + (128 * 256 * 210) / 256 + (512 * 256 * 136) / 256;
    expect(bytesOf(model.weights)).toBe(bytes + (2 * 64 * 256 * 34) / 32 + 4 * 256);
    expect(bytesOf(model.weights, 'experts')).toBe((2 * 64 * 256 * 34) / 32);
    expect(model.architecture).toMatchObject({ name: 'llama', layers: 2, vocab: 300, tied: true, maxContext: 4096 });
  });

  it('in parts, by the first, by another, and by their folder', async () => {
    const first = await openModel(join(FIXTURES, 'split/gemma-00001-of-00002.gguf'));
    expect(first).toMatchObject({ files: 2, fileBytes: 330_720, parameters: 2 * 300 * 256 + 2 * 256 * 256 });
    expect(first.architecture).toMatchObject({ name: 'gemma4', softcap: true, tied: false });
    expect(first.architecture?.cache).toMatchObject([
      { window: 1024, kvHeads: 2 },
      { window: null, kvHeads: 1 },
    ]);
    const second = await openModel(join(FIXTURES, 'split/gemma-00002-of-00002.gguf'));
    expect(second.weights).toEqual(first.weights);
    expect((await openModel(join(FIXTURES, 'split'))).weights).toEqual(first.weights);
  });
});

describe('a store', () => {
  it('of the Hugging Face hub: links from a snapshot to the blobs', async () => {
    const store = newFolder();
    const repository = join(store, 'models--org--tiny');
    const snapshot = join(repository, 'snapshots/abc');
    mkdirSync(snapshot, { recursive: true });
    mkdirSync(join(repository, 'refs'));
    writeFileSync(join(repository, 'refs/main'), 'abc\n');
    cpSync(join(FIXTURES, 'awq'), join(repository, 'blobs'), { recursive: true });
    for (const name of ['config.json', 'model.safetensors']) symlinkSync(`../../blobs/${name}`, join(snapshot, name));
    const model = await openModel('org/tiny', { env: { HF_HUB_CACHE: store }, home: null });
    expect(model).toMatchObject({ name: 'org/tiny', source: 'safetensors', parameters: 96 * 32 + 64 * 32 });
    expect((await openModel(repository, { env: {} })).name).toBe('org/tiny');
  });

  it('of Ollama: a manifest names the blob', async () => {
    const store = newFolder();
    const digest = 'a'.repeat(64);
    mkdirSync(join(store, 'manifests/registry.ollama.ai/library/tiny'), { recursive: true });
    mkdirSync(join(store, 'blobs'));
    const layers = [
      { mediaType: 'application/vnd.ollama.image.license', digest: 'sha256:0' },
      { mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}` },
    ];
    writeFileSync(join(store, 'manifests/registry.ollama.ai/library/tiny/8b'), JSON.stringify({ layers }));
    cpSync(join(FIXTURES, 'llama.gguf'), join(store, `blobs/sha256-${digest}`));
    expect(await openModel('tiny:8b', { env: { OLLAMA_MODELS: store }, home: null })).toMatchObject({
      name: 'tiny:8b',
      source: 'gguf',
    });
  });

  it('of LM Studio: publisher/model', async () => {
    const home = newFolder();
    const store = join(home, '.lmstudio/models/pub/tiny');
    mkdirSync(store, { recursive: true });
    cpSync(join(FIXTURES, 'llama.gguf'), join(store, 'tiny.gguf'));
    cpSync(join(FIXTURES, 'llama.gguf'), join(store, 'mmproj-tiny.gguf'));
    expect(await openModel('pub/tiny', { env: {}, home })).toMatchObject({
      name: 'pub/tiny',
      source: 'gguf',
      files: 1,
    });
  });

  it('that does not have the model: the message says what a name can be', async () => {
    await expect(openModel('org/none', { env: {}, home: newFolder() })).rejects.toThrow(
      /^model "org\/none": there is none on this computer; the Hub may have hf:org\/none; expected a folder/,
    );
    await expect(openModel('/no/such/folder', { env: {} })).rejects.toThrow('model "/no/such/folder": there is none');
  });
});

describe('a path that is no model is an error of one line, of umaprobe', () => {
  const errorOf = (model: string): Promise<Error & { code?: string }> =>
    open(model).then(
      () => expect.fail(`${model} was opened`),
      (error: Error) => error,
    );
  const file = join(FIXTURES, 'sharded/config.json');
  const asFolder = newFolder();
  mkdirSync(join(asFolder, 'config.json'));
  const named = newFolder();
  writeFileSync(join(named, 'a.safetensors'), '');
  writeFileSync(join(named, 'model.safetensors.index.json'), '{"weight_map": {"a": "b\\u0000c"}}');

  it.each([
    ['missing', '/no/such/model.gguf', 'ERR_UMA_MODEL', 'model "/no/such/model.gguf": there is none'],
    ['below a file', `${file}/x`, 'ERR_UMA_MODEL', 'there is none'],
    ['too long', `/${'x'.repeat(5000)}`, 'ERR_UMA_MODEL', 'there is none'],
    ['empty', '', 'ERR_INVALID_ARG_VALUE', 'model is ""; expected a path or a name'],
    ['with a NUL', 'a\0b', 'ERR_INVALID_ARG_VALUE', 'model is "a\\u0000b"; expected a path or a name'],
    ['whose config.json is a folder', asFolder, 'ERR_UMA_MODEL', 'it is not a regular file'],
    ['a config.json that is a folder', join(asFolder, 'config.json'), 'ERR_UMA_MODEL', 'this folder has neither'],
    ['whose index has a NUL', named, 'ERR_UMA_MODEL', 'an entry that is not the name of a file'],
    ['a device', '/dev/null', 'ERR_UMA_MODEL', 'expected a .gguf, .safetensors or config.json file'],
  ])('%s', async (_, model, code, message) => {
    const error = await errorOf(model);
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
    expect(error.message).not.toContain('\n');
  });

  it('that this user may not read', async () => {
    const closed = newFolder();
    cpSync(join(FIXTURES, 'sharded'), closed, { recursive: true });
    const config = join(closed, 'config.json');
    chmodSync(config, 0);
    const { geteuid, seteuid } = process;
    const isRoot = geteuid?.() === 0;
    chmodSync(closed, 0o755);
    if (isRoot) seteuid?.(65_534);
    try {
      for (const [model, path] of [
        [closed, config],
        [config, config],
      ] as const) {
        const error = await errorOf(model);
        expect(error).toBeInstanceOf(UmaError);
        expect(error).toMatchObject({ code: 'ERR_UMA_PERMISSION', nativeName: 'EACCES', status: 13 });
        expect(error.message).toBe(`model ${JSON.stringify(path)}: this user may not read it (EACCES 13)`);
      }
    } finally {
      if (isRoot) seteuid?.(0);
    }
  });

  it('is read no longer than its signal allows', async () => {
    const reason = new Error('enough');
    await expect(open(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const end = new AbortController();
    const opening = open(file, { signal: end.signal });
    end.abort(reason);
    await expect(opening).rejects.toBe(reason);
  });
});

describe('an open model', () => {
  it('does not change, and a copy of it is none', async () => {
    const model = await open(join(FIXTURES, 'sharded'));
    expect(Object.isFrozen(model)).toBe(true);
    expect(await open(model)).toBe(model);
    await expect(open({ ...model })).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
    expect(model).toMatchObject({ name: 'sharded', source: 'safetensors', files: 2 });
  });
});

describe('a folder', () => {
  const refused = async (path: string, message: string) => {
    await expect(openModel(path)).rejects.toThrow(message);
    await expect(openModel(path)).rejects.toMatchObject({ code: 'ERR_UMA_MODEL' });
  };

  it('that claims ten thousand shards', async () => {
    const path = newFolder();
    writeFileSync(join(path, 'model-00001-of-10000.safetensors'), '');
    await refused(path, 'it has 10,000 shards; expected at most 2,048');
    const named = newFolder();
    for (let shard = 0; shard < 2049; shard++) writeFileSync(join(named, `part${shard}.safetensors`), '');
    await refused(named, 'it has 2,049 shards');
  });

  it('whose shard is a link out of it', async () => {
    const path = newFolder();
    symlinkSync(join(FIXTURES, 'awq/model.safetensors'), join(path, 'model.safetensors'));
    await refused(path, 'it leads out of its folder, to ');
  });

  it('whose index names a file elsewhere', async () => {
    const path = newFolder();
    writeFileSync(join(path, 'a.safetensors'), '');
    writeFileSync(
      join(path, 'model.safetensors.index.json'),
      JSON.stringify({ weight_map: { a: '../../../../etc/passwd' } }),
    );
    await refused(path, 'it leads out of its folder, to /etc/passwd');
  });

  it('whose index is not one', async () => {
    const path = newFolder();
    writeFileSync(join(path, 'a.safetensors'), '');
    writeFileSync(join(path, 'model.safetensors.index.json'), '{"weight_map": {"a": 7}}');
    await refused(path, 'its weight_map has an entry that is not the name of a file');
  });

  it('with a FIFO in place of a shard, without waiting for it', async () => {
    const path = newFolder();
    execFileSync('mkfifo', [join(path, 'model.safetensors')]);
    await refused(path, 'it is not a regular file');
  });

  it('with several GGUF models', async () => {
    const path = newFolder();
    for (const name of ['b.gguf', 'a.gguf']) cpSync(join(FIXTURES, 'llama.gguf'), join(path, name));
    await refused(path, 'this folder has 2 GGUF models: a.gguf, b.gguf; name one of them');
  });

  it('with nothing', async () => {
    await refused(newFolder(), 'this folder has neither config.json nor safetensors nor GGUF files');
  });

  it('that is a loop of links', async () => {
    const path = join(newFolder(), 'loop');
    symlinkSync(path, path);
    await refused(path, 'it cannot be read (ELOOP)');
  });

  it('with a config of Windows, which has a mark before its text, and one with a number in quotes', async () => {
    const path = newFolder();
    writeFileSync(join(path, 'config.json'), '\ufeff{"num_hidden_layers": 2, "hidden_size": 64}');
    expect((await openModel(path)).architecture).toMatchObject({ layers: 2, hidden: 64 });
    writeFileSync(join(path, 'config.json'), '{"num_hidden_layers": "2", "hidden_size": 64}');
    await refused(path, 'num_hidden_layers is "2"; expected a whole number');
  });

  it('with a config of Python, which writes Infinity', async () => {
    const path = newFolder();
    writeFileSync(
      join(path, 'config.json'),
      '{"num_hidden_layers": 2, "hidden_size": 64, "limit": [0.0, Infinity], "x": NaN}',
    );
    expect((await openModel(path)).architecture).toMatchObject({ layers: 2, hidden: 64 });
  });
});

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: bigint | number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(value.length), Buffer.from(value)]);

/** A GGUF file of the given parts after its magic and version, with data (sparse). */
function gguf(parts: Buffer[], dataBytes = 0, start: Buffer = Buffer.concat([Buffer.from('GGUF'), u32(3)])): string {
  const path = join(newFolder(), 'model.gguf');
  const bytes = Buffer.concat([start, ...parts]);
  writeFileSync(path, bytes);
  if (dataBytes > 0) truncateSync(path, Math.ceil(bytes.length / 32) * 32 + dataBytes);
  return path;
}

const info = (name: string, dimensions: (bigint | number)[], type: number, offset: bigint | number) =>
  Buffer.concat([text(name), u32(dimensions.length), ...dimensions.map(u64), u32(type), u64(offset)]);

describe('a damaged GGUF file is refused in one line', () => {
  const cases: [what: string, path: () => string, message: string][] = [
    ['another magic', () => gguf([], 0, Buffer.from('GGML____________')), 'it begins with "GGML"; expected "GGUF"'],
    ['nothing', () => gguf([], 0, Buffer.alloc(0)), 'but the file has 0: it is cut off'],
    [
      'version 1',
      () => gguf([], 64, Buffer.concat([Buffer.from('GGUF'), u32(1)])),
      'it has version 1; expected 2 or 3',
    ],
    [
      'big-endian',
      () => gguf([], 64, Buffer.concat([Buffer.from('GGUF'), Buffer.from([0, 0, 0, 3])])),
      'it is a big-endian file',
    ],
    [
      '2^60 tensors',
      () => gguf([u64(2n ** 60n), u64(0)], 64),
      'its header claims 1,152,921,504,606,847,000 tensors; at most 1,000,000 are expected',
    ],
    ['2^63 keys', () => gguf([u64(0), u64(2n ** 63n)], 64), 'keys; at most 100,000 are expected'],
    [
      'more tensors than the file could hold',
      () => gguf([u64(5000), u64(0)], 64),
      'its header claims 5,000 tensors; the file has',
    ],
    ['a key of 2^40 bytes', () => gguf([u64(0), u64(1), u64(2n ** 40n)], 64), 'ends after the file'],
    [
      'a value of 2^62 bytes',
      () => gguf([u64(0), u64(1), text('a'), u32(8), u64(2n ** 62n)], 64),
      'ends after the file',
    ],
    ['a value of type 99', () => gguf([u64(0), u64(1), text('a'), u32(99)], 64), 'key "a" has a value of type 99'],
    [
      'an array of 2^60',
      () => gguf([u64(0), u64(1), text('a'), u32(9), u32(8), u64(2n ** 60n)], 64),
      'array "a" claims 1,152,921,504,606,847,000 entries',
    ],
    [
      'arrays in arrays in arrays',
      () =>
        gguf(
          [u64(0), u64(1), text('a'), u32(9), ...Array.from({ length: 9 }, () => Buffer.concat([u32(9), u64(1)]))],
          4096,
        ),
      'is nested more than 4 times',
    ],
    [
      'a string of an array past the end',
      () => gguf([u64(0), u64(1), text('a'), u32(9), u32(8), u64(2), text('b'), u64(2n ** 50n)], 64),
      'ends after the file',
    ],
    [
      'dimensions of 2^60',
      () => gguf([u64(1), u64(0), info('t', [2n ** 60n], 0, 0)], 64),
      'tensor "t" has 1.15e+18 elements',
    ],
    [
      'nine dimensions',
      () => gguf([u64(1), u64(0), info('t', Array(9).fill(1), 0, 0)], 64),
      'tensor "t" has 9 dimensions',
    ],
    ['an offset of 2^60', () => gguf([u64(1), u64(0), info('t', [4], 0, 2n ** 60n)], 64), 'tensor "t" ends at byte'],
    [
      'tensors that overlap',
      () => gguf([u64(2), u64(0), info('t', [32], 0, 0), info('u', [32], 0, 64)], 256),
      'tensor "t" overlaps "u" at byte 64',
    ],
    [
      'data cut off',
      () => gguf([u64(1), u64(0), info('t', [1024], 0, 0)], 64),
      'the file is cut off; download it again',
    ],
    ['tensors cut off', () => gguf([u64(2), u64(0), info('t', [4], 0, 0), u64(3)]), 'it is cut off'],
  ];

  it.each(cases)('%s', async (_, path, message) => {
    const error = await openModel(path()).then(
      () => null,
      (reason: unknown) => reason as Error & { code: string },
    );
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('\n');
    expect(error?.code).toBe('ERR_UMA_MODEL');
  });

  it('but a type that is not known is sized by the distance to the next tensor, with a note', async () => {
    const architecture = [
      text('general.architecture'),
      u32(8),
      text('llama'),
      text('llama.block_count'),
      u32(4),
      u32(1),
    ];
    const path = gguf(
      [u64(2), u64(2), ...architecture, info('token_embd.weight', [32], 999, 0), info('blk.0.x', [8], 0, 96)],
      128,
    );
    const model = await openModel(path);
    expect(model.notes[0]).toContain('unknown ggml types (999)');
    expect(bytesOf(model.weights)).toBe(96 + 32);
  });
});
