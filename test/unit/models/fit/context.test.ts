/** A context that is longer than the model was made for: vLLM and SGLang refuse it, and no flag stands beside the refusal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { judge } from '../../../../lib/run/launch/judge.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import type { FitProgram } from '../../../../lib/types/index.ts';
import { QWEN3_8B } from '../../../support/qwen.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const machine = snapshotOf();
const folder = temporaryFolder('fit-context');
/** As its model card tells to stretch it. */
const YARN = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 32_768 };

function ask(program: FitProgram, context: number, more: Record<string, unknown> = {}) {
  return fitInto({ model: { config: { ...QWEN3_8B, ...more } }, use: { context }, snapshot: machine, program });
}

describe('a context that is longer than the model was made for', () => {
  it.each(['vllm', 'sglang'] as const)('%s refuses it', async (program) => {
    expect((await ask(program, 40_960)).verdict).toBe('fits');
    const report = await ask(program, 40_961);
    expect([report.verdict, report.expectedFits, report.programs[0]?.flags]).toEqual(['no', false, null]);
    expect(report.summary).toContain(
      'refuses to start: a context of 40,961 tokens is longer than the 40,960 that the model was made for',
    );
  });

  it.each(['trtllm', 'llama.cpp', 'ollama'] as const)('%s shortens it or warns', async (program) => {
    expect((await ask(program, 131_072)).verdict).toBe('fits');
  });

  it('several models are refused for it, and not for a size', async () => {
    const models = [40_960, 65_536].map((context) => ({ model: { config: QWEN3_8B }, use: { context } }));
    const { summary, verdict } = await fitInto({ together: models, snapshot: machine, program: 'vllm' });
    expect(verdict).toBe('no');
    expect(summary).toMatch(/^2 models do not fit together\. .*longer than the 40,960/);
  });

  it('positions are stretched as the config says', async () => {
    expect((await ask('vllm', 131_072, { rope_scaling: YARN })).verdict).toBe('fits');
    expect((await ask('vllm', 131_072, { rope_parameters: YARN })).verdict).toBe('fits');
    expect((await ask('vllm', 131_073, { rope_scaling: YARN })).verdict).toBe('no');
    // Which SGLang does not do where the config has the original number.
    expect((await ask('sglang', 40_961, { rope_scaling: YARN })).summary).toContain('40,960 that SGLang reads from');
    expect((await ask('sglang', 40_960, { rope_scaling: YARN })).verdict).toBe('fits');
    expect((await ask('sglang', 81_920, { rope_scaling: { type: 'linear', factor: 2 } })).verdict).toBe('fits');
    expect((await ask('vllm', 81_920, { rope_scaling: { type: 'linear', factor: 2 } })).verdict).toBe('fits');
    for (const kind of ['llama3', 'longrope', 'default'])
      expect((await ask('vllm', 40_961, { rope_scaling: { rope_type: kind, factor: 8 } })).verdict).toBe('no');
  });

  it('launch does not know what another scaling on the command line allows', () => {
    for (const option of ['--rope-scaling', '--hf-overrides']) {
      const { command } = recognise(
        ['vllm', 'serve', 'm', '--max-model-len', '65536', option, JSON.stringify(YARN)],
        {},
      );
      expect(command.unread).toEqual([
        expect.objectContaining({ effect: 'either', text: expect.stringContaining(option) }),
      ]);
    }
  });

  it('launch knows the variable that allows it, and the length that vLLM takes by itself', async () => {
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...QWEN3_8B, rope_scaling: YARN }));
    const load = { kind: 'model', model: folder } as const;
    const verdictOf = async (length: string[], env: Record<string, string> = {}) => {
      const { command } = recognise(['vllm', 'serve', 'm', '--gpu-memory-utilization', '0.5', ...length], env);
      const { expected, fit } = await judge(load, command, machine);
      return [fit?.verdict, expected?.context];
    };
    const longer = ['--max-model-len', '131073'];
    expect(await verdictOf([])).toEqual(['fits', 131_072]);
    expect(await verdictOf(longer)).toEqual(['no', 131_073]);
    expect(await verdictOf(longer, { VLLM_ALLOW_LONG_MAX_MODEL_LEN: '1' })).toEqual(['fits', 131_073]);
  });
});
