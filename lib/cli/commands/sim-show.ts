import { jsonText } from '../../base/format.ts';
import { loadMachine } from '../../sim.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';

export const simShowCommand: Command = {
  name: 'sim show',
  usage: '<name|file.json>',
  description:
    'Checks the machine and prints it with every "extends" resolved. The output is a machine file: change it, save it, and pass it to --sim.\n' +
    'A file with "extends": "gb10" needs only the differences. The schema is schemas/machine.schema.json.',
  examples: [
    { command: 'umaprobe sim show gb10 > my.json', means: 'a copy to change' },
    { command: 'umaprobe snapshot --sim my.json', means: 'the memory of that machine' },
  ],
  readsMachine: false,
  arguments: { min: 1, max: 1, afterDashes: false },
  async run({ positionals: [machine = ''] }) {
    const document = loadMachine(machine);
    return { exitCode: EXIT.success, document, text: () => `${jsonText(document, 2)}\n` };
  },
};
