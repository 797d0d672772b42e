/** Every outcome of every row of the table of findings, each with a machine that has it. */
import type { FindingCase } from './case.ts';
import { GPU_CASES } from './gpu-cases.ts';
import { KERNEL_CASES } from './kernel-cases.ts';
import { LIBRARY_CASES } from './library-cases.ts';
import { MEMORY_CASES } from './memory-cases.ts';

export const CASES: readonly FindingCase[] = [...MEMORY_CASES, ...KERNEL_CASES, ...GPU_CASES, ...LIBRARY_CASES];
