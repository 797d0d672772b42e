import { serve } from '../../serve/index.ts';
import { checkReach, DEFAULT_LISTEN, parseListen, withLoopback } from '../../serve/listen.ts';
import { SERVE } from '../../serve/options.ts';
import { type Command, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

const NAME = 'serve';

export const serveCommand: Command = {
  name: NAME,
  description:
    'Serves this machine over HTTP until Ctrl-C or SIGTERM: a live page, /metrics for Prometheus, /-/healthy and /-/ready. ' +
    'The page also shows several machines (--hosts). Nothing can be changed through it, and nothing is read while nobody asks.\n' +
    'It listens on this machine alone; an address that others reach needs a token. For a browser elsewhere: ssh -L 16121:127.0.0.1:16121 <machine>.',
  options: optionTable(SERVE),
  examples: [
    { command: 'umaprobe serve', means: `on ${DEFAULT_LISTEN}` },
    {
      command: 'umaprobe serve --listen 0.0.0.0:16121 --token-file ~/.umaprobe-token',
      means: 'for a Prometheus elsewhere',
    },
    { command: 'umaprobe serve --hosts spark-1,spark-2', means: 'a page of two machines' },
  ],
  arguments: {
    min: 0,
    max: 0,
    afterDashes: false,
    bareWord: { option: 'listen', pattern: /^[\d.:[\]]+$/, value: ([word = '']) => withLoopback(word) },
  },
  async run({ json, stdout, values }) {
    if (json) throw new UsageError('serve answers over HTTP; --json does not apply.');
    const options = typedOptions(values, SERVE, NAME);
    const { listen = DEFAULT_LISTEN, tokenFile } = options;
    checkReach('--listen', parseListen('--listen', listen), tokenFile);
    const interrupt = onInterrupt();
    try {
      const server = await serve(options);
      stdout.write(`${server.url} is served; Ctrl-C ends it.\n`);
      await new Promise<void>((resolve) => {
        if (interrupt.signal.aborted) resolve();
        else interrupt.signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await server.close();
    } finally {
      interrupt.close();
    }
    return finished(interrupt.exitCode() ?? EXIT.success);
  },
};
