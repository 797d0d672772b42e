/** Speculation by layers of the model itself, of which it has none: the programs that could use them refuse to start. Pure. */

import type { FitProgram, FitProgramReport } from '../types/index.ts';
import { refused } from './heads.ts';
import type { ProgramInput } from './program.ts';

const SPECULATE: readonly FitProgram[] = ['vllm', 'sglang', 'llama.cpp'];

/** The refusal; null: the program does not refuse, or the number of these layers is not known. */
export function refusalBySpeculation(program: FitProgram, { need }: ProgramInput): FitProgramReport | null {
  const isAsked = need.use?.settings?.mtp === true && SPECULATE.includes(program);
  return isAsked && need.mtpLayers === 0
    ? refused(program, 'the model has no layers that predict further tokens')
    : null;
}
