/** Runs before each file of tests: its processes end with the worker, and its random inputs have their seed. */
import './ending.ts';
import './seed.ts';
import { join } from 'node:path';

const { UMAPROBE_SCRATCH: scratch, VITEST_POOL_ID: worker = '0' } = process.env;
if (scratch === undefined) throw new Error('UMAPROBE_SCRATCH is not set; vitest.config.ts sets it');
// Journals are in a folder of each worker: two live runs on one journal are refused.
process.env.XDG_STATE_HOME = join(scratch, `state-${worker}`);
