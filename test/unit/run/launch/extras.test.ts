/** What is loaded besides a model: found on this machine and counted by name; what cannot be read stays unclear. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findExtras } from '../../../../lib/run/launch/extras.ts';
import { judge, type Load } from '../../../../lib/run/launch/judge.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { RecognisedCommand, Snapshot } from '../../../../lib/types/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { writeLlama, writeTensors } from '../../../support/tiny-models.ts';
import { GiB, MiB } from '../../../support/units.ts';

const folder = temporaryFolder('extras');
const HUB = { HF_HUB_CACHE: join(folder, 'hub'), HOME: folder, LLAMA_CACHE: join(folder, 'cache') };
const at = (...parts: string[]): string => {
  const path = join(folder, ...parts);
  mkdirSync(dirname(path), { recursive: true });
  return path;
};

const MAIN = at('main.gguf');
writeLlama(MAIN, { layers: 4, width: 256, feed: 4096, context: 131_072 });
const SMALL = at('small.gguf');
writeLlama(SMALL, { layers: 2, width: 128, feed: 512, context: 131_072 });
const PROJECTOR = at('mmproj.gguf');
writeTensors(PROJECTOR, 'clip', { 'v.blk.0.attn_q.weight': 3 * MiB, 'mm.0.weight': MiB });
const ADAPTER = at('a.gguf');
writeTensors(ADAPTER, 'llama', { 'blk.0.attn_q.weight.lora_a': MiB, 'blk.0.attn_q.weight.lora_b': 2 * MiB });
const VECTOR = at('v.gguf');
writeTensors(VECTOR, 'controlvector', { 'direction.1': 64 * 1024 });
const DAMAGED = at('damaged.gguf');
writeFileSync(DAMAGED, 'GGML nothing');

const MODEL: Load = { kind: 'model', model: MAIN };
const MACHINE = snapshotOf();

function commandOf(line: string): RecognisedCommand {
  return recognise(line.split(' '), {}).command;
}

async function judged(line: string, machine: Snapshot = MACHINE, load = MODEL) {
  const command = commandOf(line);
  const { found, unread } = await findExtras(command, {}, HUB);
  const judgement = await judge(load, command, machine, found);
  const terms = new Map((judgement.fit?.need.terms ?? []).map((term) => [term.name, term]));
  return { ...judgement, terms, unread: [...unread, ...judgement.unread].map(({ text }) => text) };
}

it('a signal ends the reading of what is loaded besides', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  for (const option of [`-md ${SMALL}`, `--mmproj ${PROJECTOR}`])
    await expect(findExtras(commandOf(`llama-server -m ${MAIN} ${option}`), {}, HUB, { signal })).rejects.toThrow(
      'enough',
    );
});

describe('llama.cpp', () => {
  const LINE = `llama-server -m ${MAIN} -c 8192 -np 1`;

  it('counts a draft model with a cache and buffers of its own, and its process not twice', async () => {
    const alone = await judged(LINE);
    const { expected, fit, terms, unread } = await judged(`${LINE} -md ${SMALL}`);
    expect(unread).toEqual([]);
    const draft = await judged(`llama-server -m ${SMALL} -c 8192 -np 1`, MACHINE, { kind: 'model', model: SMALL });
    for (const name of ['weights', 'kv-cache', 'compute-buffer', 'compute-buffer-host'])
      expect(terms.get(`draft-${name}`)?.bytes, name).toBe(draft.terms.get(name)?.bytes);
    expect(terms.has('draft-runtime')).toBe(false);
    const extra = expected?.extras[0];
    expect(extra).toMatchObject({ option: '--model-draft', name: SMALL });
    expect((fit?.need.bytes ?? 0) - (alone.fit?.need.bytes ?? 0)).toBe(extra?.bytes);
    expect((fit?.need.high ?? 0) - (alone.fit?.need.high ?? 0)).toBe(extra?.high);
    // llama.cpp's --fit measures the draft model with the model.
    expect((fit?.programs[0]?.numbers.projected ?? 0) - (alone.fit?.programs[0]?.numbers.projected ?? 0)).toBe(
      ['draft-weights', 'draft-kv-cache', 'draft-compute-buffer'].reduce(
        (sum, name) => sum + (terms.get(name)?.bytes ?? 0),
        0,
      ),
    );
  });

  it('a draft model follows the context, and its cache may have a type of its own', async () => {
    const cacheOf = async (line: string) => (await judged(line)).terms.get('draft-kv-cache')?.bytes ?? 0;
    const whole = await cacheOf(`${LINE} -md ${SMALL}`);
    expect(await cacheOf(`llama-server -m ${MAIN} -c 16384 -np 1 -md ${SMALL}`)).toBe(2 * whole);
    expect(await cacheOf(`${LINE} -md ${SMALL} -ctkd q8_0 -ctvd q8_0`)).toBeLessThan(whole * 0.6);
    expect(await cacheOf(`${LINE} -md ${SMALL} -ctk q8_0 -ctv q8_0`)).toBe(whole);
    expect(await cacheOf(`${LINE} -md ${SMALL} -cd 4096`)).toBe(whole / 2);
  });

  it('counts projectors with a buffer, adapters and vectors, of several one term', async () => {
    const { expected, terms, unread } = await judged(
      `${LINE} --mmproj ${PROJECTOR} --lora ${ADAPTER} --lora-scaled ${ADAPTER}:0.5 --control-vector ${VECTOR}`,
    );
    expect(unread).toEqual([]);
    expect(terms.get('projector')?.low).toBe(4 * MiB);
    expect(terms.get('projector')?.bytes).toBe(252 * MiB);
    expect(terms.get('adapters')?.bytes).toBe(6 * MiB);
    expect(terms.get('control-vector')?.bytes).toBe(64 * 1024);
    expect(expected?.extras.map(({ option }) => option)).toEqual([
      '--lora',
      '--lora-scaled',
      '--control-vector',
      '--mmproj',
    ]);
  });

  it('what is not there, damaged or of another kind stays unclear, with its name', async () => {
    const gone = join(folder, 'gone.gguf');
    const { terms, unread } = await judged(
      `${LINE} -md org/small-GGUF --mmproj ${DAMAGED} --lora ${gone} --control-vector ${folder}`,
    );
    expect(terms.has('adapters')).toBe(false);
    expect(unread).toEqual([
      `--lora ${gone} is not on this machine, so what it takes is not counted.`,
      expect.stringMatching(/^--control-vector .* (is not counted: .*not a regular file|cannot be read \(EISDIR\))/),
      expect.stringMatching(/^--mmproj .*damaged\.gguf is not counted: .*begins with "GGML"/),
      '--model-draft org/small-GGUF is not on this machine, so what it takes is not counted.',
    ]);
    expect((await judged(`${LINE} -md ${gone}`)).unread).toEqual([
      `--model-draft ${gone} is not on this machine, so what it takes is not counted.`,
    ]);
    const odd = await judged(`${LINE} -md ${PROJECTOR}`);
    expect(odd.unread[0]).toContain('its cache cannot be counted');
  });

  it('finds the draft model and the projector of a repository', async () => {
    writeLlama(at('hub/models--org--d-GGUF/snapshots/abc/d-Q8_0.gguf'), { layers: 2, width: 128, feed: 512 });
    writeTensors(at('hub/models--org--m-GGUF/snapshots/abc/mmproj-a.gguf'), 'clip', { 'v.a.weight': MiB });
    writeTensors(at('hub/models--org--m-GGUF/snapshots/abc/mmproj-b.gguf'), 'clip', { 'v.a.weight': 2 * MiB });
    const { terms, unread } = await judged('llama-server -hf org/m-GGUF -hfd org/d-GGUF:q8_0 -c 8192');
    expect(unread).toEqual([]);
    expect(terms.get('draft-weights')?.bytes).toBeGreaterThan(0);
    expect(terms.get('projector')?.low).toBe(2 * MiB);
    const without = await judged('llama-server -hf org/m-GGUF --no-mmproj -c 8192');
    expect(without.terms.has('projector')).toBe(false);
    const none = await judged('llama-server -hf org/d-GGUF -c 8192');
    expect([none.terms.has('projector'), none.unread]).toEqual([false, []]);
  });
});

describe('--fit of llama.cpp', () => {
  const LARGE: Load = {
    kind: 'model',
    model: {
      config: {
        model_type: 'llama',
        num_hidden_layers: 80,
        hidden_size: 8192,
        num_attention_heads: 64,
        num_key_value_heads: 8,
        head_dim: 128,
        intermediate_size: 28_672,
        vocab_size: 128_256,
        max_position_embeddings: 131_072,
      },
      weightBytes: 70 * GiB,
    },
  };
  const LONG = 400_000;
  const ask = async (flags: string) => {
    const command = { ...commandOf(`llama-server -m m.gguf -np 1 ${flags}`.trim()), context: LONG };
    return judge(LARGE, flags.includes('-c ') ? { ...command, contextIsGiven: true } : command, MACHINE);
  };

  it('shortens the context where none is given: down to what llama.cpp finds free, and no further than --fit-ctx', async () => {
    const { assumed, expected, fit } = await ask('');
    expect(expected?.context).toBeLessThan(LONG);
    expect(assumed[0]).toMatch(/^--fit shortens the context from 400,000 to [\d,]+ tokens/);
    expect(fit?.programs[0]?.numbers.reduceBy).toBe(0);
    const wide = await ask('--fit-target 45056');
    expect(wide.expected?.context).toBe(4096);
    expect((await ask('--fit-target 45056 --fit-ctx 16384')).expected?.context).toBe(16_384);
    const narrow = await ask('--fit-target 2048');
    expect(narrow.expected?.context).toBeLessThan(expected?.context ?? 0);
  });

  it('leaves the context that is given, and where it is off', async () => {
    for (const flags of [`-c ${LONG}`, '-fit off', '-c 0']) {
      const { assumed, expected, fit } = await ask(flags);
      expect([flags, expected?.context, assumed, fit?.verdict]).toEqual([flags, LONG, [], 'no']);
    }
    expect((await ask('-fit off')).fit?.programs[0]?.decision).toContain('allocates without asking');
    expect((await ask(`-c ${LONG} -ngl 99`)).fit?.programs[0]?.decision).toContain('because -ngl is given');
    expect((await ask(`-c ${LONG}`)).fit?.programs[0]?.decision).toContain('keeps layers or experts on the CPU');
  });
});

describe('vLLM', () => {
  const SERVE = `vllm serve ${folder} --max-model-len 8192 --gpu-memory-utilization 0.5`;
  const CONFIG = {
    model_type: 'llama',
    num_hidden_layers: 32,
    hidden_size: 4096,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    intermediate_size: 14_336,
    vocab_size: 128_256,
    max_position_embeddings: 131_072,
  };
  const TARGET: Load = { kind: 'model', model: { config: CONFIG, weightBytes: 15 * GiB } };

  it('counts a draft model: what is left of the share for the cache is less', async () => {
    writeFileSync(at('hub/models--org--eagle/refs/main'), 'abc');
    writeFileSync(
      at('hub/models--org--eagle/snapshots/abc/config.json'),
      JSON.stringify({ ...CONFIG, num_hidden_layers: 1, tie_word_embeddings: true, vocab_size: 32_000 }),
    );
    const config = '{"method":"eagle3","model":"org/eagle","num_speculative_tokens":3}';
    const alone = await judged(SERVE, MACHINE, TARGET);
    const { fit, terms, unread } = await judged(`${SERVE} --speculative-config ${config}`, MACHINE, TARGET);
    expect(unread).toEqual([]);
    const weights = terms.get('draft-weights')?.bytes ?? 0;
    expect(weights).toBeGreaterThan(200e6);
    expect(terms.get('draft-kv-cache')?.bytes).toBe((terms.get('kv-cache')?.bytes ?? 0) / 32);
    const cacheOf = (report: typeof fit) => report?.programs[0]?.numbers.kvCache ?? 0;
    expect(cacheOf(alone.fit) - cacheOf(fit)).toBe(weights);
  });

  it('keeps room for adapters by their number and rank, whatever the files have', async () => {
    const slots = async (flags: string) =>
      (await judged(`${SERVE} ${flags}`, MACHINE, TARGET)).terms.get('adapter-slots')?.bytes ?? 0;
    const one = await slots('--enable-lora');
    expect(one).toBeGreaterThan(50e6);
    expect(await slots('--enable-lora --max-loras 4 --max-lora-rank 64')).toBe(16 * one);
    const { unread } = await judged(`${SERVE} --enable-lora --max-lora-rank 99999`, MACHINE, TARGET);
    expect(unread[0]).toContain('--max-lora-rank 99999 is more than can be counted');
  });

  it('does not count adapters on experts, and says so', async () => {
    const moe: Load = {
      kind: 'model',
      model: { config: { ...CONFIG, model_type: 'mixtral', num_local_experts: 8, num_experts_per_tok: 2 } },
    };
    const { unread } = await judged(`${SERVE} --enable-lora`, MACHINE, moe);
    expect(unread).toEqual(['--enable-lora keeps room for adapters on experts, which is not counted.']);
  });
});
