/** Attention heads among the ranks of tensor parallelism: servers give each rank whole ones, or refuse. Pure. */

import type { FitProgram, FitProgramReport } from '../types/index.ts';
import { MODEL_PROGRAMS } from '../types/programs.ts';
import { none } from './flags.ts';
import type { ProgramInput } from './program.ts';

const SERVERS: readonly FitProgram[] = ['vllm', 'sglang', 'trtllm'];

/**
 * The refusal of a server; null: it does not refuse. vLLM's verify_with_parallel_config (config/model.py, 2026) and the
 * assertions of its attention layers: heads of keys and values are divided, or each is on several ranks, which alone can divide
 * its tokens among them.
 */
export function refusalByHeads(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const { decodeContextParallel: parts = 1, tensorParallel: ranks = 1 } = need.use?.settings ?? {};
  const { heads } = need;
  if (ranks === 1 || heads === null || !SERVERS.includes(program)) return null;
  const { all, keyValue } = heads;
  if (all % ranks !== 0) {
    const message = `Total number of attention heads (${all}) must be divisible by tensor parallel size (${ranks}).`;
    return refused(program, `${all} attention heads cannot be divided among ${ranks} ranks`, message);
  }
  if (keyValue === null) return null;
  const each = `${keyValue} heads of keys and values`;
  if (keyValue % ranks !== 0 && ranks % keyValue !== 0)
    return refused(program, `${each} cannot be divided among ${ranks} ranks`);
  if (parts > 1 && program === 'vllm' && parts * keyValue > ranks)
    return refused(
      program,
      `${each} are each on ${Math.max(1, ranks / keyValue)} of ${ranks} ranks, which ${parts} cannot share`,
    );
  return null;
}

/** @param message what vLLM prints. */
export function refused(program: FitProgram, why: string, message: string | null = null): FitProgramReport {
  return {
    program,
    versions: 'all',
    verdict: 'no',
    expectedFits: false,
    reads: null,
    from: 'not asked',
    inequality: null,
    decision: `refuses to start: ${why}`,
    message: program === 'vllm' ? message : null,
    numbers: {},
    ...none(`${MODEL_PROGRAMS[program]} does not start.`),
    remedies: [],
    notes: [],
  };
}
