/** Placeholders in arguments and templates; templates that would leave their folder. */

import { mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPlaceholders, fill, placeholdersOf } from '../../../../lib/run/profile/placeholders.ts';
import { readTemplates, writeTemplates } from '../../../../lib/run/profile/templates.ts';

const params = { bs: 8, seq_len: 2048, lr: 0.5 };
const filled = (text: string) => fill(text, { params, file: (name) => `/trial/${name}` });

describe('placeholders', () => {
  it.each([
    ['--bs={bs}', '--bs=8'],
    ['{bs}x{seq_len}', '8x2048'],
    ['{lr}', '0.5'],
    ['{{bs}} is {bs}', '{bs} is 8'],
    ['-c {file:a/b.yaml}', '-c /trial/a/b.yaml'],
    ['{{file:a}}', '{file:a}'],
    ['{"a": {"b": [{bs}]}}', '{"a": {"b": [8]}}'],
    ['{ bs } {} {1} $HOME', '{ bs } {} {1} $HOME'],
  ])('%j becomes %j', (text, expected) => {
    expect(filled(text)).toBe(expected);
  });

  it('are filled in once: a value is never read as a placeholder', () => {
    expect(fill('{a}{b}', { params: { a: 1, b: 2 }, file: () => '{a}' })).toBe('12');
    expect(fill('{file:x}', { params: { a: 1 }, file: () => '{a}' })).toBe('{a}');
  });

  it('of any text are found where they are filled in', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('{', '}', 'bs', 'file:', 'x', ' ', '"')), (parts) => {
        const text = parts.join('');
        const { files, names } = placeholdersOf(text);
        const missing = names.filter((name) => !Object.hasOwn(params, name));
        if (names.length + files.length === 0) expect(filled(text)).not.toContain('/trial/');
        for (const name of missing) expect(filled(text)).toContain(`{${name}}`);
      }),
    );
  });

  it('must be known, and every parameter must have one', () => {
    const check = (text: string, names = ['bs', 'seq_len']) => checkPlaceholders([{ what: 'argument 2', text }], names);
    expect(() => check('{bs} {seq_len}')).not.toThrow();
    expect(() => check('{bs} {seq_lem} {seq_len}')).toThrow(
      'argument 2 has the placeholder {seq_lem}, and no parameter is named so (there is bs, seq_len). Did you mean seq_len? For the text itself write {{seq_lem}}',
    );
    expect(() => check('{bs}')).toThrow('parameter seq_len is varied, and nothing has the placeholder {seq_len}');
  });
});

describe('templates', () => {
  const root = mkdtempSync(join(tmpdir(), 'templates-'));
  const outside = mkdtempSync(join(tmpdir(), 'outside-'));
  mkdirSync(join(root, 'sub'));
  writeFileSync(join(root, 'train.yaml'), 'batch: {bs}\ntext: "{{bs}}"\n');
  writeFileSync(join(root, 'sub', 'model.json'), '{"seq": {seq_len}}');
  writeFileSync(join(root, 'nested.yaml'), '{file:train.yaml}');
  writeFileSync(join(root, 'large.yaml'), 'x'.repeat(1024 * 1024 + 1));
  writeFileSync(join(outside, 'secret'), 'secret');
  symlinkSync(join(outside, 'secret'), join(root, 'link'));
  symlinkSync(outside, join(root, 'folder'));

  it('are written anew for a trial, private to this user', () => {
    const target = mkdtempSync(join(tmpdir(), 'trial-'));
    const templates = readTemplates(root, ['train.yaml', 'sub/model.json']);
    const pathOf = writeTemplates(templates, params, target);
    expect(readFileSync(pathOf('train.yaml'), 'utf8')).toBe('batch: 8\ntext: "{bs}"\n');
    expect(readFileSync(pathOf('sub/model.json'), 'utf8')).toBe('{"seq": 2048}');
    expect(statSync(pathOf('train.yaml')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(root, 'train.yaml'), 'utf8')).toContain('{bs}');
  });

  it.each([
    ['../secret', 'leads out of the folder'],
    ['sub/../../x', 'leads out of the folder'],
    ['/etc/passwd', 'leads out of the folder'],
    ['link', 'leads out of the folder'],
    ['folder/secret', 'leads out of the folder'],
    ['', 'leads out of the folder'],
    ['.', 'leads out of the folder'],
    ['sub', 'it is a folder; name a file'],
    ['missing.yaml', 'missing.yaml": there is no such file or folder'],
    ['a\0b', 'leads out of the folder'],
    ['nested.yaml', 'template nested.yaml has {file:train.yaml}'],
    ['large.yaml', 'it has 1,048,577 bytes; at most 1,048,576 are read'],
  ])('%j is refused: %s', (name, message) => {
    expect(() => readTemplates(root, [name])).toThrow(message);
  });

  it('need a folder', () => {
    expect(() => readTemplates(null, ['a.yaml'])).toThrow('there is no folder of templates');
    expect(() => readTemplates(join(root, 'none'), [])).toThrow('none": there is no such file or folder (ENOENT 2)');
    expect(() => readTemplates(join(root, 'train.yaml'), [])).toThrow('it is a file; name a folder');
    expect(readTemplates(null, []).size).toBe(0);
  });
});
