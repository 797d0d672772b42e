/**
 * Every command: its document fits a schema that ships, and one that is changed does not; a page names it, and on a simulated
 * machine its text says so.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, listed } from '../../../lib/cli/commands/index.ts';
import type { ListedCommand } from '../../../lib/cli/core/command.ts';
import { umaprobe } from '../../support/cli.ts';
import { COMMAND_ROWS, rowOf, wordsOf } from '../../support/command-rows.ts';
import { PAGES } from '../../support/pages.ts';
import { QWEN3_8B } from '../../support/qwen.ts';
import { ROOT } from '../../support/root.ts';
import { changesThatPass, parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Documents that a command prints with a certain argument only, by schema. FOLDER has a file. */
const OTHERS: Readonly<Record<string, { args: string; input?: string }>> = {
  'cache-evict': { args: 'cache evict FOLDER' },
  'doctor-list': { args: 'doctor --list' },
  error: { args: 'help nonsense' },
  'estimate-table': { args: 'estimate --table' },
  'explain-error': { args: 'explain --error - --sim gb10', input: 'torch.OutOfMemoryError: CUDA out of memory.' },
  'fit-largest': { args: 'fit --largest --sim gb10' },
  'fit-table': { args: 'fit --table --sim gb10' },
  'fit-together': { args: 'fit FOLDER FOLDER --for llama.cpp --sim gb10' },
};

/** Documents that are read, and not printed: what a user writes, and what is in a page. */
const READ: readonly Record<string, unknown>[] = [
  { schema: 'umaprobe/guard-policy/1', mayStop: ['docker:*'], never: ['vllm*.service'], order: 'gpu' },
  { schema: 'umaprobe/live/1', intervalMs: 1000, staleMs: 5000, hosts: ['spark-1'] },
];

/** Objects whose keys are data, such as names of parameters. A policy may leave out each of its fields. */
const OPEN = /(^|\.)(from|inputs|numbers|params)\.\S+ is (gone|one more)$|^(schema|mayStop|never|order) is gone$/;
const wronglyAllowed = (document: Record<string, unknown>) =>
  changesThatPass(document).filter((what) => !OPEN.test(what));

const pages = PAGES.filter((page) => page !== 'docs/architecture.md').map((page) =>
  readFileSync(join(ROOT, page), 'utf8'),
);
const commands = await Promise.all(COMMANDS.map(listed));

/** Types the command with what its row says, in a new folder. */
async function typed({ name, readsMachine }: ListedCommand, ...more: string[]) {
  const folder = temporaryFolder('every-command');
  const sim = readsMachine ? ['--sim', 'gb10'] : [];
  const args = wordsOf(rowOf(name).args, folder);
  if (name === 'record show') await umaprobe(['record', '--duration', '1s', ...sim, ...args]);
  return umaprobe([...name.split(' '), ...more, ...sim, ...args], {}, rowOf(name).input);
}

it('has a row for each command, and no other', () => {
  expect(Object.keys(COMMAND_ROWS).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});

it.each(COMMANDS.map(({ name }) => name))('%s is named by a page', (name) => {
  expect(pages.some((page) => new RegExp(`(umaprobe |\\| \`)${name}\\b`).test(page))).toBe(true);
});

it('has a row for each schema, and no other', () => {
  const names = [...Object.values(COMMAND_ROWS).flatMap(({ schema }) => schema ?? []), ...Object.keys(OTHERS)];
  const files = readdirSync(join(ROOT, 'schemas')).map((file) => readFileSync(join(ROOT, 'schemas', file), 'utf8'));
  const ids = files.map((text) => (JSON.parse(text) as { $id: string }).$id).sort();
  const named = [...names.map((name) => `umaprobe/${name}/1`), ...READ.map(({ schema }) => schema)];
  expect(ids).toEqual([...new Set(named)].sort());
});

describe('a changed document does not fit its schema', () => {
  it.each(READ)('$schema', (document) => {
    parseDocument(JSON.stringify(document));
    expect(wronglyAllowed(document)).toEqual([]);
  });

  it.each(Object.entries(OTHERS))('%s', async (schema, { args, input }) => {
    const folder = temporaryFolder('documents');
    writeFileSync(join(folder, 'config.json'), JSON.stringify(QWEN3_8B));
    const document = parseDocument((await umaprobe([...wordsOf(args, folder), '--json'], {}, input)).stdout);
    expect(document.schema).toBe(`umaprobe/${schema}/1`);
    expect(wronglyAllowed(document)).toEqual([]);
  });
});

describe.concurrent('the document of', () => {
  const written = commands.filter(({ name }) => rowOf(name)?.schema !== null);

  it.each(written)('$name fits its schema, and changed it does not', async (command) => {
    const { refused, schema } = rowOf(command.name);
    const document = parseDocument((await typed(command, '--json')).stdout);
    const isRefused = refused === 'has no files' || (refused !== undefined && process.geteuid?.() !== 0);
    expect(document.schema).toBe(`umaprobe/${isRefused ? 'error' : schema}/1`);
    if (schema !== 'machine') expect(wronglyAllowed(document)).toEqual([]);
  });
});

describe.concurrent('the text of', () => {
  const read = commands.filter(({ name, readsMachine }) => readsMachine && rowOf(name)?.withoutBand === undefined);

  it.each(read)('$name says that the machine is simulated', async (command) => {
    const { stderr, stdout } = await typed(command);
    expect(`${stdout}${stderr}`).toContain('SIMULATED');
  });
});
