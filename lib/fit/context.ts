/** A context that is longer than the model was made for: vLLM and SGLang refuse it, the others shorten it or warn. Pure. */

import { formatCount } from '../base/format.ts';
import { LONGER_CONTEXT } from '../memory/program-shares.ts';
import type { FitProgram, FitProgramReport } from '../types/index.ts';
import { refused } from './heads.ts';
import type { ProgramInput } from './program.ts';

/**
 * The refusal of a server; null: it does not refuse. vLLM: _get_and_verify_max_len (config/model.py); SGLang:
 * _derive_context_length (configs/model_config.py, 2026).
 */
export function refusalByContext(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const variable = LONGER_CONTEXT[program];
  const { maxContext, use } = need;
  if (variable === undefined || maxContext === null || use === null || use.purpose !== 'inference') return null;
  const { context } = use;
  if (context <= maxContext) return null;
  return refused(
    program,
    `a context of ${formatCount(context)} tokens is longer than the ${formatCount(maxContext)} that the model was made for, and ${variable}=1 is not set`,
    `User-specified max_model_len (${context}) is greater than the derived max_model_len`,
  );
}
