// npm test: everything that can run here but the recipes, which build a copy of the tree, the clients, which come
// from Debian (npm run clients), and the matrix of faults, which takes minutes.
//   node scripts/test.mjs [unit|sim|kernel|pkg|gpu|recipes|clients|matrix …] [vitest's own arguments]
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { main, root, run } from './run.mjs';

const projects = ['unit', 'sim', 'kernel', 'pkg', 'gpu'];
const known = [...projects, 'recipes', 'clients', 'matrix'];

await main(async () => {
  const given = process.argv.slice(2);
  const chosen = given.filter((argument) => known.includes(argument));
  const rest = given.filter((argument) => !known.includes(argument));
  await bootstrap();
  const names = chosen.length > 0 ? chosen : projects;
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  // There is one page cache: tests of the project kernel drop it, so they run alone and one at a time.
  const runs = [names.filter((name) => name !== 'kernel'), names.filter((name) => name === 'kernel')];
  let failure;
  for (const [index, group] of runs.entries()) {
    if (group.length === 0) continue;
    const alone = index === 1 ? ['--no-file-parallelism'] : [];
    const args = [...group.flatMap((name) => ['--project', name]), ...alone, ...rest];
    if (rest.length > 0) args.push('--passWithNoTests');
    await run(process.execPath, [vitest, 'run', ...args]).catch((error) => {
      failure ??= error;
    });
  }
  if (failure) throw failure;
});
