/** The command line in this process: its refusals need no binary, and no process of their own. */
import { Writable } from 'node:stream';
import { type Io, main } from '../../lib/cli/main.ts';
import type { CliResult } from './cli.ts';

class Kept extends Writable {
  text = '';
  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** State that other files read in this process, and that a command that refuses leaves as it is. */
const shared = () =>
  JSON.stringify([process.cwd(), process.exitCode, process.env.UMAPROBE_SIM, process.listenerCount('exit')]);

/**
 * Runs the command line; handlers of signals that `--sim` leaves in its process are removed again.
 *
 * @param env all the variables that it has, none of this process.
 * @throws if it has changed this process, such as by putting it on a simulated machine.
 */
export async function mainInProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CliResult> {
  const [stdout, stderr] = [new Kept(), new Kept()];
  const before = shared();
  const handlers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => [name, process.listeners(name)] as const);
  const code = await main(args, { stdin: process.stdin, stdout, stderr, env } as unknown as Io);
  for (const [name, earlier] of handlers)
    for (const handler of process.listeners(name).filter((each) => !earlier.includes(each)))
      process.removeListener(name, handler);
  if (shared() !== before) throw new Error(`umaprobe ${args.join(' ')} changed this process: ${before} → ${shared()}`);
  return { code, stdout: stdout.text, stderr: stderr.text };
}
