/** docs/stability.md lists what the code has: a function, a document or a code that is added to the core is added there. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../../lib/cli/commands/index.ts';
import { EXIT } from '../../../lib/cli/core/exit.ts';
import { DOORS } from '../../support/doors.ts';
import { ROOT } from '../../support/root.ts';

const page = readFileSync(join(ROOT, 'docs/stability.md'), 'utf8');

/** What stands in code marks in the row of the table that begins so. */
function row(name: string): string[] {
  const [, cell] = new RegExp(`^\\| ${name} \\|(.*)\\|$`, 'm').exec(page) ?? [];
  return marked(cell ?? '');
}

function marked(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

/** Names of the documents among the types of the door `umaprobe`. */
function coreDocuments(): string[] {
  const source = (file: string) => readFileSync(join(ROOT, 'lib/types', file), 'utf8');
  const files = [...source('core.ts').matchAll(/^export type \* from '\.\/(.+)';$/gm)].map(([, file = '']) => file);
  return files.flatMap((file) =>
    [...source(file).matchAll(/^ {2}schema: 'umaprobe\/([a-z-]+)\/1';$/gm)].map(([, name = '']) => name),
  );
}

it('has the functions of the core', () => {
  expect(row('Functions of `umaprobe`').toSorted()).toEqual(Object.keys(DOORS.umaprobe).toSorted());
});

it('has the documents of the core', () => {
  expect(row('Documents `umaprobe/<name>/1`').toSorted()).toEqual(coreDocuments().toSorted());
});

it('has the commands of the core', () => {
  const core = COMMANDS.filter(({ group }) => group === 'core').map(({ name }) => name);
  expect(row('Commands and their options')).toEqual(core);
});

it('has the exit codes', () => {
  expect(row('Exit codes')).toEqual([...Object.values(EXIT).map(String), '128+n']);
});

it('names every other door as one that may change', () => {
  const [, wings = ''] = /^- The wings:(.*?)\n- /ms.exec(page) ?? [];
  expect(marked(wings)).toEqual(Object.keys(DOORS).filter((door) => door !== 'umaprobe'));
});

it('is read in two minutes', () => expect(page.split(/\s+/).length).toBeLessThanOrEqual(400));
