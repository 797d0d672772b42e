/** What .ci/run leaves out, in checkouts of their own: what changed decides, and what is not known means everything. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plan } from '../../../scripts/ci.mjs';
import { changesOf, DEPENDS, decide, pathsOfRecipes, RECORD, tidied } from '../../../scripts/ci-selection.mjs';
import { includersOf } from '../../../scripts/house-rules.mjs';
import { root } from '../../../scripts/run.mjs';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function git(folder: string, ...args: string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** A checkout with one commit, which has passed; answers its folder and that commit. */
function checkout(): { folder: string; commit: string } {
  const folder = temporaryFolder('ci');
  git(folder, 'init', '-q');
  for (const path of ['native/a.cc', 'lib/a.ts', 'docs/a.md']) write(folder, path, 'before');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'first');
  const commit = git(folder, 'rev-parse', 'HEAD');
  write(folder, RECORD, JSON.stringify({ commit }));
  return { folder, commit };
}

describe('what changed since a commit passed all', () => {
  it('is what was committed, what was not, and what is new, but for the record itself', () => {
    const { commit, folder } = checkout();
    expect(changesOf({ folder })).toEqual({ commit, changed: [], since: `since ${commit.slice(0, 7)} passed all` });
    write(folder, 'lib/a.ts', 'after');
    git(folder, 'commit', '-qam', 'second');
    write(folder, 'docs/a.md', 'after');
    write(folder, 'native/größe b.cc', 'new');
    git(folder, 'mv', 'native/a.cc', 'native/c.cc');
    expect(changesOf({ folder }).changed).toEqual([
      'docs/a.md',
      'lib/a.ts',
      'native/a.cc',
      'native/c.cc',
      'native/größe b.cc',
    ]);
  });

  it('is everything where it is asked for, and where no commit is recorded', () => {
    const { commit, folder } = checkout();
    expect(changesOf({ all: true, folder })).toEqual({ changed: null, since: 'everything was asked for' });
    for (const record of ['{}', '{"flaky": []}', 'not JSON', 'null', `{"commit": "--output=${commit}"}`]) {
      write(folder, RECORD, record);
      expect(changesOf({ folder })).toEqual({ changed: null, since: `${RECORD} names no commit that passed all` });
    }
  });

  it('is everything where the history lacks the commit: a shallow clone, another branch, a folder without git', () => {
    const { commit, folder } = checkout();
    const unknown = { changed: null, since: `${commit.slice(0, 7)}, which passed all, is not in this history` };
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'second');
    const shallow = join(temporaryFolder('ci'), 'clone');
    git(folder, 'clone', '-q', '--depth', '1', `file://${folder}`, shallow);
    write(shallow, RECORD, JSON.stringify({ commit }));
    expect(changesOf({ folder: shallow })).toEqual(unknown);
    git(folder, 'checkout', '-q', '--orphan', 'other');
    git(folder, 'commit', '-qm', 'unrelated');
    expect(changesOf({ folder })).toEqual(unknown);
    const bare = temporaryFolder('ci');
    write(bare, RECORD, JSON.stringify({ commit }));
    expect(changesOf({ folder: bare })).toEqual(unknown);
  });
});

const changes = (...changed: string[]) => ({ commit: '1a2b3c4d', changed, since: 'since 1a2b3c4 passed all' });

describe('a decision', () => {
  it('says which file was the reason, or what did not change', () => {
    expect(decide(['native/', 'package.json'], changes('lib/a.ts', 'package.json'))).toEqual({
      runs: true,
      because: 'package.json changed since 1a2b3c4 passed all',
    });
    expect(decide(['native/', 'package.json'], changes('lib/core/native/a.ts', 'test/package.json'))).toEqual({
      runs: false,
      because: 'nothing under native/, package.json changed since 1a2b3c4 passed all',
    });
    expect(decide(['native/'], { changed: null, since: 'who knows' })).toEqual({ runs: true, because: 'who knows' });
  });

  const ofRecipes = (pattern: RegExp) => pathsOfRecipes().find((path) => pattern.test(path)) as string;
  const CONDITIONAL = [
    'recipes',
    'address and undefined sanitizer, built',
    'thread sanitizer, built',
    'fuzz',
    'package of a fresh clone',
    'every Node',
    'address and undefined sanitizer',
    'thread sanitizer',
  ];

  it.each([
    ['lib/core/memory/ledger.ts', []],
    ['docs/watch.md', []],
    ['test/unit/core/memory/ledger.test.ts', []],
    ['test/pkg/pack.test.ts', ['package of a fresh clone']],
    ['test/fuzz/maps.cc', ['fuzz']],
    [ofRecipes(/^lib.*ts$/), ['recipes']],
    [`${ofRecipes(/^lib.*\/$/)}new.ts`, ['recipes']],
    ['test/sim/sim/library/abi.test.ts', []],
    ['vitest.config.ts', CONDITIONAL.filter((name) => !/fuzz|Node/.test(name))],
    ['native/nvml/nvml.h', CONDITIONAL],
    ['scripts/run.mjs', CONDITIONAL],
    ['package-lock.json', CONDITIONAL],
  ])('of what a change of %s runs', (path, expected) => {
    const stages = plan(changes(path)).flat(2);
    expect(stages.filter(({ depends, runs }) => depends !== undefined && runs).map(({ name }) => name)).toEqual(
      expected,
    );
    // These run whatever has changed.
    expect(stages.filter(({ depends }) => depends === undefined).map(({ name, runs }) => [name, runs])).toEqual(
      [
        'tools',
        'clients fetched',
        'test',
        'slow tests',
        'one judgement',
        'clients',
        'matrix of faults',
        'lint',
        'soak',
      ].map((name) => [name, true]),
    );
  });

  it('of what is unknown runs every stage, on every machine, and lint of every file', () => {
    const stages = plan({ changed: null, since: 'who knows' }).flat(2);
    expect(stages.filter(({ runs }) => !runs)).toEqual([]);
    expect(stages.find(({ name }) => name === 'matrix of faults')).toMatchObject({
      env: {},
      because: 'every machine: who knows',
    });
    expect(stages.find(({ name }) => name === 'lint')?.command).not.toContain('--since');
  });

  it('of the matrix is one machine of each kind, unless machines changed', () => {
    const envAfter = (path: string) =>
      plan(changes(path))
        .flat(2)
        .find(({ name }) => name === 'matrix of faults')?.env;
    expect(envAfter('lib/core/memory/ledger.ts')).toEqual({ UMAPROBE_TEST_MACHINES: 'one of each kind' });
    expect(envAfter('lib/machines/gb10.json')).toEqual({});
  });

  it('has only paths that exist', () => {
    expect(
      Object.values(DEPENDS)
        .flat()
        .filter((path) => !existsSync(join(root, path))),
    ).toEqual([]);
  });
});

describe('clang-tidy', () => {
  const texts = {
    'a.cc': '#include "a.h"\n',
    'a.h': '#include "base/b.h"\n',
    'base/b.h': '#include <map>\n',
    'c.cc': '#include <napi.h>\n',
    'd.cc': '#include "gone.h"\n',
  };

  it.each([
    [['native/c.cc'], ['native/c.cc']],
    [['native/base/b.h'], ['native/a.cc']],
    [['native/gone.h'], ['native/d.cc']],
    [['native/gone.cc', 'lib/a.ts', 'c.cc'], []],
    [
      ['native/a.h', 'native/c.cc'],
      ['native/a.cc', 'native/c.cc'],
    ],
    [['.clang-tidy'], ['native/a.cc', 'native/c.cc', 'native/d.cc']],
    [['package-lock.json'], ['native/a.cc', 'native/c.cc', 'native/d.cc']],
  ])('after a change of %j reads %j', (changed, files) => {
    expect(tidied(changes(...changed), texts).files).toEqual(files);
  });

  it('reads every file where it is not known what changed', () => {
    expect(tidied({ changed: null, since: '' }, texts).files).toHaveLength(3);
  });

  it('knows includers of includers', () => {
    expect(includersOf(texts, ['base/b.h'])).toEqual(['a.cc', 'a.h', 'base/b.h']);
  });
});

it('The recipes depend on what they change, and on the folders in which they make a file', () => {
  const page =
    '<!-- recipe a: new file lib/x/y.ts -->\n<!-- recipe b: docs/cli.md, after "z" -->\n<!-- recipe a: docs/cli.md, before "q" -->';
  expect(pathsOfRecipes(page)).toEqual(['docs/cli.md', 'lib/x/']);
});
