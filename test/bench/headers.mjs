/**
 * How long does it take to read the headers of a large model: 160 shards of 4.4 GB (sparse files, 92,000 tensors, the
 * shape of DeepSeek-V3), and a GGUF file with a vocabulary of 250,000 tokens? UMAPROBE_BENCH_PYTHON names a Python, best
 * one with the package safetensors: without it the comparison is with a plain reader.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { estimate } from 'umaprobe/models';
import { compare, limit, quantile, skip, temporaryFolder } from './measure.mjs';

const SHARDS = 160;
const TENSORS = 575;
const ROUNDS = 9;

const folder = join(temporaryFolder(), 'model');
mkdirSync(folder);
writeFileSync(
  join(folder, 'config.json'),
  JSON.stringify({
    model_type: 'deepseek_v3',
    num_hidden_layers: 61,
    hidden_size: 7168,
    num_attention_heads: 128,
    kv_lora_rank: 512,
    qk_rope_head_dim: 64,
    vocab_size: 129_280,
  }),
);
for (let shard = 1; shard <= SHARDS; shard++) writeShard(shard);

/** A header as the format's own writer makes it, and data of its size that is not there. */
function writeShard(shard) {
  const header = {};
  let offset = 0;
  for (let index = 0; index < TENSORS; index++) {
    const shape = index % 2 === 0 ? [2048, 3733 + (index % 7)] : [16, 56];
    const bytes = shape[0] * shape[1] * (index % 2 === 0 ? 1 : 4) * (index % 2 === 0 ? 2 : 1);
    const name = `model.layers.${shard % 61}.mlp.experts.${index}.gate_proj.weight${index % 2 === 0 ? '' : '_scale_inv'}`;
    header[name] = { dtype: index % 2 === 0 ? 'BF16' : 'F32', shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const name = `model-${String(shard).padStart(5, '0')}-of-${String(SHARDS).padStart(5, '0')}.safetensors`;
  const file = openSync(join(folder, name), 'w');
  writeSync(file, Buffer.concat([length, text]));
  ftruncateSync(file, 8 + text.length + offset);
  closeSync(file);
}

async function timed(model, rounds = ROUNDS) {
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    const from = process.hrtime.bigint();
    await estimate(model);
    samples.push(Number(process.hrtime.bigint() - from) / 1e6);
  }
  return samples;
}

const { model } = await estimate(folder);
console.log(`     ${model.files} shards, ${(model.fileBytes / 1e9).toFixed(0)} GB, ${SHARDS * TENSORS} tensors`);

/** The same in Python. What it has opened before stays warm: each run is one process with some rounds. */
const python = process.env.UMAPROBE_BENCH_PYTHON ?? 'python3';
const PACKAGE = `
from safetensors import safe_open
def read(path):
    with safe_open(path, 'np') as f:
        for name in f.keys():
            part = f.get_slice(name)
            part.get_shape(); part.get_dtype()
`;
/** What safe_open does, in plain Python: map the file, parse the header, look at each tensor. */
const PLAIN = `
import json, mmap, struct
def read(path):
    with open(path, 'rb') as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        (length,) = struct.unpack('<Q', data[:8])
        for name, tensor in json.loads(data[8:8 + length]).items():
            if name != '__metadata__': tensor['shape'], tensor['dtype']
`;
const script = (reader) => `${reader}
import glob, sys, time
files = sorted(glob.glob(sys.argv[1] + '/*.safetensors'))
for _ in range(3):
    start = time.perf_counter()
    for path in files: read(path)
    print((time.perf_counter() - start) * 1000)
`;
const inPython = (reader) => spawnSync(python, ['-c', script(reader), folder], { encoding: 'utf8' });
const hasPackage = inPython(PACKAGE).status === 0;
const ours = [];
const theirs = [];
// The two alternate: a busy neighbour disturbs both.
for (let round = 0; round < 3; round++) {
  ours.push(...(await timed(folder, 3)));
  const { status, stdout } = inPython(hasPackage ? PACKAGE : PLAIN);
  if (status === 0) theirs.push(...stdout.trim().split('\n').map(Number));
}
limit({ question: 'headers of 160 shards', value: quantile(ours, 0.5), unit: 'ms', atMost: 200 });
if (theirs.length === 0) skip('headers of 160 shards', 'there is no Python');
else
  compare({
    question: 'headers of 160 shards, the least disturbed round',
    ours: quantile(ours, 0),
    theirs: quantile(theirs, 0),
    unit: 'ms',
    against: hasPackage ? 'Python safetensors: names, shapes, types' : 'plain Python: mmap and json',
    // Of the package only: plain Python checks neither shapes nor offsets.
    ...(hasPackage ? { atLeast: 1 } : {}),
  });

const gguf = join(temporaryFolder(), 'model.gguf');
writeFileSync(gguf, vocabulary(250_000));
limit({ question: 'a GGUF file with 250,000 tokens', value: quantile(await timed(gguf), 0.5), unit: 'ms', atMost: 50 });

/** A GGUF header with tokens, their types and as many merges, and no tensor. */
function vocabulary(tokens) {
  const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer);
  const u64 = (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
  const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
  const strings = (prefix) => Buffer.concat(Array.from({ length: tokens }, (_, index) => text(`${prefix}${index}`)));
  const keys = [
    Buffer.concat([text('general.architecture'), u32(8), text('llama')]),
    Buffer.concat([text('llama.block_count'), u32(4), u32(32)]),
    Buffer.concat([text('llama.embedding_length'), u32(4), u32(4096)]),
    Buffer.concat([text('tokenizer.ggml.tokens'), u32(9), u32(8), u64(tokens), strings('token ')]),
    Buffer.concat([text('tokenizer.ggml.token_type'), u32(9), u32(5), u64(tokens), Buffer.alloc(4 * tokens)]),
    Buffer.concat([text('tokenizer.ggml.merges'), u32(9), u32(8), u64(tokens), strings('a merge ')]),
  ];
  return Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(keys.length), ...keys]);
}
