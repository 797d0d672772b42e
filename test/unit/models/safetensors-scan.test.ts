/** Headers are read by comparison with entries that were seen; JSON.parse must find the same in them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSafetensors } from '../../../lib/models/safetensors.ts';
import { scanHeader, type TensorContext } from '../../../lib/models/safetensors-scan.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder('safetensors-scan');
const context = (layers: number | null = 4, packedBits: number | null = null): TensorContext => ({
  layers,
  packedBits,
  kinds: [],
});

type Header = Record<string, unknown>;
const BYTES: Record<string, number> = { BF16: 2, F32: 4, F8_E4M3: 1, I32: 4, U8: 1 };

/** Tensors one after the other. */
function headerOf(tensors: [name: string, dtype: string, shape: number[]][]): Header {
  let end = 0;
  return Object.fromEntries(
    tensors.map(([name, dtype, shape]) => {
      const begin = end;
      end += shape.reduce((product, size) => product * size, 1) * (BYTES[dtype] ?? 1);
      return [name, { dtype, shape, data_offsets: [begin, end] }];
    }),
  );
}

const layers = (from: number, to: number): [string, string, number[]][] =>
  Array.from({ length: to - from }, (_, index): [string, string, number[]][] => [
    [`model.layers.${from + index}.mlp.experts.7.up_proj.weight`, 'F8_E4M3', [32, 1000 + index]],
    [`model.layers.${from + index}.mlp.experts.7.up_proj.weight_scale_inv`, 'F32', [1, 1]],
    [`model.layers.${from + index}.input_layernorm.weight`, 'BF16', [32]],
  ]).flat();

const MODEL = headerOf([
  ['model.embed_tokens.weight', 'BF16', [64, 32]],
  ...layers(0, 6),
  ['visual.blocks.3.attn.weight', 'BF16', [8, 8]],
  ['model.layers.1.scalar', 'F32', []],
  ['model.layers.1.empty', 'F32', [0, 5]],
  ['lm_head.weight', 'BF16', [64, 32]],
]);

/** The sums by JSON.parse: a member that the scan does not know, in the header of the same model. */
async function parsed(header: Header, { layers, packedBits }: TensorContext) {
  const path = join(folder, 'parsed.safetensors');
  const unusual = Object.fromEntries(
    Object.entries(header).map(([name, value]) => [
      name,
      name === '__metadata__' ? value : { ...(value as object), more: 1 },
    ]),
  );
  const text = Buffer.from(JSON.stringify(unusual));
  expect(scanHeader(text, context())).toBeNull();
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const ends = Object.values(header).map((value) => (value as { data_offsets?: number[] }).data_offsets?.[1] ?? 0);
  writeFileSync(path, Buffer.concat([length, text, Buffer.alloc(Math.max(0, ...ends))]));
  return readSafetensors(path, { layers, packedBits, kinds: [] });
}

async function expectSame(header: Header, text: string, of = context()) {
  const found = scanHeader(Buffer.from(text), of);
  const { sums, largestTensor } = await parsed(header, of);
  const byKey = (a: { part: string; dtype: string }, b: { part: string; dtype: string }) =>
    `${a.part} ${a.dtype}` < `${b.part} ${b.dtype}` ? -1 : 1;
  expect(found?.sums.all().sort(byKey)).toEqual([...sums].sort(byKey));
  expect(found?.largestTensor).toBe(largestTensor);
  return found;
}

describe('a header of the usual form', () => {
  it('adds up as JSON.parse finds it, layers for further tokens apart', async () => {
    const found = await expectSame(MODEL, JSON.stringify(MODEL));
    expect(found?.sums.all().find(({ part }) => part === 'mtp')).toMatchObject({ tensors: 2 });
    expect(found?.ranges.at(-1)).toBe((MODEL['lm_head.weight'] as { data_offsets: number[] }).data_offsets[1]);
  });

  it('with metadata, and with spaces, line breaks and names that are not ASCII', async () => {
    const header = { __metadata__: { format: 'pt', note: 'a, b: [1]' }, ...MODEL };
    await expectSame(MODEL, JSON.stringify(header));
    await expectSame(MODEL, ` ${JSON.stringify(header, null, 2)}  \n`);
    const accents = headerOf([['modèle.1.weight', 'F32', [2]]]);
    await expectSame(accents, JSON.stringify(accents));
  });

  it('with packed weights, whose scales are no parameters', async () => {
    const header = headerOf([
      ['model.layers.0.q_proj.qweight', 'I32', [32, 8]],
      ['model.layers.0.q_proj.scales', 'BF16', [32, 8]],
      ['model.layers.1.q_proj.weight_scale_2', 'F32', []],
      ['model.layers.1.q_proj.weight_scale_3', 'F32', []],
    ]);
    const found = await expectSame(header, JSON.stringify(header), context(4, 4));
    expect(found?.sums.all().reduce((sum, { parameters }) => sum + parameters, 0)).toBe(32 * 8 * 8 + 1);
  });

  it('remembers the kinds of entries from one file to the next', () => {
    const of = context();
    scanHeader(Buffer.from(JSON.stringify(headerOf(layers(0, 3)))), of);
    expect(of.kinds).toHaveLength(3);
    const more = scanHeader(Buffer.from(JSON.stringify(headerOf(layers(10, 40)))), of);
    expect(of.kinds).toHaveLength(3);
    expect(more?.sums.all().every(({ part }) => part === 'mtp')).toBe(true);
  });

  it('without tensors', async () => {
    expect(scanHeader(Buffer.from('{}'), context())?.ranges).toEqual([]);
    expect(scanHeader(Buffer.from('{"__metadata__":{"format":"pt"}}'), context())?.ranges).toEqual([]);
  });
});

describe('a header of another form is left to JSON.parse', () => {
  const one = JSON.stringify(headerOf([['model.layers.0.weight', 'F32', [2, 3]]]));
  const cases: [string, string][] = [
    ['an escape', one.replace('model.', 'mod\\u0065l.')],
    ['another order', '{"a":{"shape":[2],"dtype":"U8","data_offsets":[0,2]}}'],
    ['a key twice', '{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,9],"data_offsets":[0,2]}}'],
    ['one more key', one.replace('"dtype"', '"more":1,"dtype"')],
    ['an unknown type', one.replace('F32', 'F128')],
    ['a negative size', one.replace('[2,3]', '[-2,-3]')],
    ['a fraction', one.replace('[2,3]', '[2.5,3]')],
    ['an exponent', '{"a":{"dtype":"U8","shape":[1e1],"data_offsets":[0,1e1]}}'],
    ['a number of 17 digits', one.replace('[2,3]', '[20000000000000000,3]')],
    ['a size that its offsets do not have', one.replace('[0,24]', '[0,25]')],
    ['an end before its begin', one.replace('[0,24]', '[24,0]')],
    ['text after it', `${one}x`],
    ['a zero after it', `${one}\0`],
    ['no end', one.slice(0, -1)],
    ['half of an entry', one.slice(0, 40)],
    ['a comma too much', one.replace('}}', '},}')],
    ['a list', '[]'],
    ['nothing', ''],
  ];
  it.each(cases)('%s', (_, text) => {
    expect(scanHeader(Buffer.from(text), context())).toBeNull();
  });

  it('kinds without end', () => {
    const names = Array.from({ length: 5000 }, (_, index): [string, string, number[]] => [
      `w${index.toString(36)}x`,
      'U8',
      [2],
    ]);
    const of = context();
    expect(scanHeader(Buffer.from(JSON.stringify(headerOf(names))), of)).toBeNull();
    expect(of.kinds.length).toBeLessThanOrEqual(400);
  });
});
