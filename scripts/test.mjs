// npm test: everything that can run here. node scripts/test.mjs [unit|sim|kernel|pkg|gpu …] [vitest's own arguments]
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { main, root, run } from './run.mjs';

const projects = ['unit', 'sim', 'kernel', 'pkg', 'gpu'];

await main(async () => {
  const given = process.argv.slice(2);
  const chosen = given.filter((argument) => projects.includes(argument));
  const rest = given.filter((argument) => !projects.includes(argument));
  await bootstrap();
  const names = chosen.length > 0 ? chosen : projects;
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  await run(process.execPath, [vitest, 'run', ...names.flatMap((name) => ['--project', name]), ...rest]);
});
