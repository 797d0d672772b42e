/** Skipped tests need a reason, and in CI a row of test/skips.json. Failed ones are written down in full, with how to repeat them. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../scripts/run.mjs';
import { readSkips, seen, skipsByReason, unlisted } from '../../../scripts/skip-reporter.mjs';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const skipped = (test: string, reason = 'no GPU') => ({ project: 'p', file: 'test/p/a.test.ts', test, reason });
const ran = (test: string) => ({ ...skipped(test), reason: null });

describe('a skipped test', () => {
  const of = (state: string, fullName: string, note?: string) => ({
    result: () => ({ state, note }),
    project: { name: 'p' },
    module: { relativeModuleId: 'test/p/a.test.ts' },
    fullName,
  });

  it('has the reason of its call or of its title', () => {
    const tests = [
      of('passed', 'a'),
      of('skipped', 'b', 'no GPU'),
      of('skipped', 'on a real GPU (skipped: no GPU) > c'),
      of('skipped', 'd'),
    ].map(seen);
    expect([...skipsByReason(tests)]).toEqual([
      ['no GPU', ['p: b', 'p: on a real GPU (skipped: no GPU) > c']],
      ['', ['p: d']],
    ]);
  });
});

describe('the list of skips', () => {
  const row = { project: 'p', file: 'test/p/*', test: 'on a GPU* > *', reason: 'no *' };

  it('has nothing against a test that it lists, nor against a listed one that ran', () => {
    expect(unlisted([skipped('on a GPU (skipped: no GPU) > counts')], [row])).toEqual([]);
    expect(unlisted([ran('on a GPU > counts')], [row])).toEqual([]);
  });

  it.each([
    ['of another name', skipped('elsewhere > counts')],
    ['of another file', { ...skipped('on a GPU > counts'), file: 'test/q/a.test.ts' }],
    ['of another project', { ...skipped('on a GPU > counts'), project: 'q' }],
    ['for another reason', skipped('on a GPU > counts', 'the path of the cgroup is wrong')],
    ['whose name is a part of one', skipped('not on a GPU > counts')],
  ])('names one %s', (_, test) => {
    expect(unlisted([test, ran('on a GPU > other')], [row])).toEqual([
      `${test.project} ${test.file}: ${test.test}: skipped and not in test/skips.json: ${test.reason}`,
    ]);
  });

  it('names a row that is no test any more, where its file ran', () => {
    expect(unlisted([ran('other')], [row])).toEqual([
      'p test/p/*: on a GPU* > *: in test/skips.json, and no test any more',
    ]);
    expect(unlisted([{ ...ran('other'), project: 'q' }], [row])).toEqual([]);
  });

  it('is sorted, and each row is of a project', () => {
    const rows = readSkips().map((listed: object) => Object.values(listed).join('\n'));
    expect(rows).toEqual([...new Set(rows)].sort());
    const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8');
    for (const { project } of readSkips()) expect(config).toContain(`project('${project}'`);
  });
});

/** A tree of tests, with the reporter. Each test fails until the file `mended` is there. */
function tree(): string {
  const folder = temporaryFolder('reporter');
  const reporter = join(root, 'scripts/skip-reporter.mjs');
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `export default { test: { name: 'p', reporters: ['${reporter}'] } };`,
  );
  const prelude = `
    import { existsSync } from 'node:fs';
    import { beforeAll, describe, expect, it } from '${join(root, 'node_modules/vitest/dist/index.js')}';
    const broken = !existsSync('mended');`;
  writeFileSync(
    join(folder, 'named.test.mjs'),
    `${prelude}
     describe('a (group) of 1+1', () => {
       it.each([['a|b', 1], ['a|b $', 2]])('$0 is [%s] = %d?', (text, n) => {
         expect({ text, list: Array(40).fill(n) }).toEqual(broken ? { text } : expect.anything());
       });
     });`,
  );
  writeFileSync(
    join(folder, 'hook.test.mjs'),
    `${prelude}\ndescribe('d', () => { beforeAll(() => { if (broken) throw new Error('hook'); }); it('t', () => {}); });`,
  );
  writeFileSync(join(folder, 'file.test.mjs'), `${prelude}\nif (broken) throw new Error('file'); it('t', () => {});`);
  return folder;
}

interface Totals {
  passed: number;
  failures: { name: string; text: string; again: string[] }[];
  problems: string[];
}

function run(folder: string, ...words: string[]): Totals {
  const totals = join(folder, 'totals');
  writeFileSync(totals, '');
  const env = { ...process.env, CI: '', UMAPROBE_TEST_TOTALS: totals };
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...words];
  const { stderr, stdout } = spawnSync(process.execPath, vitest, { cwd: folder, encoding: 'utf8', env });
  const line = readFileSync(totals, 'utf8');
  if (line === '') throw new Error(`no totals: ${stdout}${stderr}`);
  return JSON.parse(line) as Totals;
}

it('A failed test, hook or file is written down in full, and repeated alone by its words', () => {
  const folder = tree();
  const { failures, problems } = run(folder);
  expect(problems).toEqual([]);
  const byName = new Map(failures.map((failure) => [failure.name, failure]));
  const title = "p named.test.mjs: a (group) of 1+1 > 'a|b $' is [a|b $] = 2?";
  expect([...byName.keys()].sort()).toEqual([
    'p file.test.mjs',
    'p hook.test.mjs',
    title,
    title.replaceAll('a|b $', 'a|b').replace('2?', '1?'),
  ]);
  // The difference has every line.
  expect(byName.get(title)?.text.match(/^[-+] {5}2,$/gm)).toHaveLength(40);
  expect(byName.get('p hook.test.mjs')?.text).toContain('Error: hook');
  expect(byName.get('p file.test.mjs')?.text).toContain('Error: file');
  writeFileSync(join(folder, 'mended'), '');
  for (const { again } of failures)
    expect(run(folder, ...again)).toMatchObject({ passed: 1, failures: [], problems: [] });
}, 120_000);

it('A message of these tests is not cut', () => {
  const list = Array(40).fill(2);
  expect(() => expect({ list }).toBe(null)).toThrow(`{ list: [ ${list.join(', ')} ] }`);
});
