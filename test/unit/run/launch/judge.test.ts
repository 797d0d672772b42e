/** What a recognised command loads, against a machine: the model of its words, its context, and flags that would fit. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judge, type Load } from '../../../../lib/run/launch/judge.ts';
import { chooseGguf, locate } from '../../../../lib/run/launch/locate.ts';
import { Series } from '../../../../lib/run/launch/receipt.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { RecognisedCommand } from '../../../../lib/types/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

/** Llama-3.1-70B, with weights of 4 bits. */
const CONFIG = {
  model_type: 'llama',
  num_hidden_layers: 80,
  hidden_size: 8192,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 28_672,
  vocab_size: 128_256,
  max_position_embeddings: 131_072,
  tie_word_embeddings: false,
};
const MODEL: Load = { kind: 'model', model: { config: CONFIG, weightBytes: 40 * GiB } };

const folder = temporaryFolder('launch');
function write(path: string): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, '');
  return whole;
}

function commandOf(line: string, changes: Partial<RecognisedCommand> = {}): RecognisedCommand {
  return { ...recognise(line.split(' '), {}).command, ...changes };
}

const MACHINE = snapshotOf();

describe('judge', () => {
  it('asks about the context and the share of the command', async () => {
    const { expected, fit } = await judge(
      MODEL,
      commandOf('vllm serve m --max-model-len 8192 --gpu-memory-utilization 0.6'),
      MACHINE,
    );
    expect(expected).toMatchObject({ context: 8192, sequences: 1, weights: 40 * GiB });
    expect(fit?.programs[0]?.decision).toContain('(0.6)');
  });

  it('divides the context of llama.cpp among its slots', async () => {
    const { expected } = await judge(MODEL, commandOf('llama-server -m m.gguf -c 65536 -np 4'), MACHINE);
    expect(expected).toMatchObject({ context: 16_384, sequences: 4 });
  });

  it('refuses the default share of vLLM on a machine that cannot spare it, and names one that it can', async () => {
    const { fit, flags } = await judge(MODEL, commandOf('vllm serve m --max-model-len 8192'), MACHINE);
    expect(fit?.verdict).toBe('no');
    expect(flags?.safe).toMatch(/^--gpu-memory-utilization 0\.[4-7]\d?$/);
    const share = Number(flags?.safe?.split(' ')[1]);
    const again = await judge(
      MODEL,
      commandOf(`vllm serve m --max-model-len 8192 --gpu-memory-utilization ${share}`),
      MACHINE,
    );
    expect(['fits', 'tight']).toContain(again.fit?.verdict);
  });

  it.each([
    ['llama-server -m m.gguf -c 4194304 -np 1', /^-c (\d+)$/],
    ['llama-server -m m.gguf -c 4194304 -np 2', /^-c (\d+)$/],
    ['python -m sglang.launch_server --model-path m --context-length 4194304', /--context-length (\d+)$/],
  ])('the longest context that fits: %s', async (line, pattern) => {
    const command = commandOf(line);
    const { fit, flags } = await judge(MODEL, command, MACHINE);
    expect(fit?.verdict).toBe('no');
    const tokens = Number(pattern.exec(flags?.safe ?? '')?.[1]);
    const at = async (context: number) =>
      (await judge(MODEL, { ...command, context, utilization: null }, MACHINE)).fit?.verdict;
    expect(['fits', 'tight']).toContain(await at(tokens));
    expect(await at(tokens + 1024 * command.sequences)).toBe('no');
  });

  it('says that the model alone is too large', async () => {
    const load: Load = { kind: 'model', model: { config: CONFIG, weightBytes: 140 * GiB } };
    const { flags } = await judge(load, commandOf('llama-server -m m.gguf -c 8192'), MACHINE);
    expect(flags).toEqual({ safe: null, from: 'No context is short enough: the model alone is too large.' });
  });

  it('a cache of a given size is counted instead of what the share leaves', async () => {
    const line = 'vllm serve m --max-model-len 8192 --gpu-memory-utilization 0.1 --kv-cache-memory-bytes';
    const small = await judge(MODEL, commandOf(`${line} 4G`), MACHINE);
    const large = await judge(MODEL, commandOf(`${line} 90G`), MACHINE);
    expect(small.fit?.verdict).toBe('fits');
    expect(large.fit?.verdict).toBe('no');
    expect((large.fit?.need.bytes ?? 0) - (small.fit?.need.bytes ?? 0)).toBe(86e9 * 1.024 ** 3);
  });

  it('makes room for a share, and for no more than can be loaded', async () => {
    const some = await judge(
      MODEL,
      commandOf('vllm serve m --max-model-len 8192 --gpu-memory-utilization 0.7'),
      MACHINE,
    );
    expect(some.room).toBe(some.fit?.programs[0]?.numbers.requested);
    const exact = await judge({ kind: 'bytes', bytes: 42 * GiB }, commandOf('sleep 1'), MACHINE);
    expect(exact.room).toBe(42 * GiB);
    const much = await judge({ kind: 'bytes', bytes: 500 * GiB }, commandOf('sleep 1'), MACHINE);
    expect(much.room).toBe(much.fit?.limit.bytes);
    const full = snapshotOf({ host: { available: 4 * GiB, free: GiB } });
    const none = await judge({ kind: 'bytes', bytes: 42 * GiB }, commandOf('sleep 1'), full);
    expect([none.fit?.limit.bytes, none.room]).toEqual([0, 42 * GiB]);
  });

  it('without a model there is no answer, and the reason', async () => {
    expect(await judge({ kind: 'nothing', why: 'because' }, commandOf('sleep 1'), MACHINE)).toMatchObject({
      fit: null,
      noFit: 'because',
      room: null,
    });
  });
});

describe('the file of a repository', () => {
  const NAMES = [
    'Model-Q8_0.gguf',
    'Model-Q4_K_M.gguf',
    'Model-BF16-00001-of-00003.gguf',
    'Model-BF16-00002-of-00003.gguf',
    'mmproj-F16.gguf',
  ];

  it.each([
    [null, 'Model-Q4_K_M.gguf'],
    ['q8_0', 'Model-Q8_0.gguf'],
    ['BF16', 'Model-BF16-00001-of-00003.gguf'],
    ['F16', null],
    ['Q4', null],
    ['Model-Q8_0.gguf', 'Model-Q8_0.gguf'],
    ['other.gguf', null],
    ['(.*', null],
  ])('%s: %s', (wanted, name) => {
    expect(chooseGguf(NAMES, wanted)).toBe(name);
  });

  it('is the first where the usual quantisation is missing', () => {
    expect(chooseGguf(['b-Q6_K.gguf', 'a-Q5_K_M.gguf', 'mmproj.gguf'], null)).toBe('a-Q5_K_M.gguf');
    expect(chooseGguf(['mmproj.gguf'], null)).toBeNull();
  });

  it('is found in a hub and in llama.cpp’s own cache', async () => {
    const path = write('hub/models--org--m-GGUF/snapshots/abc/m-Q4_K_M.gguf');
    write('hub/models--org--m-GGUF/snapshots/abc/mmproj-m.gguf');
    const cached = write('cache/org_other-GGUF_other-Q8_0.gguf');
    const env = { HF_HUB_CACHE: join(folder, 'hub'), LLAMA_CACHE: join(folder, 'cache'), HOME: folder };
    const find = (model: string, modelFile: string | null = null) =>
      locate({ program: 'llama.cpp', model, modelFile }, {}, env);
    expect(await find('org/m-GGUF')).toBe(path);
    expect(await find('org/other-GGUF', 'Q8_0')).toBe(cached);
    expect(await find('org/other-GGUF', 'Q2_K')).toBeNull();
    expect(await find('org/none-GGUF')).toBeNull();
  });

  it('is looked for in the store that a container has mounted', async () => {
    write('elsewhere/hub/models--org--big/snapshots/abc/config.json');
    const stores = { HF_HOME: join(folder, 'elsewhere') };
    const found = await locate({ program: 'vllm', model: 'org/big', modelFile: null }, stores, { HOME: folder });
    expect(found).toBe(join(folder, 'elsewhere/hub/models--org--big'));
  });
});

describe('a long series', () => {
  it('keeps a bounded number of readings, the first and the last', () => {
    const series = new Series();
    for (let index = 0; index < 100_000; index++)
      series.add({ at: String(index).padStart(6, '0'), available: index, free: index });
    const readings = series.readings();
    expect(readings.length).toBeLessThanOrEqual(8193);
    expect(readings.length).toBeGreaterThan(4000);
    expect(readings[0]?.available).toBe(0);
    expect(readings.at(-1)?.available).toBe(99_999);
    const steps = readings.slice(1, -1).map(({ available }, index) => available - (readings[index]?.available ?? 0));
    expect(new Set(steps).size).toBe(1);
  });
});
