// npm test: everything that can run here in minutes. The last line names slow tests that rarely break: CI runs them.
//   node scripts/test.mjs [project …] [-- [words or vitest's own arguments]]
// Projects are those of vitest.config.ts; a word that is a folder of one (test/unit/run) or of a wing in it
// (test/unit/run/guard) means that folder, any other word the files whose path has it.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { installPackages } from './packages.mjs';
import { isMain, main, root, run } from './run.mjs';

const projects = ['unit', 'sim', 'kernel-beside', 'kernel', 'gpu'];
/** Projects that only CI runs unless they are named, and their content. */
const ciOnly = {
  slow: 'a process killed at every step, files of other users, the simulator in C programs',
  'kernel-slow': 'programs, files and page cache of gigabytes, programs in a terminal',
  pkg: 'the package, built for both architectures',
  recipes: 'a copy of the tree for each recipe',
  clients: "Debian's programs",
  matrix: 'every machine with every fault',
  agree: 'every command on every machine',
};
const known = [...projects, ...Object.keys(ciOnly)];

/** The folders of a project: wings, in which the rooms are folders. */
function wingsOf(project) {
  const folder = join(root, 'test', project);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** Plan of a run for these arguments: the projects, whether npm test names none, and vitest's arguments. */
export function planOf(given) {
  const dashes = given.indexOf('--');
  const named = dashes < 0 ? given : given.slice(0, dashes);
  const words = dashes < 0 ? [] : given.slice(dashes + 1);
  const unknown = named.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`${unknown} is no project of tests (${known.join(', ')}); name files after --`);
  const chosen = named.length > 0 ? named : projects;
  const foldersOf = (word) =>
    chosen.flatMap((name) =>
      [`test/${name}/${word}/`, ...wingsOf(name).map((wing) => `test/${name}/${wing}/${word}/`)].filter((path) =>
        existsSync(join(root, path)),
      ),
    );
  // The word after an option is its value: -t sweep.
  const filters = words.flatMap((word, at) => {
    const folders = words[at - 1]?.startsWith('-') ? [] : foldersOf(word);
    return folders.length > 0 ? folders : [word];
  });
  return {
    isAll: named.length === 0,
    needsBuild: chosen.some((name) => name !== 'unit'),
    args: [...chosen.flatMap((name) => ['--project', name]), ...filters],
  };
}

async function test() {
  const { args, isAll, needsBuild } = planOf(process.argv.slice(2));
  await (needsBuild ? bootstrap() : installPackages());
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const failure = await run(process.execPath, [vitest, 'run', ...args]).then(
    () => null,
    (error) => error,
  );
  if (isAll) {
    const rest = Object.entries(ciOnly).map(([name, what]) => `${name} (${what})`);
    console.log(`CI only, because it is slow and rarely breaks: ${rest.join(', ')}. All of it: bash .ci/run all`);
  }
  if (failure) throw failure;
}

if (isMain(import.meta.url)) await main(test);
