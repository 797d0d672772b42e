#!/usr/bin/env node
/** The `umaprobe` command: this process's streams and signals around lib/cli/main.ts. */
import { constants } from 'node:os';
import { main } from './cli/main.ts';

/** A reader that has seen enough (`| head`) is no error; a full disk is. Exit hooks still run. */
function leave(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`umaprobe: the output cannot be written: ${error.message}\n`);
  process.exit(1);
}

process.stdout.on('error', leave);
process.stderr.on('error', () => process.exit(1));

// Without a handler a signal ends the process with no exit hook, and a simulated machine's files would stay behind.
// A command that has its own idea of a signal (watch, sim run) listens, too, and then it alone decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  });
}

const exitCode = await main(process.argv.slice(2), process);
// Not process.exit() at once: a pipe takes stdout asynchronously. A native call that hangs must not keep us, though,
// so leave as soon as everything is written.
process.exitCode = exitCode;
process.stdout.write('', (error) => {
  if (error) leave(error);
  process.stderr.write('', () => process.exit(exitCode));
});
