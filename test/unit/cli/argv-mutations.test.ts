/** Any command line: help, or one line that says what is wrong and a documented exit code; never a stack trace. */

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { COMMANDS, groups, listed } from '../../../lib/cli/commands/index.ts';

import type { OptionTable } from '../../../lib/cli/core/command.ts';
import { EXIT } from '../../../lib/cli/core/exit.ts';
import { GLOBAL_OPTIONS } from '../../../lib/cli/core/options.ts';
import { typedOptions } from '../../../lib/cli/core/typed-options.ts';
import { UsageError } from '../../../lib/cli/core/usage.ts';
import { parse } from '../../../lib/cli/parse.ts';
import { PROBE } from '../../../lib/core/probe/options.ts';
import { mainInProcess } from '../../support/in-process.ts';

// Hundreds of runs take seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const commands = await Promise.all(COMMANDS.map(listed));
const specs = new Map(
  Object.entries(Object.assign({}, GLOBAL_OPTIONS, ...commands.map(({ options }) => options)) as OptionTable),
);
const optionNames = [...new Set(commands.flatMap(({ options }) => Object.keys(options)))];

const VALUES = [
  '0',
  '-1',
  '1e3',
  '9'.repeat(400),
  '8GB',
  '8G',
  '1.5',
  '1GiB,2GiB,',
  '8192x8192',
  '1s',
  '5',
  'Infinity s',
  'none',
  'gb10',
  'device',
  'all',
  '',
  '\0',
  '\u001b[31m',
  '__proto__',
  'constructor',
] as const;

const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...optionNames).map((name) => `--${name}`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...optionNames, 'json', 'sim'), fc.constantFrom(...VALUES))
      .map(([name, value]) => `--${name}=${value}`),
  },
  { weight: 3, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 3, arbitrary: fc.constantFrom(...COMMANDS.flatMap(({ name }) => name.split(' ')), ...groups(), 'help') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '--',
      '-',
      '-h',
      '-j',
      '--json',
      '--help',
      '--version',
      '--no-color',
      '--no-',
      '--__proto__',
      '-xyz',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);
/** Short ones are often accepted, long ones nearly never. */
const argv = fc.oneof(fc.array(word, { maxLength: 2 }), fc.array(word, { maxLength: 7 }));

/** On a machine that does not exist: a command line without a mistake ends there, and nothing runs. */
const run = (words: readonly string[]) => mainInProcess(['--sim', 'no-such-machine', ...words]);

/** A command line that was accepted has no option that there is not, and no value where none is taken. */
function expectKnown(words: readonly string[]): void {
  const dashes = words.includes('--') ? words.indexOf('--') : words.length;
  for (const option of words.slice(0, dashes).filter((each) => each.startsWith('--'))) {
    const [name = '', ...value] = option.slice(2).split('=');
    const spec = specs.get(name);
    expect(spec, option).toBeDefined();
    if (spec?.type === 'boolean') expect(value, option).toEqual([]);
  }
}

describe('a command line', () => {
  it('of any words gives help, or one line and exit code 2', async () => {
    await fc.assert(
      fc.asyncProperty(argv, async (words) => {
        const { code, stdout, stderr } = await run(words);
        expect([EXIT.success, EXIT.usage]).toContain(code);
        expect(stderr).toMatch(code === EXIT.success ? /^$/ : /^umaprobe: [^\n]+\n$/);
        expect(stderr).not.toMatch(/ at .*\.[jt]s:\d|TypeError|looks like a bug/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a terminal
        expect(stderr.trimEnd()).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        if (stderr.includes('no simulated machine "no-such-machine"')) expectKnown(words);
        if (code === EXIT.usage && stdout !== '')
          expect(JSON.parse(stdout)).toMatchObject({ error: { exitCode: code } });
      }),
      { numRuns: 500 },
    );
  });

  it('of a probe gives options with numbers in range, or a mistake of the user', () => {
    const probes = commands.filter(({ name }) => ['sweep', 'layout', 'stress'].includes(name));
    fc.assert(
      fc.property(fc.constantFrom(...probes), argv, (command, words) => {
        try {
          const options = typedOptions(parse(command, words).values, PROBE, command.name);
          for (const value of Object.values(options))
            if (typeof value === 'number') expect(Number.isSafeInteger(Math.round(value)) && value >= 0).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect((error as Error).message).not.toContain('\n');
        }
      }),
      { numRuns: 500 },
    );
  });
});
