// npm test: everything that can run here but the recipes, which build a copy of the tree.
//   node scripts/test.mjs [unit|sim|kernel|pkg|gpu|recipes …] [vitest's own arguments]
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { main, root, run } from './run.mjs';

const projects = ['unit', 'sim', 'kernel', 'pkg', 'gpu'];
const known = [...projects, 'recipes'];

await main(async () => {
  const given = process.argv.slice(2);
  const chosen = given.filter((argument) => known.includes(argument));
  const rest = given.filter((argument) => !known.includes(argument));
  await bootstrap();
  const names = chosen.length > 0 ? chosen : projects;
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  // The page cache of this machine is one: a test that drops it must be alone, also among its own kind.
  const runs = [names.filter((name) => name !== 'kernel'), names.filter((name) => name === 'kernel')];
  let failure;
  for (const [at, together] of runs.entries()) {
    if (together.length === 0) continue;
    const alone = at === 1 ? ['--no-file-parallelism'] : [];
    const words = [...together.flatMap((name) => ['--project', name]), ...alone, ...rest];
    if (rest.length > 0) words.push('--passWithNoTests');
    await run(process.execPath, [vitest, 'run', ...words]).catch((error) => {
      failure ??= error;
    });
  }
  if (failure) throw failure;
});
