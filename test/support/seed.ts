/** One seed for all random inputs where a run has to decide: that of UMAPROBE_SEED, and 1 in CI. Elsewhere each run has its own. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

const { CI, UMAPROBE_SEED: seed = CI === undefined ? undefined : '1' } = process.env;
const usesInputs = (file: string): boolean => readFileSync(file, 'utf8').includes("from 'fast-check'");
// Loading it takes longer than most files. A failure prints the seed, with the path to the input.
if (seed !== undefined && usesInputs(expect.getState().testPath ?? '')) {
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}
