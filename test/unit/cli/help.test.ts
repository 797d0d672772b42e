/** Help pages on a terminal of 80 columns. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { COMMANDS, groups, listed } from '../../../lib/cli/commands/index.ts';
import { createTerminal } from '../../../lib/cli/core/terminal.ts';
import { commandHelp, generalHelp, groupHelp } from '../../../lib/cli/help.ts';
import { widthOf } from '../../../lib/show/render/text-layout.ts';

const terminal = createTerminal(new PassThrough(), { COLUMNS: '80' }, true);

function tooWide(page: string): string[] {
  // An example may be a long command: it must be one line to be copied.
  return page.split('\n').filter((line) => widthOf(line) > 80 && !line.startsWith('  umaprobe '));
}

it('the general help fits', () => expect(tooWide(generalHelp(terminal))).toEqual([]));

it.each(groups())('the help of %s fits', (group) => expect(tooWide(groupHelp(group, terminal))).toEqual([]));

it.each(COMMANDS)('the help of $name fits', async (entry) =>
  expect(tooWide(commandHelp(await listed(entry), terminal))).toEqual([]),
);
