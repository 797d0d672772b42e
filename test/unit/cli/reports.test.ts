/** --csv and --html of a probe: checked before it, written after it. */
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeFileAtomic } from '../../../lib/base/atomic-file.ts';
import { loadCommands } from '../../../lib/cli/commands/index.ts';
import { reportsOf, writeReports } from '../../../lib/cli/commands/reports.ts';
import type { Context } from '../../../lib/cli/core/command.ts';
import { createTerminal } from '../../../lib/cli/core/terminal.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'umaprobe-reports-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const forms = {
  page: () => ['the page'],
  csv: async () => 'a,b\r\n',
  jsonl: async () => '{}\n',
  html: async () => '<p>',
};

/** A context whose stderr is kept. */
function listening(): { context: Context; said: string[] } {
  const said: string[] = [];
  const terminal = { ...createTerminal(process.stderr, {}, true), write: (text: string) => void said.push(text) };
  const context = { values: {}, positionals: [], rest: [], json: false, stdout: terminal, stderr: terminal };
  return { context: { ...context, stdin: process.stdin, env: {}, commands: loadCommands }, said };
}

it('are refused through links, too, and a name of any valid length is not', () => {
  const inFolder = (name: string) => join(folder, name);
  writeFileSync(inFolder('first'), '');
  linkSync(inFolder('first'), inFolder('hard-link'));
  symlinkSync(folder, inFolder('folder-link'));
  const refusal = (csv: string, journal: string) => () => reportsOf({ values: { csv, journal }, json: false }, 'sweep');
  expect(refusal(inFolder('first'), inFolder('hard-link'))).toThrow(/name the same file/);
  expect(refusal(inFolder('new'), inFolder('folder-link/new'))).toThrow(/name the same file/);
  symlinkSync(inFolder('first'), inFolder('link'));
  expect(refusal(inFolder('first'), inFolder('link'))).toThrow(/name the same file/);
  expect(refusal(inFolder('first'), inFolder('other'))).not.toThrow();
  const long = inFolder('n'.repeat(255));
  expect(() => reportsOf({ values: { csv: long, journal: 'none' }, json: false }, 'sweep')).not.toThrow();
  writeFileAtomic(long, 'text', 0o600);
  expect(readFileSync(long, 'utf8')).toBe('text');
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

it('writes the requested file and says where', async () => {
  const { context, said } = listening();
  const csv = join(folder, 'steps.csv');
  const outcome = await writeReports(
    { csv, jsonl: undefined, markdown: undefined, html: undefined },
    forms,
    { a: 1 },
    6,
    context,
  );
  expect(outcome).toMatchObject({ exitCode: 6, document: { a: 1 } });
  expect(outcome.text?.(context.stdout)).toEqual(['the page']);
  expect(readFileSync(csv, 'utf8')).toBe('a,b\r\n');
  expect(said).toEqual([`${csv}: 5 B written\n`]);
});

it.each([
  [0, 1],
  [6, 6],
])(
  'reports a file that could not be written, and the report still follows: exit code %d becomes %d',
  async (before, after) => {
    const { context, said } = listening();
    // The folder vanished after the check.
    const html = join(folder, 'gone', 'report.html');
    const outcome = await writeReports(
      { csv: undefined, jsonl: undefined, markdown: undefined, html },
      forms,
      {},
      before,
      context,
    );
    expect(outcome.exitCode).toBe(after);
    expect(outcome.text?.(context.stdout)).toEqual(['the page']);
    expect(said).toEqual([expect.stringMatching(/^umaprobe: .*report\.html could not be written: ENOENT.*\n$/)]);
    expect(existsSync(html)).toBe(false);
  },
);

it('prints CSV instead of the report if it goes to stdout', async () => {
  const { context } = listening();
  const outcome = await writeReports(
    { csv: '-', jsonl: undefined, markdown: undefined, html: undefined },
    forms,
    {},
    0,
    context,
  );
  expect(outcome.text?.(context.stdout)).toBe('a,b\r\n');
});

it('prints JSON Lines instead of the report if they go to stdout', async () => {
  const { context } = listening();
  const outcome = await writeReports(
    { csv: undefined, jsonl: '-', markdown: undefined, html: undefined },
    forms,
    {},
    0,
    context,
  );
  expect(outcome.text?.(context.stdout)).toBe('{}\n');
});

it.each([
  [{ csv: '-', jsonl: '-' }, false, /--csv - and --jsonl - both write to stdout: give --csv a file/],
  [{ jsonl: '-' }, true, /--jsonl - and --json both write to stdout/],
  [{ csv: 'x', jsonl: 'x' }, false, /both name "x"/],
  [{ csv: '-' }, true, /both write to stdout/],
  [{ html: '-' }, false, /is not a file/],
  [{ csv: 'x', html: 'x' }, false, /both name "x"/],
  [{ csv: '/' }, false, /--csv "\/" is a directory/],
  [{ csv: 'x', html: './x' }, false, /--csv and --html name the same file, "\.\/x": one would overwrite the other/],
  [{ csv: 'x', html: 'X' }, false, /name the same file/],
  [{ csv: 'x', journal: 'x' }, false, /--journal and --csv both name "x"/],
  [{ html: 'x', journal: `${process.cwd()}/x` }, false, /--journal and --html name the same file/],
  [{ csv: 'package.json', sim: './package.json' }, false, /--sim and --csv name the same file/],
  [{ csv: 'n'.repeat(256) }, false, /the name is too long/],
  [{ csv: '/proc/steps.csv' }, false, /cannot be written: ENOENT in \/proc|no permission to write in \/proc/],
  [{ csv: '/dev/null/steps.csv' }, false, /cannot be written/],
])('%j is refused before anything runs', (values, json, words) => {
  expect(() => reportsOf({ values, json }, 'sweep')).toThrow(words);
});
