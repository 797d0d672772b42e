/** Models with made-up weights that programs of other people load: large enough to be measured, small enough to be made in a moment. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';

/** Variable-length integer of protobuf. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

function field(number: number, value: number | Buffer): Buffer {
  return typeof value === 'number'
    ? Buffer.concat([varint(number << 3), varint(value)])
    : Buffer.concat([header(number, value.length), value]);
}

function header(number: number, length: number): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(length)]);
}

function tensorType(name: string, ...dims: number[]): Buffer {
  const shape = Buffer.concat(dims.map((dim) => field(1, field(1, dim))));
  const type = Buffer.concat([field(1, 1), field(2, shape)]);
  return Buffer.concat([field(1, Buffer.from(name)), field(2, field(1, type))]);
}

/** An ONNX file with `y = x × W`; W has rows × columns FP32 values. */
export function writeOnnx(path: string, rows: number, columns: number): void {
  const text = Buffer.from;
  const bytes = rows * columns * 4;
  const product = Buffer.concat([
    field(1, text('x')),
    field(1, text('W')),
    field(2, text('y')),
    field(4, text('MatMul')),
  ]);
  const weights = Buffer.concat([
    field(1, rows),
    field(1, columns),
    field(2, 1),
    field(8, text('W')),
    header(9, bytes),
  ]);
  const node = field(1, product);
  const initializer = header(5, weights.length + bytes);
  const rest = Buffer.concat([
    field(2, text('g')),
    field(11, tensorType('x', 1, rows)),
    field(12, tensorType('y', 1, columns)),
  ]);
  const graph = node.length + initializer.length + weights.length + bytes + rest.length;
  const opset = field(8, Buffer.concat([field(1, text('')), field(2, 17)]));
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([field(1, 8), opset, header(7, graph), node, initializer, weights]));
  const block = Buffer.alloc(2 ** 20, 1);
  for (let left = bytes; left > 0; left -= block.length) writeSync(file, block, 0, Math.min(left, block.length));
  writeSync(file, rest);
  closeSync(file);
}

const TYPES = { u32: 4, i32: 5, f32: 6, string: 8, array: 9 } as const;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function string(value: string): Buffer {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
}

function entry(key: string, type: keyof typeof TYPES, value: Buffer): Buffer {
  return Buffer.concat([string(key), u32(TYPES[type]), value]);
}

function array(type: keyof typeof TYPES, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(TYPES[type]), u64(items.length), ...items]);
}

/** A Llama in FP32 as a GGUF file, with a vocabulary of 512 tokens. */
export function writeLlama(path: string, { layers = 4, width = 256, feed = 8192, context = 2048 } = {}): void {
  const bytes = Array.from({ length: 256 }, (_, code) => `<0x${code.toString(16).toUpperCase().padStart(2, '0')}>`);
  const words = Array.from({ length: 253 }, (_, index) => `▁t${index}`);
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...words];
  const kinds = tokens.map((_, index) => (index === 0 ? 2 : index < 3 ? 3 : index < 259 ? 6 : 1));
  const numbers: Record<string, number> = {
    'llama.context_length': context,
    'llama.embedding_length': width,
    'llama.block_count': layers,
    'llama.feed_forward_length': feed,
    'llama.attention.head_count': 4,
    'llama.attention.head_count_kv': 4,
    'llama.rope.dimension_count': width / 4,
    'llama.vocab_size': tokens.length,
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
  };
  const metadata = [
    entry('general.architecture', 'string', string('llama')),
    ...Object.entries(numbers).map(([key, value]) => entry(key, 'u32', u32(value))),
    entry('llama.attention.layer_norm_rms_epsilon', 'f32', f32(1e-5)),
    entry('tokenizer.ggml.model', 'string', string('llama')),
    entry('tokenizer.ggml.tokens', 'array', array('string', tokens.map(string))),
    entry(
      'tokenizer.ggml.scores',
      'array',
      array(
        'f32',
        tokens.map((_, index) => f32(-index)),
      ),
    ),
    entry('tokenizer.ggml.token_type', 'array', array('i32', kinds.map(u32))),
  ];
  const layer = (prefix: string): [string, ...number[]][] => [
    [`${prefix}attn_norm.weight`, width],
    ...['q', 'k', 'v', 'output'].map((name): [string, number, number] => [
      `${prefix}attn_${name}.weight`,
      width,
      width,
    ]),
    [`${prefix}ffn_norm.weight`, width],
    [`${prefix}ffn_gate.weight`, width, feed],
    [`${prefix}ffn_up.weight`, width, feed],
    [`${prefix}ffn_down.weight`, feed, width],
  ];
  const tensors: [string, ...number[]][] = [
    ['token_embd.weight', width, tokens.length],
    ['output_norm.weight', width],
    ['output.weight', width, tokens.length],
    ...Array.from({ length: layers }, (_, index) => layer(`blk.${index}.`)).flat(),
  ];
  writeGguf(path, metadata, tensors);
}

/** A GGUF file with tensors alone, of that many bytes each: an adapter, a projector. */
export function writeTensors(path: string, architecture: string, sizes: Readonly<Record<string, number>>): void {
  const tensors = Object.entries(sizes).map(([name, bytes]): [string, number] => [name, bytes / 4]);
  writeGguf(path, [entry('general.architecture', 'string', string(architecture))], tensors);
}

function writeGguf(
  path: string,
  metadata: readonly Buffer[],
  tensors: readonly (readonly [string, ...number[]])[],
): void {
  let offset = 0;
  const infos = tensors.map(([name, ...dims]) => {
    const info = Buffer.concat([string(name), u32(dims.length), ...dims.map(u64), u32(0), u64(offset)]);
    offset += Math.ceil((dims.reduce((product, dim) => product * dim, 1) * 4) / 32) * 32;
    return info;
  });
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(tensors.length),
    u64(metadata.length),
    ...metadata,
    ...infos,
  ]);
  const padding = Buffer.alloc((32 - (head.length % 32)) % 32);
  writeFileSync(path, Buffer.concat([head, padding, Buffer.from(new Float32Array(offset / 4).fill(0.01).buffer)]));
}
