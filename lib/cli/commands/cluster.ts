import { setTimeout as sleep } from 'node:timers/promises';
import { jsonText } from '../../base/format.ts';
import { flag, milliseconds } from '../../base/options.ts';
import { cluster } from '../../run/cluster/index.ts';
import type { ClusterOptions } from '../../run/cluster/options.ts';
import { clusterPage } from '../../show/render/text/cluster.ts';
import type { ClusterReport } from '../../types/index.ts';
import { type Command, type Context, finished, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { openLive } from '../core/live.ts';
import { isGiven } from '../core/options.ts';
import { EXACT } from '../core/reading-options.ts';
import { renderOptionsFor } from '../core/terminal.ts';
import { optionTable, ownOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';
import { copyText, HOSTS_ARGUMENTS, MACHINE_OPTIONS, machinesOf, unlessInterrupted } from './cluster-shared.ts';

const NAME = 'cluster';

const OWN = {
  watch: flag({ help: 'Again at every interval, until Ctrl-C' }),
  // Each round starts an ssh for each host.
  intervalMs: milliseconds({ min: 1000, max: 3_600_000, default: 5000, help: 'With --watch: time between rounds' }),
  ...EXACT,
};

export const clusterCommand: Command = {
  name: NAME,
  usage: '--hosts <host,host> | --hostfile <file> | - [options]',
  description:
    'Asks 1 to 16 machines at the same time, by your own ssh with its configuration, keys and known hosts, and shows the weakest first: what can be loaded, the judgement with its cause and remedy, who holds what. ' +
    'umaprobe has to be there, of the same version; nothing is started or changed.\n' +
    'With - it reads from a pipe what umaprobe snapshot --json has printed on each machine, in any order.\n' +
    'Exit code: that of the worst machine: 0 fine, 1 a warning, 7 danger, 3 a machine gave no usable answer.',
  options: optionTable(MACHINE_OPTIONS, OWN),
  examples: [
    { command: 'umaprobe cluster --hosts spark-1,spark-2', means: 'two Sparks' },
    { command: 'umaprobe cluster --hostfile hosts --watch', means: 'those of mpirun, live' },
    {
      command: 'srun --label umaprobe snapshot --json | umaprobe cluster -',
      means: 'the machines of a Slurm job; with mpirun: --tag-output',
    },
  ],
  readsMachine: false,
  arguments: HOSTS_ARGUMENTS,
  async run(context) {
    const { values } = context;
    const options = machinesOf(context, NAME);
    const { exact, intervalMs, watch } = ownOptions(values, OWN, NAME);
    if (watch) return finished(await follow(context, options, intervalMs));
    if (isGiven(values, 'interval')) throw new UsageError('--interval needs --watch.');
    const document = await unlessInterrupted(context, options, cluster);
    if (typeof document === 'number') return finished(document);
    return shown(document, clusterPage, exitCodeOf(document), { exact });
  },
};

/** Exit codes are those of doctor: a warning is 1, a danger 7. */
function exitCodeOf({ level }: ClusterReport): number {
  if (level === null) return EXIT.noGpu;
  if (level === 'danger') return EXIT.failures;
  return level === 'warning' ? EXIT.negative : EXIT.success;
}

/** Round after round until a signal, or q; the exit code is that of the last one. */
async function follow(context: Context, options: ClusterOptions, intervalMs: number): Promise<number> {
  const { json, stderr, stdin, stdout, values } = context;
  if (options.answers !== undefined) throw new UsageError('--watch asks hosts again; a pipe answers once.');
  const abort = new AbortController();
  const interrupt = onInterrupt(() => abort.abort());
  let last: ClusterReport | null = null;
  const page = () =>
    last === null ? ['asking…'] : clusterPage(last, renderOptionsFor(stdout, { exact: values.exact === true }));
  const draw = () => live?.draw(page());
  const key = (typed: string) => typed === 'q' && abort.abort();
  const live = !json && stdout.isTty ? openLive(stdout, stdin, { key, redraw: draw }) : null;
  draw();
  try {
    while (!abort.signal.aborted) {
      const onCopy: ClusterOptions['onCopy'] = (copy) => stderr.write(`${copyText(copy)}\n`);
      last = await cluster({ ...options, onCopy, signal: abort.signal });
      draw();
      if (live === null) stdout.write(json ? `${jsonText(last)}\n` : `${page().join('\n')}\n\n`);
      await stdout.flushed();
      await sleep(intervalMs, undefined, { signal: abort.signal });
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  } finally {
    live?.close();
    interrupt.close();
  }
  return interrupt.exitCode() ?? (last === null ? EXIT.noGpu : exitCodeOf(last));
}
