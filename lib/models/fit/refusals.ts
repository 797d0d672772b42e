/** Requests that a program refuses, whatever memory there is. Pure. */

import { formatCount } from '../../base/format.ts';
import { LONGER_CONTEXT } from '../../core/memory/program-shares.ts';
import type { FitProgram, FitProgramReport } from '../../types/index.ts';
import { MODEL_PROGRAMS } from '../../types/programs.ts';
import { none } from './flags.ts';
import type { ProgramInput } from './program.ts';

/** The refusal of a program; null: it does not refuse, or the facts of its rule are not known. */
export function refusalBySettings(program: FitProgram, input: ProgramInput): FitProgramReport | null {
  return (
    byHeads(program, input) ??
    byStages(program, input) ??
    byContext(program, input) ??
    bySpeculation(program, input) ??
    byStep(program, input)
  );
}

const SERVERS: readonly FitProgram[] = ['vllm', 'sglang', 'trtllm'];

/**
 * Attention heads among the ranks of tensor parallelism: a server gives each rank whole ones. vLLM's
 * verify_with_parallel_config (config/model.py, 2026) and the assertions of its attention layers: heads of keys and values are
 * divided, or each is on several ranks, which alone can divide its tokens among them.
 */
function byHeads(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
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

/** Stages of a pipeline, each of which has a layer. */
function byStages(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const stages = need.use?.settings?.pipelineParallel ?? 1;
  if (need.layers === null || stages <= need.layers || !SERVERS.includes(program)) return null;
  return refused(program, `${need.layers} layers cannot be divided among ${stages} stages`);
}

/**
 * A context that is longer than the model was made for; others than these two shorten it or warn. vLLM:
 * _get_and_verify_max_len (config/model.py); SGLang: _derive_context_length (configs/model_config.py, 2026).
 */
function byContext(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const variable = LONGER_CONTEXT[program];
  const { use } = need;
  const longest = program === 'sglang' ? need.maxContextSglang : need.maxContext;
  if (variable === undefined || longest === null || use === null || use.purpose !== 'inference') return null;
  const { context } = use;
  if (context <= longest) return null;
  const whose = longest === need.maxContext ? 'that the model was made for' : 'that SGLang reads from the config';
  return refused(
    program,
    `a context of ${formatCount(context)} tokens is longer than the ${formatCount(longest)} ${whose}, and ${variable}=1 is not set`,
    `User-specified max_model_len (${context}) is greater than the derived max_model_len`,
  );
}

const SPECULATE: readonly FitProgram[] = ['vllm', 'sglang', 'llama.cpp'];

/** Speculation by layers of the model itself, of which it has none. */
function bySpeculation(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const isAsked = need.use?.settings?.mtp === true && SPECULATE.includes(program);
  return isAsked && need.mtpLayers === 0
    ? refused(program, 'the model has no layers that predict further tokens')
    : null;
}

/** A step with fewer tokens than sequences, each of which has one in it: SchedulerConfig of vllm/config/scheduler.py (2026). */
function byStep(program: FitProgram, { need: { use } }: ProgramInput): FitProgramReport | null {
  const tokens = use?.settings?.batchTokens ?? null;
  if (program !== 'vllm' || use === null || tokens === null || tokens >= use.sequences) return null;
  return refused(
    program,
    `a step of ${formatCount(tokens)} tokens is too short for ${formatCount(use.sequences)} sequences`,
    `max_num_batched_tokens (${tokens}) must be greater than or equal to max_num_seqs (${use.sequences}).`,
  );
}

/** @param message what vLLM prints. */
function refused(program: FitProgram, why: string, message: string | null = null): FitProgramReport {
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
