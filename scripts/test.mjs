// npm test: everything that can run here in minutes. What is slow and rarely breaks runs in CI only; the last line names it.
//   node scripts/test.mjs [unit|sim|kernel|kernel-beside|gpu|slow|kernel-slow|pkg|recipes|clients|matrix …] [vitest's own arguments]
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { main, root, run } from './run.mjs';

const projects = ['unit', 'sim', 'kernel-beside', 'kernel', 'gpu'];
/** Projects that only CI runs unless they are named, and what is in them. */
const ciOnly = {
  slow: 'a process killed at every step, the ABI in C programs',
  'kernel-slow': 'trainers that take gigabytes',
  pkg: 'the package, built for both architectures',
  recipes: 'a copy of the tree for each recipe',
  clients: "Debian's programs",
  matrix: 'every machine with every fault',
};
const known = [...projects, ...Object.keys(ciOnly)];

await main(async () => {
  const given = process.argv.slice(2);
  const chosen = given.filter((argument) => known.includes(argument));
  const rest = given.filter((argument) => !known.includes(argument));
  await bootstrap();
  const names = chosen.length > 0 ? chosen : projects;
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = names.flatMap((name) => ['--project', name]);
  if (rest.length > 0) args.push('--passWithNoTests');
  const failure = await run(process.execPath, [vitest, 'run', ...args, ...rest]).then(
    () => null,
    (error) => error,
  );
  if (chosen.length === 0) {
    const rest = Object.entries(ciOnly).map(([name, what]) => `${name} (${what})`);
    console.log(`CI only, because it is slow and rarely breaks: ${rest.join(', ')}. All of it: bash .ci/run`);
  }
  if (failure) throw failure;
});
