/** Paths that are opened on a machine, and those that another user may not open: one line, and nothing begins. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../support/cli.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = temporaryFolder('paths');
const at = (name: string) => join(root, name);
mkdirSync(at('folder'));
writeFileSync(at('file'), '{}');
execFileSync('mkfifo', [at('fifo')]);
symlinkSync('folder', at('link'));
const marker = at('started');

const MACHINE = ['--sim', 'gb10'];
const PROFILE = ['profile', ...MACHINE, '--vary', 'n=1'];
const PROGRAM = ['--', 'touch', marker, '{n}'];

/** Exit code, code of the error, arguments; `P` is the path. */
const JOURNAL = [5, 'ERR_UMA_JOURNAL'] as const;
const COMMANDS = {
  'stress --journal': [...JOURNAL, ['stress', ...MACHINE, '--max', '1GiB', '--journal', 'P']],
  'profile --journal': [...JOURNAL, [...PROFILE, '--no-record', '--journal', 'P', ...PROGRAM]],
  'record --folder': [...JOURNAL, ['record', ...MACHINE, '--duration', '1s', '--folder', 'P']],
  'profile --folder': [...JOURNAL, [...PROFILE, '--journal', 'none', '--folder', 'P', ...PROGRAM]],
  'launch --folder': [...JOURNAL, ['launch', ...MACHINE, '--bytes', '1GiB', '--folder', 'P', '--', 'touch', marker]],
  'record show --folder': [2, 'ERR_UMA_PATH', ['record', 'show', '--folder', 'P']],
  'mark --folder': [1, 'ERR_UMA_NOT_FOUND', ['mark', 'x', '--folder', 'P']],
  'profile --templates': [
    ...[2, 'ERR_UMA_PATH'],
    [...PROFILE, '--no-record', '--journal', 'none', '--templates', 'P', '--', 'touch', marker, '{n}', '{file:a}'],
  ],
} as unknown as Readonly<Record<string, readonly [number, string, readonly string[]]>>;

function expectRefused(args: readonly string[], exitCode: number, code: string, user = {}): void {
  const ran = runUmaprobe(['--json', ...args], user);
  expect(ran.stderr).toMatch(/^umaprobe: [^\n]*\n$/);
  expect(ran.stderr).not.toMatch(/illegal operation|no such file or directory, |permission denied, |TypeError/);
  expect([ran.code, parseDocument(ran.stdout)]).toMatchObject([exitCode, { error: { code, exitCode } }]);
  expect(existsSync(marker)).toBe(false);
}

describe.each(Object.entries(COMMANDS))('%s (simulated)', (name, [exitCode, code, words]) => {
  const isJournal = name.endsWith('--journal');
  it.each(isJournal ? ['folder', 'fifo', 'file/x', '/dev/null', 'link'] : ['file', 'fifo', 'file/x', '/dev/null'])(
    'refuses %s',
    (named) => {
      const path = named.startsWith('/') ? named : at(named);
      expectRefused(
        words.map((word) => (word === 'P' ? path : word)),
        exitCode,
        code,
      );
    },
  );
});

it.each([
  ['is empty', ''],
  ['is missing', '/none'],
])('record show of a folder that %s says how to begin', (_, name) => {
  const folder = `${temporaryFolder('no-record')}${name}`;
  const { code, stderr, stdout } = runUmaprobe(['record', 'show', '--folder', folder]);
  expect(code).toBe(1);
  expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' ')).toMatch(
    /[Nn]othing was recorded here: begin with umaprobe record,.* journalctl -k -b -1/,
  );
});

describe('a file that this user may not open (simulated)', () => {
  // Root may open all: another user is asked then.
  const user = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534, env: { HOME: '/nonexistent' } } : {};
  mkdirSync(at('locked'));
  writeFileSync(at('locked/x.json'), '{}');
  chmodSync(at('locked'), 0);
  chmodSync(root, 0o755);
  const path = at('locked/x.json');
  const denied = [4, 'ERR_UMA_PERMISSION'] as const;

  it.each([
    [...denied, ['explain', ...MACHINE, '--error', path]],
    [...denied, ['guard', '--system', '--policy', path]],
    [...denied, ['snapshot', '--sim', path]],
    [...denied, ['layout', ...MACHINE, path]],
    [...denied, ['record', 'show', '--folder', path]],
    [...denied, [...PROFILE, '--journal', 'none', '--no-record', '--templates', path, ...PROGRAM]],
    [2, 'ERR_USAGE', ['stress', ...MACHINE, '--csv', path]],
    [...JOURNAL, ['stress', ...MACHINE, '--journal', path]],
    [...JOURNAL, ['record', ...MACHINE, '--duration', '1s', '--folder', path]],
  ] as const)('exit code %d, %s: %j', (exitCode, code, args) => {
    expectRefused(args, exitCode, code, user);
  });
});
