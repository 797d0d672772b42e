import { join } from 'node:path';
import { writeFileAtomic } from '../../base/atomic-file.ts';
import { formatDuration } from '../../base/format.ts';
import { milliseconds, path } from '../../base/options.ts';
import { snapshot } from '../../core/snapshot/index.ts';
import { watch } from '../../core/snapshot/watch.ts';
import { toMetrics } from '../../show/report/index.ts';
import type { Snapshot } from '../../types/index.ts';
import { type Command, finished } from '../core/command.ts';
import { PLAIN_READING } from '../core/early-reading.ts';
import { EXIT } from '../core/exit.ts';
import { checkOutputs } from '../core/files.ts';
import { onInterrupt } from '../core/interrupt.ts';
import { DEADLINE, limitsOf } from '../core/reading-options.ts';
import { optionTable, ownOptions } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

const NAME = 'metrics';
const FILE = 'umaprobe.prom';
/** node_exporter runs as a user of its own. */
const MODE = 0o644;

const OPTIONS = {
  textfile: path({ placeholder: '<folder>', help: `Write ${FILE} in this folder` }),
  intervalMs: milliseconds({
    min: 1000,
    max: 3_600_000,
    default: null,
    help: 'With --textfile: again at every interval, until Ctrl-C or SIGTERM',
  }),
  ...DEADLINE,
};

export const metricsCommand: Command = {
  name: NAME,
  description:
    'Prints the memory of this machine in the text format of Prometheus. A number that is not known has no line, and what node_exporter reports already is not repeated.\n' +
    `With --textfile it replaces ${FILE} in a folder, from which node_exporter takes it (--collector.textfile.directory).`,
  options: optionTable(OPTIONS),
  examples: [
    { command: 'umaprobe metrics', means: 'what a scrape would get' },
    {
      command: 'umaprobe metrics --textfile /var/lib/prometheus/node-exporter --interval 15s',
      means: 'for node_exporter',
    },
  ],
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'textfile', pattern: /\// } },
  async run({ json, stderr, values }) {
    if (json) throw new UsageError('metrics prints text; umaprobe snapshot --json has the same numbers.');
    const { intervalMs, textfile: folder, ...own } = ownOptions(values, OPTIONS, NAME);
    const limits = limitsOf(own);
    if (folder === undefined) {
      if (intervalMs !== null) throw new UsageError('--interval needs --textfile.');
      const metrics = await toMetrics(await snapshot({ ...PLAIN_READING, ...limits }));
      return { exitCode: EXIT.success, document: null, text: () => metrics };
    }
    const file = join(folder, FILE);
    checkOutputs([{ what: '--textfile', path: file }], []);
    const write = async (reading: Snapshot) => writeFileAtomic(file, await toMetrics(reading), MODE);
    if (intervalMs !== null && stderr.isTty)
      stderr.write(`${file} is written every ${formatDuration(intervalMs)}; Ctrl-C ends it.\n`);
    if (intervalMs !== null) return finished(await repeat(intervalMs, limits.deadlineMs, write));
    await write(await snapshot({ ...PLAIN_READING, ...limits }));
    return finished(EXIT.success);
  },
};

/** Runs until a signal comes. No CUDA context is created: each would take memory at every interval. */
async function repeat(
  intervalMs: number,
  deadlineMs: number,
  write: (reading: Snapshot) => Promise<void>,
): Promise<number> {
  const interrupt = onInterrupt();
  try {
    for await (const reading of watch({ intervalMs, deadlineMs, hiddenDevices: true, signal: interrupt.signal }))
      await write(reading);
  } finally {
    interrupt.close();
  }
  return interrupt.exitCode() ?? EXIT.success;
}
