/**
 * What a mistake on the command line answers: one line with the value, what was expected and where to read on
 * (golden/mistakes.txt; UPDATE_GOLDEN=1 writes the answers). Read it for sense: nothing may suggest nonsense.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { find, listed } from '../../../lib/cli/commands/index.ts';
import { EXIT } from '../../../lib/cli/core/exit.ts';
import { parse, route } from '../../../lib/cli/parse.ts';
import { ALLOCATOR_KINDS } from '../../../lib/types/kinds.ts';
import { mainInProcess } from '../../support/in-process.ts';
import { ROOT } from '../../support/root.ts';

const GOLDEN = join(ROOT, 'test/unit/cli/golden/mistakes.txt');
const KINDS = Object.keys(ALLOCATOR_KINDS).join(', ');

function read(): { text: string; mistakes: { typed: string; answer: string }[] } {
  const text = readFileSync(GOLDEN, 'utf8').replaceAll('{KINDS}', KINDS);
  const found = [...text.matchAll(/^\$ umaprobe (.+)\n(umaprobe: .+)$/gm)];
  return { text, mistakes: found.map(([, typed = '', answer = '']) => ({ typed, answer })) };
}

if (process.env.UPDATE_GOLDEN !== undefined) {
  let { text } = read();
  for (const { answer, typed } of read().mistakes) {
    const { stderr } = await mainInProcess(typed.split(' '));
    text = text.replace(`$ umaprobe ${typed}\n${answer}\n`, () => `$ umaprobe ${typed}\n${stderr}`);
  }
  writeFileSync(GOLDEN, text.replaceAll(KINDS, '{KINDS}'));
}

const MISTAKES = read().mistakes;

it.each(MISTAKES)('umaprobe $typed', async ({ answer, typed }) => {
  const { code, stderr, stdout } = await mainInProcess(typed.split(' '));
  expect({ code, stderr }).toEqual({ code: EXIT.usage, stderr: `${answer}\n` });
  if (!/--json( |$)/.test(typed)) expect(stdout).toBe('');
  else expect(stdout).toContain(JSON.stringify(answer.replace(/^umaprobe: | See umaprobe .*/g, '')));
});

describe('the line that was probably meant is one', () => {
  const meant = MISTAKES.flatMap(({ answer }) => /Did you mean (umaprobe [^?]+)\?/.exec(answer)?.[1] ?? []);

  it.each([...new Set(meant)])('%s', async (line) => {
    const { args, name } = route(line.split(' ').slice(1));
    const entry = find(name);
    if (entry === undefined) throw new Error(`${name} is no command`);
    const command = await listed(entry);
    // The name of a command alone stands for what was typed behind it.
    if (args.length > 0 || command.arguments.min === 0) expect(parse(command, args)).toBeDefined();
  });
});
