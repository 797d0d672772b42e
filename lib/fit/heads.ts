/** Attention heads among the ranks of tensor parallelism: servers give each rank whole ones, or refuse. Pure. */

import type { FitProgram, FitProgramReport } from '../types/index.ts';
import { MODEL_PROGRAMS } from '../types/programs.ts';
import { none } from './flags.ts';
import type { ProgramInput } from './program.ts';

const SERVERS: readonly FitProgram[] = ['vllm', 'sglang', 'trtllm'];

/**
 * The refusal of a server; null: it does not refuse. vLLM's verify_with_parallel_config (config/model.py, 2026) and the
 * assertions of its attention layers: heads of keys and values are divided, or each is on several ranks.
 */
export function refusalByHeads(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const ranks = need.use?.settings?.tensorParallel ?? 1;
  const { heads } = need;
  if (ranks === 1 || heads === null || !SERVERS.includes(program)) return null;
  const { all, keyValue } = heads;
  const isDivided = all % ranks === 0;
  if (isDivided && (keyValue === null || keyValue % ranks === 0 || ranks % keyValue === 0)) return null;
  const which = isDivided ? `${keyValue} heads of keys and values` : `${all} attention heads`;
  return {
    program,
    versions: 'all',
    verdict: 'no',
    expectedFits: false,
    reads: null,
    from: 'not asked',
    inequality: null,
    decision: `refuses to start: ${which} cannot be divided among ${ranks} ranks`,
    message:
      program === 'vllm' && !isDivided
        ? `Total number of attention heads (${all}) must be divisible by tensor parallel size (${ranks}).`
        : null,
    numbers: {},
    ...none(`${MODEL_PROGRAMS[program]} does not start.`),
    remedies: [],
    notes: [],
  };
}
