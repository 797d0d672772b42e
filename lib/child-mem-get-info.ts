/** The child of `snapshot({ memGetInfo: 'child' })`: prints one JSON document and ends. */

import { readEveryDevice } from './child.ts';
import { native } from './native.ts';
import { isFailure, reason } from './reason.ts';

const report = await native().readCuda(0, 60_000);
if (typeof report.deviceCount === 'number') {
  process.stdout.write(JSON.stringify(readEveryDevice(report.deviceCount)));
} else {
  const failure = report.deviceCount ?? report.timedOut;
  process.stderr.write(`${isFailure(failure) ? reason(failure) : 'CUDA did not say how many devices there are'}\n`);
  process.exitCode = 1;
}
