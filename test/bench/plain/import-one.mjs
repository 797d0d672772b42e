// Imports one module; prints the nanoseconds of that, and the resident kB of the process afterwards.
import { readFileSync } from 'node:fs';

const from = process.hrtime.bigint();
await import(process.argv[2]);
const nanoseconds = Number(process.hrtime.bigint() - from);
globalThis.gc();
const status = readFileSync('/proc/self/status', 'utf8');
console.log(nanoseconds, Number(/VmRSS:\s+(\d+)/.exec(status)[1]));
