import { compact } from '../../core/cache/index.ts';
import { COMPACT, GATE } from '../../core/cache/options.ts';
import { DEFAULT_GATE_TEXT } from '../../core/memory/contiguity.ts';
import { compactPage } from '../../show/render/text/cache-actions.ts';
import { type Command, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { optionTable, typedOptions } from '../core/typed-options.ts';

const NAME = 'cache compact';

export const cacheCompactCommand: Command = {
  name: NAME,
  description:
    `Writes vm.compact_memory, and counts free blocks by size before and after. The gate for a large launch is ${DEFAULT_GATE_TEXT}. ` +
    'If the gate is already met, nothing is done.\n' +
    'Verdict: ok, compacted, not-ready (programs or page cache hold the memory), reboot-required (free and idle, but still fragmented). Exit code: 0 for the first two, else 1.',
  options: optionTable(COMPACT, GATE),
  examples: [
    { command: 'umaprobe cache compact', means: 'before a large launch, as root' },
    { command: 'umaprobe cache compact --sim gb10-fragmented', means: 'a simulated machine that needs a reboot' },
  ],
  async run({ values }) {
    const report = await compact({
      ...typedOptions(values, COMPACT, NAME),
      gate: typedOptions(values, GATE, NAME),
    });
    const ready = report.verdict === 'ok' || report.verdict === 'compacted';
    return shown(report, compactPage, ready ? EXIT.success : EXIT.negative);
  },
};
