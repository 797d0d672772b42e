/** A step with fewer tokens than sequences: vLLM refuses it, because each sequence has a token in a step. Pure. */

import { formatCount } from '../base/format.ts';
import type { FitProgram, FitProgramReport } from '../types/index.ts';
import { refused } from './heads.ts';
import type { ProgramInput } from './program.ts';

/** SchedulerConfig of vllm/config/scheduler.py (2026); null: it does not refuse. */
export function refusalByStep(program: FitProgram, { need: { use } }: ProgramInput): FitProgramReport | null {
  const tokens = use?.settings?.batchTokens ?? null;
  if (program !== 'vllm' || use === null || tokens === null || tokens >= use.sequences) return null;
  return refused(
    program,
    `a step of ${formatCount(tokens)} tokens is too short for ${formatCount(use.sequences)} sequences`,
    `max_num_batched_tokens (${tokens}) must be greater than or equal to max_num_seqs (${use.sequences}).`,
  );
}
