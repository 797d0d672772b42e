// Steps that a run of .ci/run leaves out: nothing of theirs has changed since the last commit that passed `.ci/run
// all`. .ci/passed.json names that commit, and the flaky tests of the last run. Unknown means everything.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { includersOf, nativeTexts } from './house-rules.mjs';
import { capture, root } from './run.mjs';

/** Written by each run for the developer to commit. */
export const RECORD = '.ci/passed.json';

/** Files and folders that decide what is built and what ships, and how tests are run. */
const BUILD = ['native/', 'scripts/', 'package.json', 'package-lock.json', 'binding.gyp', 'CMakeLists.txt'];
const RUN = ['.ci/run', '.ci/tools', 'vitest.config.ts'];

/** Stages that depend on a part of the tree: a path of a folder ends in a slash. The other stages always run. */
export const DEPENDS = {
  fuzz: [...BUILD, 'test/fuzz/'],
  'package of a fresh clone': [...BUILD, ...RUN, 'test/pkg/'],
  'every Node': BUILD,
  'address and undefined sanitizer': [...BUILD, ...RUN],
  'thread sanitizer': [...BUILD, ...RUN],
  recipes: [...BUILD, ...RUN, 'test/recipes/', ...pathsOfRecipes()],
  'every machine': ['lib/machines/', 'lib/sim/', 'native/sim/', 'test/matrix/', 'test/support/fault-matrix.ts'],
  'every file by clang-tidy': ['scripts/lint.mjs', '.clang-tidy', 'package.json', 'package-lock.json', 'binding.gyp'],
};

/** The files that a recipe changes, and the folders in which it makes one. */
export function pathsOfRecipes(page = readFileSync(join(root, 'test/recipes/README.md'), 'utf8')) {
  const steps = [...page.matchAll(/<!-- recipe \w+: (new file )?([^\s,]+)/g)];
  return [...new Set(steps.map(([, made, path = '']) => (made ? path.replace(/[^/]+$/, '') : path)))].sort();
}

/** The record of a checkout; {}: there is none, or it cannot be read. */
export function readRecord(folder = root) {
  try {
    return JSON.parse(readFileSync(join(folder, RECORD), 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Files that differ from a commit, also those that are not committed yet. @throws where the history lacks the commit. */
export function changedSince(commit, folder = root) {
  const git = (...args) => capture('git', args, { cwd: folder });
  git('merge-base', '--is-ancestor', commit, 'HEAD');
  const paths = [
    git('diff', '--name-only', '--no-renames', '-z', commit),
    git('ls-files', '-z', '--others', '--exclude-standard'),
  ];
  return [...new Set(paths.join('\0').split('\0'))].filter((path) => path !== '' && path !== RECORD).sort();
}

/** `changed`: the files that differ from what passed; null: unknown, or everything is asked for. `since`: in words. */
export function changesOf({ all = false, folder = root } = {}) {
  const { commit } = readRecord(folder);
  if (all) return { changed: null, since: 'everything was asked for' };
  if (!/^[0-9a-f]{40}$/.test(commit)) return { changed: null, since: `${RECORD} names no commit that passed all` };
  const short = commit.slice(0, 7);
  try {
    return { commit, changed: changedSince(commit, folder), since: `since ${short} passed all` };
  } catch {
    return { changed: null, since: `${short}, which passed all, is not in this history` };
  }
}

/** Decides whether a step that depends on these paths runs, and says why. */
export function decide(paths, { changed, since }) {
  if (changed === null) return { runs: true, because: since };
  const hits = changed.filter((file) =>
    paths.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path)),
  );
  if (hits.length === 0) return { runs: false, because: `nothing under ${shortened(paths)} changed ${since}` };
  return { runs: true, because: `${shortened(hits)} changed ${since}` };
}

function shortened(paths) {
  const more = paths.length - 6;
  return more > 1 ? `${paths.slice(0, 6).join(', ')} and ${more} more` : paths.join(', ');
}

/** The files that clang-tidy reads: those that changed, and those that include one. `texts`: of native/, by their path there. */
export function tidied(changes, texts = nativeTexts()) {
  const sources = Object.keys(texts).filter((path) => path.endsWith('.cc'));
  const every = decide(DEPENDS['every file by clang-tidy'], changes);
  const files = every.runs
    ? sources
    : includersOf(texts, inNative(changes.changed)).filter((path) => path.endsWith('.cc'));
  return {
    files: files.map((path) => `native/${path}`).sort(),
    because: every.runs ? every.because : `native files that changed ${changes.since}, and what includes them`,
    of: sources.length,
  };
}

const inNative = (paths) => paths.filter((path) => path.startsWith('native/')).map((path) => path.slice(7));
