/** Journals of the tests: a place for each worker, since two live runs on one journal are refused, and none in anybody's home. */
import { join } from 'node:path';

const { UMAPROBE_SCRATCH: scratch, VITEST_POOL_ID: worker = '0' } = process.env;
if (scratch === undefined) throw new Error('vitest.config.ts makes the folder');
process.env.XDG_STATE_HOME = join(scratch, `state-${worker}`);
