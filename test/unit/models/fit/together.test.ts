/** Several models on one machine: each beside those before it, by the same rules as one alone. */

import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate, openModel } from '../../../../lib/models/estimate/index.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import { fitTogetherHtml } from '../../../../lib/show/render/html/fit.ts';
import { TOGETHER_PROGRAMS } from '../../../../lib/types/fit.ts';
import type {
  EstimateOptions,
  FitTogether,
  Model,
  RecognisedCommand,
  Snapshot,
  TogetherProgram,
} from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const LARGE = await openModel({ config: QWEN3_8B });
const SMALL = await openModel({
  config: { ...QWEN3_8B, num_hidden_layers: 18, hidden_size: 2048, intermediate_size: 6144 },
});

/** A tensor of 1 GiB may be staged as a whole. The file has a header and a hole. */
async function withLargeTensor(): Promise<Model> {
  const folder = temporaryFolder('fit-together');
  writeFileSync(join(folder, 'config.json'), JSON.stringify(QWEN3_8B));
  const tensor = { dtype: 'BF16', shape: [524_288, 1024], data_offsets: [0, GiB] };
  const header = Buffer.from(JSON.stringify({ 'model.embed_tokens.weight': tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = join(folder, 'model.safetensors');
  writeFileSync(file, Buffer.concat([length, header]));
  truncateSync(file, 8 + header.length + GiB);
  return openModel(folder);
}

function machineOf(available: number): Snapshot {
  return snapshotOf({ host: { available: available * GiB, free: available * GiB } });
}

function commandOf(program: TogetherProgram, flags: string[]): RecognisedCommand {
  const line = {
    vllm: ['vllm', 'serve', 'model', ...flags],
    'llama.cpp': ['llama-server', '-m', 'model.gguf', ...flags],
    ollama: ['env', ...flags, 'ollama', 'run', 'model'],
  }[program];
  const { command } = recognise(line, {});
  expect(command.unread).toEqual([]);
  return command;
}

async function ask(
  program: TogetherProgram,
  use: EstimateOptions = {},
  { available = 110, models = [LARGE, SMALL] } = {},
): Promise<FitTogether> {
  const report = await fitInto({
    together: models.map((model) => ({ model, use })),
    snapshot: machineOf(available),
    program,
  });
  parseDocument(JSON.stringify(report));
  return report;
}

describe.each(TOGETHER_PROGRAMS)('several models for %s', (program) => {
  it('the flags of each are what was judged', async () => {
    const uses = fc.record({
      context: fc.integer({ min: 1, max: 40_960 }),
      sequences: fc.integer({ min: 1, max: 8 }),
      available: fc.integer({ min: 40, max: 110 }),
    });
    let printed = 0;
    await fc.assert(
      fc.asyncProperty(uses, async ({ available, ...use }) => {
        const report = await ask(program, use, { available });
        if (report.verdict !== 'fits') return;
        expect(report.headroom).toBe((report.limit.bytes ?? 0) - report.need.bytes);
        for (const { fit, given } of report.models) {
          printed++;
          const [own] = fit.programs;
          const command = commandOf(program, (own?.flags ?? '').split(' '));
          const count = command.mostSequences ?? command.sequences;
          const context = (command.context ?? 0) / (command.contextIsShared ? count : 1);
          const model = [LARGE, SMALL][given] ?? LARGE;
          const read = await estimate(model, { ...command.use, context, sequences: count, program });
          expect(read.loading.peak).toEqual((await estimate(model, { ...use, program })).loading.peak);
          const share = (own?.numbers.requested ?? 0) / (own?.numbers.total ?? 1);
          expect(command.utilization ?? 0).toBeCloseTo(share, 6);
        }
      }),
      { numRuns: 25 },
    );
    expect(printed).toBeGreaterThan(5);
  });

  it('a yes is one at every start: what those before it keep, and its own peak', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 12, max: 110 }),
        fc.integer({ min: 1, max: 40_960 }),
        async (available, context) => {
          const { limit, models, verdict } = await ask(
            program,
            { context },
            { available, models: [LARGE, SMALL, LARGE] },
          );
          let beside = 0;
          for (const model of models) {
            expect(model.beside).toBe(verdict === 'fits' ? beside : model.beside);
            if (verdict === 'fits') expect(beside + model.fit.need.high).toBeLessThanOrEqual(limit.bytes ?? 0);
            beside += model.holds.high;
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('where each fits alone and not both, it says what would fit', async () => {
    const use = { context: 40_960, sequences: 4 };
    const available = program === 'vllm' ? 84 : 55;
    const machine = machineOf(available);
    const alone = await Promise.all([LARGE, SMALL].map((model) => fitInto({ model, use, snapshot: machine, program })));
    expect(alone.map(({ verdict }) => verdict)).toEqual(['fits', 'fits']);
    const report = await ask(program, use, { available });
    expect(report.verdict).not.toBe('fits');
    const [, last] = report.models;
    expect(report.shortBy).toBe((last?.beside ?? 0) + (last?.fit.need.bytes ?? 0) - (report.limit.bytes ?? 0));
    expect(report.nearest?.settings.length).toBeGreaterThan(0);
    for (const { change } of report.nearest?.settings ?? []) {
      const { without, ...less } = change;
      const models = [LARGE, SMALL].filter((_, given) => given !== without);
      const changed = { ...use, ...less };
      const again =
        models.length === 1
          ? await fitInto({ model: models[0] ?? LARGE, use: changed, snapshot: machine, program })
          : await ask(program, changed, { available, models });
      expect(again.verdict).toBe('fits');
    }
  });
});

describe('the order', () => {
  const extras = ({ models }: FitTogether) => models.map(({ fit }) => fit.need.high - fit.serving.high);

  it('begins with the start that takes the most besides what it keeps', async () => {
    const report = await ask('vllm', { context: 8192 });
    const [first = 0, last = 0] = extras(report);
    expect(first).toBeGreaterThan(last);
    expect(report.models.map(({ given }) => given)).toEqual([1, 0]);
  });

  it('of Ollama is the worst, since requests decide', async () => {
    const report = await ask('ollama', { context: 8192 }, { models: [await withLargeTensor(), SMALL] });
    const [first = 0, last = 0] = extras(report);
    expect(first).toBeLessThan(last);
    expect(report.models.map(({ given }) => given)).toEqual([1, 0]);
  });
});

describe('what grows later', () => {
  it('is switched off by the flags: the cache of earlier prompts, and Ollama’s choice of whom to unload', async () => {
    const llama = (await ask('llama.cpp')).models[0]?.fit.programs[0];
    expect(llama?.flags).toContain('--cache-ram 0');
    expect(llama?.notes.join()).not.toContain('--cache-ram');
    const ollama = (await ask('ollama')).models[0]?.fit.programs[0];
    expect(ollama?.flags).toMatch(/^OLLAMA_MAX_LOADED_MODELS=2 LLAMA_ARG_CACHE_RAM=0 /);
  });

  it('of one model alone is said', async () => {
    const { programs } = await fitInto({ model: LARGE, snapshot: machineOf(110), program: 'llama.cpp' });
    expect(programs[0]?.notes.join()).toContain('--cache-ram 0');
  });

  it('of vLLM before 0.21 are its CUDA graphs, beside its share', async () => {
    const of = async (programVersion: string) =>
      (
        await fitInto({
          together: [{ model: LARGE }, { model: SMALL }],
          snapshot: machineOf(110),
          program: 'vllm',
          programVersion,
        })
      ).models[0];
    const [older, newer] = await Promise.all([of('0.20'), of('0.21')]);
    const requested = older?.fit.programs[0]?.numbers.requested ?? 0;
    expect(older?.holds.bytes).toBeGreaterThan(requested);
    expect(newer?.holds.bytes).toBe(newer?.fit.programs[0]?.numbers.requested);
  });

  it.each(['sglang', 'trtllm', 'torch', 'accelerate'])('%s is no program for several models', async (program) => {
    await expect(ask(program as TogetherProgram)).rejects.toThrow('expected one of vllm, llama.cpp, ollama');
  });
});

describe('what is not known', () => {
  it('is no yes: a field that nobody reads, and a machine without a number', async () => {
    const odd = await openModel({ config: { ...QWEN3_8B, ngram_table_size: 5_000_000 } });
    const report = await ask('vllm', {}, { models: [SMALL, odd] });
    expect(report.verdict).toBe('unknown');
    expect(report.summary).toContain('ngram_table_size');
    expect(report.models.find(({ given }) => given === 1)?.fit.programs[0]?.flags).toBeNull();
    const blind = await fitInto({
      together: [{ model: SMALL }, { model: LARGE }],
      snapshot: snapshotOf({ host: { available: null } }),
      program: 'vllm',
    });
    expect([blind.verdict, blind.expectedFits, blind.nearest]).toEqual(['unknown', null, null]);
  });

  it('bad arguments are named', async () => {
    const machine = machineOf(110);
    const program = 'vllm';
    await expect(fitInto({ together: [{ model: SMALL }], snapshot: machine, program })).rejects.toThrow('2 to 16');
    await expect(
      fitInto({ together: [{ model: SMALL, use: { use: 'lora' } }, { model: SMALL }], snapshot: machine, program }),
    ).rejects.toThrow('inference');
    const uses = [{ context: 256 }, { context: 512 }].map((use) => ({ model: SMALL, use }));
    await expect(fitInto({ together: uses, snapshot: machine, program: 'ollama' })).rejects.toThrow('the same use');
    expect((await fitInto({ together: uses, snapshot: machine, program })).verdict).toBe('fits');
  });

  it('what is free is never less than nothing', async () => {
    const report = await ask('vllm', { context: 40_960, sequences: 64 });
    expect(report.verdict).toBe('no');
    for (const { fit } of report.models) expect(fit.programs[0]?.reads).toBeGreaterThanOrEqual(0);
  });

  it('has a page', async () => {
    const report = await ask('vllm', { context: 40_960, sequences: 8 });
    const assets = { script: '', style: '', version: '9' };
    const text = fitTogetherHtml(report, assets);
    expect(text).toContain(report.summary);
    for (const { name } of report.models) expect(text).toContain(name);
  });
});
