/** The reading that begins before the command is loaded: for the plain command, and for no other. */
import { expect, it } from 'vitest';
import { snapshotCommand } from '../../../lib/cli/commands/snapshot.ts';
import { GLOBAL_OPTIONS } from '../../../lib/cli/core/options.ts';
import { isPlain } from '../../../lib/cli/core/plain-words.ts';

const PLAIN = ['full', 'exact', 'json', 'no-color'];
const others = Object.keys({ ...GLOBAL_OPTIONS, ...snapshotCommand.options }).filter((name) => !PLAIN.includes(name));

it.each([
  ['doctor'],
  ['help'],
  ['--'],
  ['-h'],
  ['snapshot', '--deadline=1s'],
  ...others.map((name) => ['--json', `--${name}`]),
])('does not begin for %s', (...argv) => {
  expect(isPlain(argv)).toBe(false);
});

it.each([[], ['snapshot'], ['--json', '--exact'], ['snapshot', '--full', '--no-color']])('begins for %s', (...argv) => {
  expect(isPlain(argv)).toBe(true);
});
