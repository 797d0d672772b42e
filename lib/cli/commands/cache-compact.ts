import { ANY_BYTES, LIMITS } from '../../base/limits.ts';
import { compact } from '../../core/cache/index.ts';
import { DEFAULT_GATE_TEXT } from '../../core/memory/contiguity.ts';
import { compactPage } from '../../show/render/text/cache-actions.ts';
import type { ContiguityGate } from '../../types/index.ts';
import { type Command, type OptionValues, shown } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { count, flag, size } from '../core/options.ts';
import { SUDO } from './cache-shared.ts';

export const cacheCompactCommand: Command = {
  name: 'cache compact',
  usage: '[options]',
  description:
    `Writes vm.compact_memory, and counts free blocks by size before and after. The gate for a large launch is ${DEFAULT_GATE_TEXT}. ` +
    'If the gate is already met, nothing is done.\n' +
    'Verdict: ok, compacted, not-ready (programs or page cache hold the memory), reboot-required (free and idle, but still fragmented). Exit code: 0 for the first two, else 1.',
  options: {
    always: { type: 'boolean', summary: 'Compact even if the gate is met' },
    'gate-available': { type: 'string', placeholder: '<size>', summary: 'Memory that must be available' },
    'gate-block': { type: 'string', placeholder: '<size>', summary: 'Size of the blocks to count' },
    'gate-blocks': { type: 'string', placeholder: '<n>', summary: 'Blocks that must be free' },
    sudo: SUDO,
  },
  examples: [
    { command: 'umaprobe cache compact', means: 'before a large launch, as root' },
    { command: 'umaprobe cache compact --sim gb10-fragmented', means: 'a simulated machine that needs a reboot' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
  async run({ values }) {
    const report = await compact({ gate: gate(values), always: flag(values, 'always'), sudo: flag(values, 'sudo') });
    const ready = report.verdict === 'ok' || report.verdict === 'compacted';
    return shown(report, compactPage, ready ? EXIT.success : EXIT.negative);
  },
};

function gate(values: OptionValues): Partial<ContiguityGate> {
  const availableBytes = size(values, 'gate-available', 'cache compact', ANY_BYTES);
  const blockBytes = size(values, 'gate-block', 'cache compact', LIMITS.gateBlockBytes);
  const blocks = count(values, 'gate-blocks', LIMITS.gateBlocks, 'cache compact');
  return {
    ...(availableBytes === undefined ? {} : { availableBytes }),
    ...(blockBytes === undefined ? {} : { blockBytes }),
    ...(blocks === undefined ? {} : { blocks }),
  };
}
