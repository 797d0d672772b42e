/** The built command in one process that is on a simulated machine, and stays there: it is asked one line after the other. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliOptions, type CliResult, cliEnvironment } from '../support/cli.ts';
import { ROOT } from '../support/root.ts';

export type Ask = (...words: string[]) => Promise<CliResult>;

/** @param options of the process: as another user, for example. */
export async function withCommands<T>(
  machine: string,
  use: (ask: Ask) => Promise<T>,
  { env, ...options }: CliOptions = {},
): Promise<T> {
  const child = fork(join(ROOT, 'test/agree/ask.mjs'), [machine], {
    ...options,
    env: cliEnvironment({ XDG_STATE_HOME: join(tmpdir(), 'umaprobe-agree'), NO_COLOR: '1', ...env }),
    silent: true,
  });
  let stray = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      stray += text;
    });
  const ended = once(child, 'exit').then(([code, signal]: (number | string | null)[]): never => {
    throw new Error(`the process on ${machine} ended with ${code ?? signal}: ${stray}`);
  });
  ended.catch(() => undefined);
  const ask: Ask = async (...words) => {
    child.send(words);
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [CliResult];
    return answer;
  };
  try {
    const result = await use(ask);
    if (stray !== '') throw new Error(`written past the streams of main(): ${stray}`);
    return result;
  } finally {
    child.kill('SIGKILL');
  }
}
