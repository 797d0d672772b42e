// npm run lint (check) and npm run format (--write). --since COMMIT limits clang-tidy to changed files. A step whose tool is not installed is skipped with a hint, and the
// last line names it; if CI is set, that is an error, because the hint would go unread there.
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { changedSince, tidied } from './ci-selection.mjs';
import { checkErrorsPage } from './errors-page.mjs';
import { breaches } from './house-rules.mjs';
import { checkLlms } from './llms.mjs';
import { napiHeaders } from './native-build.mjs';
import { makeReference, referenceToolsAreCurrent } from './reference.mjs';
import { writeBiomeRooms } from './rooms.mjs';
import { findTool, inParallel, isMain, main, root, run } from './run.mjs';

const require = createRequire(import.meta.url);
const write = process.argv.includes('--write');

function filesIn(folder, pattern) {
  const names = readdirSync(join(root, folder), { recursive: true }).filter((name) => pattern.test(name));
  return names.map((name) => `${folder}/${name}`).sort();
}

/** A step that cannot run here. */
class Skipped extends Error {}

function need(tool) {
  if (findTool(tool)) return;
  const hint = `${tool} is not installed (Debian: apt-get install ${tool})`;
  throw process.env.CI ? new Error(hint) : new Skipped(hint);
}

async function clangFormat() {
  need('clang-format');
  const mode = write ? ['-i'] : ['--dry-run', '-Werror'];
  const files = [
    ...filesIn('native', /\.(cc|h)$/),
    ...filesIn('test/fuzz', /\.(cc|h)$/),
    ...filesIn('scripts/glibc-floor', /\.c$/),
  ];
  await run('clang-format', [...mode, ...files]);
}

async function clangTidy() {
  if (write) return;
  need('clang-tidy');
  const flags = ['-std=c++17', '-Inative', ...Object.values(napiHeaders()).map((folder) => `-isystem${folder}`)];
  const defines = ['-DNAPI_VERSION=8', '-DNODE_ADDON_API_CPP_EXCEPTIONS', '-DBUILDING_NODE_EXTENSION'];
  const since = process.argv.includes('--since') ? process.argv.at(process.argv.indexOf('--since') + 1) : null;
  const { files } = tidied({ changed: since === null ? null : changedSince(since), since: `since ${since}` });
  const unclean = [];
  const tidy = (file) => ['--quiet', '--warnings-as-errors=*', file, '--', ...flags, ...defines];
  await inParallel(files.map((file) => () => run('clang-tidy', tidy(file)).catch(() => unclean.push(file))));
  if (unclean.length > 0) throw new Error(`found problems in ${unclean.sort().join(', ')}`);
}

/** Checks each export for a doc comment. TypeDoc is 48 MB: CI and `npm run reference` install it. */
async function reference() {
  if (write) return;
  if (!process.env.CI && !referenceToolsAreCurrent())
    throw new Skipped('TypeDoc is not installed (npm run reference installs it)');
  await makeReference();
}

const steps = {
  rooms: writeBiomeRooms,
  'errors page': () => checkErrorsPage({ write }),
  'llms.txt': () => checkLlms({ write }),
  biome: () =>
    run(process.execPath, [
      require.resolve('@biomejs/biome/bin/biome'),
      write ? 'check' : 'ci',
      ...(write ? ['--write'] : []),
    ]),
  'clang-format': clangFormat,
  'clang-tidy': clangTidy,
  types: async () => {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    for (const project of ['tsconfig.test.json', 'browser/tsconfig.json'])
      await run(process.execPath, [tsc, '-p', project]);
  },
  reference,
  'house rules': () => {
    const found = breaches();
    if (found.length > 0) throw new Error(`\n  ${found.join('\n  ')}`);
  },
};

async function runSteps(names, results) {
  for (const name of names) {
    try {
      await steps[name]();
      console.log(`${name}: fine`);
    } catch (error) {
      const skipped = error instanceof Skipped;
      (skipped ? results.skipped : results.failed).push(name);
      console.error(`${name}: ${skipped ? 'skipped: ' : ''}${error.message}`);
    }
  }
}

/** The last line. */
export function summaryOf({ failed, skipped }) {
  const unchecked = skipped.length === 0 ? '' : `not checked here: ${skipped.join(', ')}`;
  if (failed.length > 0) return [`not clean: ${failed.join(', ')}`, unchecked].filter(Boolean).join('; ');
  return unchecked === '' ? 'all fine' : `the rest is fine; ${unchecked}`;
}

async function lint() {
  const results = { failed: [], skipped: [] };
  // clang-tidy takes longest. The others have one thread each and run beside it.
  const others = Object.keys(steps).filter((name) => name !== 'clang-tidy');
  await Promise.all([runSteps(['clang-tidy'], results), runSteps(others, results)]);
  if (results.failed.length > 0) throw new Error(summaryOf(results));
  console.log(summaryOf(results));
}

if (isMain(import.meta.url)) await main(lint);
