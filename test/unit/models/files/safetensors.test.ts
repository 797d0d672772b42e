/** Headers of safetensors files: what they add up to, and files that are damaged on purpose. */
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFile } from '../../../../lib/models/files/model-file.ts';
import { openModel } from '../../../../lib/models/files/open.ts';
import { readSafetensors } from '../../../../lib/models/files/safetensors.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('safetensors');
const newFolder = (): string => mkdtempSync(join(folder, 'model-'));

/** A safetensors file with a header and as many bytes of data as given (sparse). */
function safetensors(header: string | object, dataBytes = 0, claimed?: bigint): string {
  const path = join(newFolder(), 'model.safetensors');
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(claimed ?? BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text]));
  truncateSync(path, 8 + text.length + dataBytes);
  return path;
}

const tensor = (shape: number[], begin: number, end: number, dtype = 'F32') => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

describe('the tensors of a safetensors file', () => {
  it('add up by part: experts, further tokens, images, and what has no layer', async () => {
    const names = [
      'model.embed_tokens.weight',
      'model.layers.3.mlp.experts.7.up_proj.weight',
      'model.layers.4.input_layernorm.weight',
      'visual.blocks.3.attn.weight',
      'lm_head.weight',
    ];
    const header = Object.fromEntries(names.map((name, index) => [name, tensor([4], 16 * index, 16 * index + 16)]));
    const path = safetensors({ __metadata__: { format: 'pt' }, ...header }, 16 * names.length);
    const { largestTensor, sums } = await withFile(path, (file) =>
      readSafetensors(file, { layers: 4, packedBits: null }),
    );
    expect(
      sums
        .all()
        .map(({ parameters, part, tensors }) => [part, parameters, tensors])
        .sort(),
    ).toEqual(['embedding', 'experts', 'mtp', 'output', 'vision'].map((part) => [part, 4, 1]));
    expect(largestTensor).toBe(16);
    const check = (name: string) => () => sums.checkLayers({ name, layers: 4 }, path);
    expect(check('nemotron-nas')).not.toThrow();
    expect(check('llama')).toThrow('it has tensors of 1 of 4 layers, and none of layer 0: a file is');
  });

  it('are read behind a header of any length', async () => {
    // At first 128 KiB are read.
    for (const length of [1000, 131_063, 131_064, 131_065, 131_072, 200_000]) {
      const path = safetensors(JSON.stringify({ a: tensor([4], 0, 16) }).padEnd(length), 16);
      const { largestTensor } = await withFile(path, (file) =>
        readSafetensors(file, { layers: null, packedBits: null }),
      );
      expect(largestTensor).toBe(16);
    }
  });

  it('that are packed hold several parameters in an element, and their scales none', async () => {
    const packed = { dtype: 'I32', shape: [32, 8], data_offsets: [0, 1024] };
    const path = safetensors({ 'a.qweight': packed, 'a.scales': tensor([4], 1024, 1040) }, 1040);
    const { sums } = await withFile(path, (file) => readSafetensors(file, { layers: 4, packedBits: 4 }));
    expect(sums.all().reduce((sum, { parameters }) => sum + parameters, 0)).toBe(32 * 8 * 8);
  });
});

describe('a damaged safetensors file is refused in one line', () => {
  const cases: [what: string, path: () => string, message: string | RegExp][] = [
    [
      'shorter than its length field',
      () => {
        const path = safetensors('{}');
        truncateSync(path, 5);
        return path;
      },
      'it has 5 bytes',
    ],
    [
      'header past the end',
      () => safetensors('{}', 0, 5000n),
      'its header claims 5,000 bytes, but the file has 10: it is cut off; download it again',
    ],
    [
      '10 GB header',
      () => safetensors('{}', 0, 10_000_000_000n),
      'its header claims 10,000,000,000 bytes; the format allows 100,000,000',
    ],
    ['2^63 header', () => safetensors('{}', 0, 2n ** 63n), 'its header claims 9,223,372,036,854,775,808 bytes'],
    ['no JSON', () => safetensors('{"a": '), 'it is not valid JSON'],
    ['a list', () => safetensors('[]'), 'it holds no JSON object'],
    ['negative shape', () => safetensors({ a: tensor([-1, 4], 0, 16) }, 16), 'tensor "a": its shape has -1'],
    ['fractional shape', () => safetensors({ a: tensor([1.5, 4], 0, 24) }, 24), 'its shape has 1.5'],
    ['offsets that run back', () => safetensors({ a: tensor([4], 16, 0) }, 16), 'its offsets are [16,0]'],
    [
      'offsets that are no numbers',
      () => safetensors({ a: { dtype: 'F32', shape: [4], data_offsets: ['0', 16] } }, 16),
      'its offsets are ["0",16]',
    ],
    [
      'no dtype',
      () => safetensors({ a: { shape: [4], data_offsets: [0, 16] } }, 16),
      'expected dtype, shape and two data_offsets',
    ],
    [
      'shape that contradicts its bytes',
      () => safetensors({ a: tensor([5], 0, 16) }, 16),
      'shape [5] of F32 does not take the 16 bytes',
    ],
    [
      'shape beyond 2^53',
      () => safetensors({ a: tensor([2 ** 40, 2 ** 40], 0, 16) }, 16),
      'does not take the 16 bytes',
    ],
    [
      'overlap',
      () => safetensors({ a: tensor([4], 0, 16), b: tensor([4], 8, 24) }, 24),
      'its tensors overlap at byte 8',
    ],
    [
      'a hole',
      () => safetensors({ a: tensor([4], 0, 16), b: tensor([4], 32, 48) }, 48),
      'its tensors leave a hole at byte 16',
    ],
    [
      'data cut off',
      () => safetensors({ a: tensor([4], 0, 16) }, 8),
      'its tensors take 16 bytes, but the file has 8 for them',
    ],
    [
      'data left over',
      () => safetensors({ a: tensor([4], 0, 16) }, 20),
      '4 bytes after the last tensor belong to none',
    ],
  ];

  it.each(cases)('%s', async (_, path, message) => {
    const error = await openModel(path()).then(
      () => null,
      (reason: unknown) => reason as Error & { code: string },
    );
    expect(error?.message).toMatch(
      message instanceof RegExp ? message : new RegExp(message.replace(/[[\](){}^.]/g, '\\$&')),
    );
    expect(error?.message).not.toContain('\n');
    expect(error?.code).toBe('ERR_UMA_MODEL');
  });
});
