// Our side of mem-get-info.mjs, in a process of its own as the plain program is: p50 of memGetInfoSync() in nanoseconds.
import { memGetInfoSync } from 'umaprobe';
import { quantile, timeSync } from '../measure.mjs';

timeSync(() => memGetInfoSync(), 5_000);
console.log(
  quantile(
    timeSync(() => memGetInfoSync(), 20_000),
    0.5,
  ),
);
