import { formatBoth } from '../../base/format.ts';
import { hanging, padEnd } from '../../show/render/text-layout.ts';
import { machines } from '../../sim.ts';
import type { MachineList, MachineSummary } from '../../types/index.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import type { Terminal } from '../core/terminal.ts';

export const simListCommand: Command = {
  name: 'sim list',
  description: 'Use one with --sim, or run any program on it with umaprobe sim run.',
  examples: [
    { command: 'umaprobe sim list', means: 'all machines' },
    { command: 'umaprobe doctor --sim gb10-kho', means: 'use one' },
  ],
  readsMachine: false,
  async run() {
    const found = machines();
    const width = Math.max(...found.map(({ name }) => name.length)) + 2;
    return {
      exitCode: EXIT.success,
      document: { schema: 'umaprobe/sim-list/1', machines: found } satisfies MachineList,
      text: (terminal) => found.flatMap((machine) => lines(machine, width, terminal)),
    };
  },
};

function lines({ name, description, devices, total }: MachineSummary, width: number, terminal: Terminal): string[] {
  const { paint, columns } = terminal;
  const facts = `${devices.length === 0 ? 'no GPU' : devices.join(', ')}; ${formatBoth(total)}`;
  const text = hanging(' '.repeat(width), description, columns);
  return [paint('strong', padEnd(name, width)) + facts, ...text.map((line) => paint('dim', line))];
}
