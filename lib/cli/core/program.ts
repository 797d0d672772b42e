/** A program that a command runs when something has changed: an array of arguments, without a shell. */
import { constants } from 'node:os';
import { isProgram } from '../../base/find-program.ts';
import { clean, jsonText } from '../../base/format.ts';
import { startProcess } from '../../base/start-process.ts';
import { UsageError } from './usage.ts';

export interface Program {
  file: string;
  args: readonly string[];
}

/** @throws UsageError if there is no such program: a mistake that would show only when it is needed. */
export function programOf([file = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Program {
  if (!isProgram(file, env))
    throw new UsageError(
      `--exec: "${clean(file)}" is no program${file.includes('/') ? '' : ' of PATH'} that this user may run.`,
    );
  return { file, args };
}

/**
 * Runs it to its end; answers its exit code, or 128 + the number of the signal that ended it.
 *
 * @param document its stdin, as JSON.
 * @param quiet its output would disturb a picture; otherwise it goes to stderr, because stdout has the readings.
 * @throws UmaError if it cannot be started.
 */
export async function runProgram(
  { args, file }: Program,
  { document, env, quiet, signal }: { document: object; env: NodeJS.ProcessEnv; quiet: boolean; signal: AbortSignal },
): Promise<number> {
  const output = quiet ? 'ignore' : 2;
  const child = await startProcess(file, args, { stdio: ['pipe', output, output], env });
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  // A program that does not read its stdin closes it.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(`${jsonText(document)}\n`);
  return new Promise<number>((resolve) => {
    child.once('exit', (code, by) => resolve(code ?? 128 + constants.signals[by ?? 'SIGKILL']));
  }).finally(() => signal.removeEventListener('abort', stop));
}
