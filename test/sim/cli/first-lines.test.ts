/**
 * The first line of every command on six machines is its answer (golden/first-lines.md; UPDATE_GOLDEN=1 writes it): read
 * them aloud. All *simulated*.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS, listed } from '../../../lib/cli/commands/index.ts';
import type { ListedCommand } from '../../../lib/cli/core/command.ts';
import { umaprobe } from '../../support/cli.ts';
import { rowOf, wordsOf } from '../../support/command-rows.ts';
import { masked } from '../../support/console-blocks.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const GOLDEN = join(ROOT, 'test/sim/cli/golden/first-lines.md');

/** Idle; full of page cache; no CUDA program can start; of another vendor; with a GPU of its own that is lost; without a GPU. */
const MACHINES = ['gb10', 'gb10-cached', 'gb10-no-context', 'n1x', 'h200-lost', 'no-driver'];

/** Commands whose output is for another program, or is nothing. */
const WITHOUT_ANSWER: Readonly<Record<string, string>> = {
  'cache rule': 'a file for sudoers',
  'sim show': 'a machine as JSON',
  'sim run': 'what its program prints',
  'sim grow': 'a line at the end of its program',
  mark: 'nothing',
  metrics: 'a page for Prometheus',
  serve: 'its address',
  mcp: 'a protocol',
  completion: 'a script',
};

/** Answers that are no word and a sentence. */
const OTHER_FORMS: Readonly<Record<string, RegExp>> = {
  watch: /^\S+Z {2}SIMULATED \S+ {2}safe {1,6}([\d.]+ GiB|unknown) /,
  // Nothing happened: the output is the program's.
  guard: /^$/,
  'sim list': /^gb10 +NVIDIA GB10; 119\.69 GiB/,
  version: /^umaprobe \d+\.\d+\.\d+$/,
};

/** Their numbers are measured. */
const MEASURED = new Set(['profile', 'sweep']);

/** "OK  Nothing is wrong", "NOT ENOUGH  600 GiB": no number of things, and no side matter that is not known. */
const ANSWER = /^[A-Z]+( [A-Z]+)* {2}(?!unknown |\d+ (checks|findings|messages)\b)\S/;
const ERROR = /^umaprobe: \S/;

const isRoot = process.geteuid?.() === 0;
const ROOT_ONLY = COMMANDS.map(({ name }) => name).filter((name) => rowOf(name).refused === 'writes to the kernel');
const commands = (await Promise.all(COMMANDS.map(listed))).filter(
  ({ name }) => !(name in WITHOUT_ANSWER) && (isRoot || !ROOT_ONLY.includes(name)),
);

/** What stdout begins with, or what stderr says where there is no page. */
async function firstLine({ name, readsMachine }: ListedCommand, machine: string): Promise<string> {
  const folder = temporaryFolder('first-lines');
  const env = { NO_COLOR: '1', XDG_STATE_HOME: folder };
  const sim = readsMachine ? ['--sim', machine] : [];
  const { args, input } = rowOf(name);
  const words = wordsOf(name === 'compare' ? `gb10 ${machine}` : args, folder);
  if (name === 'record show') await umaprobe(['record', '--duration', '1s', ...sim, ...words], env);
  const piped = input === undefined ? input : (await umaprobe(['--json', '--sim', machine], env)).stdout;
  const { stderr, stdout } = await umaprobe([...name.split(' '), ...sim, ...words], env, piped);
  const lines = (stdout || stderr).split('\n').filter((line) => !line.startsWith(' SIMULATED'));
  return lines[0] ?? '';
}

const isOfMachine = ({ name, readsMachine }: ListedCommand): boolean =>
  name !== 'estimate' && (readsMachine || name === 'compare' || rowOf(name).input !== undefined);

/** By command and machine; of a command that reads no machine once. */
const lines = new Map(commands.map(({ name }) => [name, new Map<string, string>()]));

beforeAll(async () => {
  const [first] = MACHINES;
  await Promise.all(
    MACHINES.map(async (machine) => {
      for (const command of commands.filter((each) => machine === first || isOfMachine(each)))
        lines.get(command.name)?.set(machine, await firstLine(command, machine));
    }),
  );
});

describe('the first line that is not SIMULATED is the answer (simulated)', () => {
  it.each(commands)('of $name', ({ name }) => {
    for (const line of lines.get(name)?.values() ?? []) {
      if (ERROR.test(line)) continue;
      expect(line).toMatch(OTHER_FORMS[name] ?? ANSWER);
      if (name !== 'watch') expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  it('as they were read', () => {
    const sections = commands.map(({ name }) => {
      const rows = MACHINES.flatMap((machine) => {
        const line = lines.get(name)?.get(machine);
        if (line === undefined) return [];
        const kept = MEASURED.has(name) && !ERROR.test(line) ? masked(line) : line.replace(/^\d{4}-\S+Z/, 'TIME');
        return `${machine.padEnd(15)}  ${kept}`.trimEnd();
      });
      return ['', `## ${name}`, '', '```', ...rows, '```', ''].join('\n');
    });
    const text = `# The first line of each command on six machines\n${sections.join('')}`;
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(GOLDEN, text);
    const golden = readFileSync(GOLDEN, 'utf8').split(/\n(?=## )/);
    // What only root may do is read by root.
    const known = golden.filter((section) => isRoot || !ROOT_ONLY.some((name) => section.startsWith(`## ${name}\n`)));
    expect(text).toBe(known.join('\n'));
  });
});
