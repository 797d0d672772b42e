/** The `umaprobe` command on a Node that can run it: main.ts with the streams and the exit code of this process. */
import { rememberInherited } from '../base/inherited.ts';
import { isPlain } from './core/plain-words.ts';

/** These commands start a program, and end as it does. */
const startsProgram = ['guard', 'launch'].includes(process.argv[2] ?? '');

/** Exits after a write error: with 0 if the reader closed the pipe (`| head`), else with 1. Exit hooks still run. */
function exitAfterWriteError(error: NodeJS.ErrnoException): void {
  // The program gets the same error, if it has more to say.
  if (error.code === 'EPIPE' && startsProgram) return;
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`umaprobe: the output cannot be written: ${error.message}\n`);
  process.exit(1);
}

// Node opens a terminal once more where these streams are one.
if (startsProgram) rememberInherited();
process.stdout.on('error', exitAfterWriteError);
process.stderr.on('error', () => {
  if (!startsProgram) process.exit(1);
});

/** A static import of a file of its own would end in a stack trace when it cannot be opened, as without free descriptors. */
async function run(): Promise<number> {
  try {
    const argv = process.argv.slice(2);
    if (isPlain(argv)) {
      const { beginPlainReading } = await import('./core/early-reading.ts');
      await beginPlainReading();
    }
    const { main } = await import('./main.ts');
    return await main(argv, process);
  } catch (error) {
    process.stderr.write(`umaprobe: it could not be loaded: ${(error as Error).message}\n`);
    return 1;
  }
}

const exitCode = await run();
// process.exit() now would lose output, because writes to a pipe are asynchronous. Waiting for the event loop is no
// choice either, because a native call may hang: exit as soon as everything is written.
process.exitCode = exitCode;
process.stdout.write('', (error) => {
  if (error) exitAfterWriteError(error);
  process.stderr.write('', () => process.exit(exitCode));
});
