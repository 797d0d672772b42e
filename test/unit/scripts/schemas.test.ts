/** The schemas that are made from lib/types: of every document, with the ranges of their types, and as code for three of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMachine } from '../../../lib/sim/load.ts';
import { root } from '../../../scripts/run.mjs';
import { recordOf } from '../../support/reports.ts';
import { changesThatPass, parseDocument } from '../../support/schemas.ts';
import { snapshotOf } from '../../support/snapshots.ts';

const require = createRequire(import.meta.url);
/** As it is printed. */
const printed = (document: object) => parseDocument(JSON.stringify(document));

it('every document that lib names has one, of version 1', () => {
  const files = readdirSync(join(root, 'lib'), { recursive: true }).map(String);
  const texts = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'lib', name), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(/'umaprobe\/([a-z-]+)\/(\d+)'/g)]);
  expect(named.filter(([, , version]) => version !== '1')).toEqual([]);
  const made = readdirSync(join(root, 'schemas')).map((file) => file.replace('.schema.json', ''));
  // The header of a file of a recording, which nobody but its reader gets.
  made.push('record-segment');
  expect([...new Set(named.map(([, name]) => name))].sort()).toEqual(made.sort());
});

describe('a number', () => {
  const { host, ...rest } = printed(snapshotOf()) as { host: object };
  it.each<[string, object]>([
    ['is whole where it is of bytes', { free: 1.5 }],
    ['is 0 or more', { free: -1 }],
    ['is null only where it may be unknown', { total: null }],
  ])('%s', (_, changed) => {
    expect(() => printed({ ...rest, host: { ...host, ...changed } })).toThrow(
      `/host/${Object.keys(changed)[0]} must be`,
    );
  });
});

it('a machine has every field, but for evidence, the list of a process, and results of NVML that not all have', () => {
  const changes = changesThatPass(printed(loadMachine('gb10-busy')));
  expect(changes.filter((change) => !/^devices\[\]\.nvml\..* is gone$/.test(change))).toEqual([
    'evidence is gone',
    'processes[].list is gone',
  ]);
});

it.each([
  ['snapshot', snapshotOf()],
  ['record', recordOf()],
  ['machine', loadMachine('gb10-busy')],
])('the code that is made of %s refuses what the schema refuses', (name, document) => {
  const validate = require(join(root, `dist/${name}-validator.cjs`)) as (value: object) => boolean;
  const copy = printed(document);
  expect(validate(copy)).toBe(true);
  expect(changesThatPass(copy, validate)).toEqual(changesThatPass(copy));
});
