/** The child process of `snapshot()` that asks cudaMemGetInfo (mem-get-info-child.ts): prints one line of JSON per device and exits. */

import { isFailure } from '../../base/facts.ts';
import { native } from '../native/binding.ts';
import { contextLine } from './context-line.ts';

// Standard input closes when the parent is gone, for whatever reason. Readings run on a thread of the addon, so this
// works even while a call hangs.
process.stdin.on('close', () => process.exit(1)).resume();
process.stdout.write('\n'); // it runs: its time limit begins

const [, , deadline, ordinals = ''] = process.argv;
const deadlineMs = Number(deadline);
const binding = native();
// A stopped process does not notice the end of its standard input, and would keep its CUDA context.
binding.dieWithParent();
const { deviceCount, timedOut } = await binding.readCuda(0, deadlineMs);
if (typeof deviceCount === 'number') {
  for (const ordinal of ordinals.split(',').map(Number)) {
    process.stdout.write(`${JSON.stringify(await contextLine(binding, ordinal, deadlineMs))}\n`);
  }
  process.exit(0);
}
const failure = deviceCount ?? timedOut;
process.stderr.write(`${isFailure(failure) ? JSON.stringify(failure) : 'CUDA did not report the number of devices'}\n`);
process.exit(1);
