/** The flags that fit prints are the configuration that it judged: the recogniser of each program reads the same bytes out of them. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate, openModel } from '../../../../lib/models/estimate/index.ts';
import { CACHE_TYPES } from '../../../../lib/models/files/cache-types.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { EstimateOptions, FitProgramReport, Model, RecognisedCommand } from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

/** Windows, latent attention, and layers for further tokens: each option changes what one of these takes. */
const PLAIN = { ...QWEN3_8B, num_nextn_predict_layers: 1 };
const WINDOWS = {
  model_type: 'gemma3_text',
  num_hidden_layers: 34,
  hidden_size: 2560,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 256,
  intermediate_size: 10_240,
  vocab_size: 262_144,
  max_position_embeddings: 131_072,
  sliding_window: 1024,
  sliding_window_pattern: 6,
};
const MODELS = { plain: await openModel({ config: PLAIN }), windows: await openModel({ config: WINDOWS }) };

/** Nothing is too large, so that flags are printed. */
const MACHINE = snapshotOf({ host: { total: 4000 * GiB, available: 3900 * GiB, free: 3900 * GiB } });

type Served = 'vllm' | 'sglang' | 'trtllm' | 'llama.cpp' | 'ollama';

const COMMANDS: Readonly<Record<Served, (flags: string[]) => string[]>> = {
  vllm: (flags) => ['vllm', 'serve', 'model', ...flags],
  sglang: (flags) => ['python', '-m', 'sglang.launch_server', '--model-path', 'model', ...flags],
  trtllm: (flags) => ['mpirun', '-n', '2', 'trtllm-llmapi-launch', 'trtllm-serve', 'model', ...flags],
  'llama.cpp': (flags) => ['llama-server', '-m', 'model.gguf', ...flags],
  ollama: (flags) => ['env', ...flags, 'ollama', 'run', 'model'],
};

function judgedBy(program: Served, model: Model, use: EstimateOptions, programVersion?: string) {
  return fitInto({
    model,
    use,
    snapshot: MACHINE,
    program,
    ...(programVersion === undefined ? {} : { programVersion }),
  });
}

/** The options with which an estimate is what a command line says. */
function useOf({ context, contextIsShared, mostSequences, sequences, use }: RecognisedCommand): EstimateOptions {
  const count = mostSequences ?? sequences;
  const each = contextIsShared ? (context ?? 0) / count : (context ?? 0);
  return { ...use, context: each, sequences: count };
}

const option = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 });

const USES = fc.record(
  {
    context: fc.integer({ min: 1, max: 8192 }),
    sequences: fc.integer({ min: 1, max: 32 }),
    kvDtype: option(fc.constantFrom(...CACHE_TYPES, 'q8_0/q4_0', 'f16/q8_0')),
    batchTokens: option(fc.integer({ min: 1, max: 8192 })),
    tensorParallel: option(fc.constantFrom(1, 2)),
    pipelineParallel: option(fc.constantFrom(1, 2)),
    decodeContextParallel: option(fc.constantFrom(1, 2)),
    flashAttention: option(fc.boolean()),
    swaFull: option(fc.boolean()),
    kvUnified: option(fc.boolean()),
    mtp: option(fc.boolean()),
    languageModelOnly: option(fc.boolean()),
    mmap: option(fc.boolean()),
  },
  { requiredKeys: ['context', 'sequences'] },
);

function defined(use: Record<string, unknown>): EstimateOptions {
  return Object.fromEntries(Object.entries(use).filter(([, value]) => value !== undefined));
}

describe.each(Object.keys(COMMANDS) as Served[])('the flags of %s', (program) => {
  it('are all that was judged, or there are none and it says why', async () => {
    let printed = 0;
    await fc.assert(
      fc.asyncProperty(USES, fc.constantFrom('plain', 'windows'), async (given, name) => {
        const use = defined(given);
        const model = MODELS[name as keyof typeof MODELS];
        const report = await judgedBy(program, model, use);
        const [{ aboutFlags, flags } = { aboutFlags: [], flags: null }] = report.programs as FitProgramReport[];
        if (flags === null) {
          expect(aboutFlags[0]).toMatch(/^(\S+ cannot be told by flags what was judged: .*|It does not fit)\.$/);
          return;
        }
        printed++;
        const { command } = recognise(COMMANDS[program](flags.split(' ')), {});
        expect(command.program).toBe(program);
        expect(command.unread.filter(({ text }) => !text.includes('--spec-type draft-mtp computes'))).toEqual([]);
        const [read, judged] = await Promise.all([
          estimate(model, { ...useOf(command), program }),
          estimate(model, { ...use, program }),
        ]);
        expect(read.loading.peak).toEqual(judged.loading.peak);
        expect(read.terms.map(({ bytes }) => bytes)).toEqual(judged.terms.map(({ bytes }) => bytes));
        const share = report.programs[0]?.inequality?.left.name.match(/total × ([\d.]+)/)?.[1];
        if (share !== undefined) expect(command.utilization).toBe(Number(share));
      }),
      { numRuns: 80 },
    );
    expect(printed).toBeGreaterThan(10);
  });
});

describe('single options', () => {
  const flagsOf = async (program: Served, use: EstimateOptions, version?: string) =>
    (await judgedBy(program, MODELS.plain, { context: 4096, ...use }, version)).programs[0];

  it('the cache’s type of the incident is printed for llama.cpp', async () => {
    const flags = (await flagsOf('llama.cpp', { context: 40_960, sequences: 8, kvDtype: 'q8_0' }))?.flags;
    expect(flags).toBe('-ngl 999 -c 327680 -np 8 --kv-unified -ctk q8_0 -ctv q8_0');
  });

  it.each([
    ['vllm', { kvDtype: 'q8_0' }, 'there is no cache of the type q8_0'],
    ['vllm', { kvDtype: 'fp8/bf16' }, 'keys and values have one type'],
    ['vllm', { mla: false }, 'VLLM_MLA_DISABLE=1'],
    ['sglang', { languageModelOnly: true }, 'no flag that leaves out the parts for images and sound'],
    ['llama.cpp', { tensorParallel: 2 }, 'no flag for a number of devices'],
    ['llama.cpp', { kvDtype: 'q8_0', flashAttention: false }, 'needs flash attention'],
    ['ollama', { batchTokens: 1024 }, 'PARAMETER num_batch 1024'],
    ['ollama', { mmap: false }, 'PARAMETER use_mmap false'],
  ] as const)('%s cannot be told %o: no flags, and why', async (program, use, why) => {
    const report = await flagsOf(program, use);
    expect(report?.flags).toBeNull();
    expect(report?.aboutFlags[0]).toContain(why);
  });

  it('each build of llama.cpp gets the spelling that it knows, and without one it says which', async () => {
    const [newer, old, unknown] = await Promise.all([
      flagsOf('llama.cpp', { mmap: false }, 'b10875'),
      flagsOf('llama.cpp', { mmap: false }, 'b10874'),
      flagsOf('llama.cpp', { mmap: false }),
    ]);
    expect(newer?.flags).toMatch(/ --load-mode none$/);
    expect(old?.flags).toMatch(/ --no-mmap$/);
    expect([newer?.aboutFlags, old?.aboutFlags]).toEqual([[], []]);
    expect(unknown?.flags).toMatch(/ --load-mode none$/);
    expect(unknown?.aboutFlags.join()).toContain('--program-version');
  });

  it('an option that a program has no flag for, and that takes nothing there, is named', async () => {
    const report = await flagsOf('vllm', { mmap: false, kvUnified: false });
    expect(report?.flags).not.toBeNull();
    expect(report?.aboutFlags).toEqual([
      'vLLM has no flag for --no-kv-unified, --no-mmap, and nothing is counted for it.',
    ]);
  });
});
