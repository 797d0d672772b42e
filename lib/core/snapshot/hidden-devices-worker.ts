/** The child process of hidden-devices.ts: prints CUDA's report as one line of JSON and exits. Creates no context. */

import { native } from '../native/binding.ts';

// This process ends with its parent, also while a call hangs (see mem-get-info-worker.ts).
process.stdin.on('close', () => process.exit(1)).resume();
process.stdout.write('\n'); // it runs: its time limit begins

const report = await native().readCuda(0, Number(process.argv[2]));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
