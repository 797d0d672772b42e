/** skills/umaprobe/SKILL.md: the front matter that agents read, and commands that exist as it writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { find, listed } from '../../../lib/cli/commands/index.ts';
import { parse, route } from '../../../lib/cli/parse.ts';
import { ROOT } from '../../support/root.ts';

const text = readFileSync(join(ROOT, 'skills/umaprobe/SKILL.md'), 'utf8');
const [, matter = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
const commands = [...new Set([...body.matchAll(/`umaprobe ([^`]+)`/g)].map((match) => match[1] as string))];

describe('the skill', () => {
  it('has the name of its folder and a description of the length that agents take', () => {
    const fields = Object.fromEntries(matter.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    expect(Object.keys(fields)).toEqual(['name', 'description']);
    expect(fields.name).toBe('umaprobe');
    expect(fields.description.length).toBeGreaterThan(100);
    expect(fields.description.length).toBeLessThanOrEqual(1024);
  });

  it.each(commands)('umaprobe %s', async (words) => {
    const { args, name } = route(words.split(' '));
    const entry = find(name);
    if (entry === undefined) throw new Error(`there is no command ${name}`);
    // An action that is named without its arguments.
    if (words === name) return;
    const command = await listed(entry);
    expect(() => parse(command, args)).not.toThrow();
  });

  it('names the exit codes that the command has', () => {
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7]) expect(body).toMatch(new RegExp(`(^|· )${code} [a-z]`, 'm'));
  });
});
