/** Help pages on a terminal of 80 columns. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { COMMANDS, groups, listed } from '../../../lib/cli/commands/index.ts';
import { createTerminal } from '../../../lib/cli/core/terminal.ts';
import { commandHelp, generalHelp, groupHelp, shortCommandHelp, shortHelp } from '../../../lib/cli/help.ts';
import { widthOf } from '../../../lib/show/render/text-layout.ts';

const terminal = createTerminal(new PassThrough(), { COLUMNS: '80' }, true);

function tooWide(page: string): string[] {
  // An example may be a long command: it must be one line to be copied.
  return page.split('\n').filter((line) => widthOf(line) > 80 && !line.startsWith('  umaprobe '));
}

/** Lines of a terminal, less one for the prompt. */
const SCREEN = 23;
const linesOf = (page: string) => page.trimEnd().split('\n').length;

it('the general help fits, and the short one fits a screen', () => {
  expect(tooWide(generalHelp(terminal))).toEqual([]);
  expect(tooWide(shortHelp(terminal))).toEqual([]);
  expect(linesOf(shortHelp(terminal))).toBeLessThanOrEqual(SCREEN);
});

it('both begin with six commands, in the order of use, and name every command', () => {
  for (const page of [generalHelp(terminal), shortHelp(terminal)]) {
    const steps = [...page.matchAll(/^ {2}(\d) {2}umaprobe ?(\w*)/gm)].map(([, at, name]) => [at, name]);
    expect(steps).toEqual(['', 'doctor', 'fit', 'prepare', 'launch', 'explain'].map((name, at) => [`${at + 1}`, name]));
    for (const { name } of COMMANDS)
      for (const word of name.split(' ')) expect(page).toMatch(new RegExp(`(^|[ |[])${word}\\b`, 'm'));
  }
});

it.each(groups())('the help of %s fits', (group) => expect(tooWide(groupHelp(group, terminal))).toEqual([]));

it.each(COMMANDS)('the help of $name fits, and the short one says what each option is called', async (entry) => {
  const command = await listed(entry);
  const short = shortCommandHelp(command, terminal);
  expect(tooWide(commandHelp(command, terminal))).toEqual([]);
  expect(tooWide(short)).toEqual([]);
  for (const name of Object.keys(command.options)) expect(short).toContain(`--${name}`);
  expect(linesOf(short)).toBeLessThanOrEqual(SCREEN);
});
