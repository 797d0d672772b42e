#!/usr/bin/env node
/** The `umaprobe` command: this process's streams and signals around lib/cli/main.ts. */
import { constants } from 'node:os';
import { main } from './cli/main.ts';

// A reader that has seen enough (`| head`) is no error. Nothing more can be said, so leave; exit hooks still run.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
}

// Without a handler a signal ends the process with no exit hook, and a simulated machine's files would stay behind.
// A command that has its own idea of a signal (watch, sim run) is called first and need not return.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  });
}

const exitCode = await main(process.argv.slice(2), process);
// Not process.exit() at once: a pipe takes stdout asynchronously. A native call that hangs must not keep us, though,
// so leave as soon as everything is written.
process.exitCode = exitCode;
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
