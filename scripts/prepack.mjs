// npm's hook before `npm pack` and `npm publish`: builds the parts of the tarball that git does not hold, or fails with
// one line. npm would pack a fresh clone without code and without binaries, and would not say so.
import { bootstrapTypeScript } from './bootstrap.mjs';
import { prebuild, targets } from './prebuild.mjs';
import { main } from './run.mjs';

await main(async () => {
  await bootstrapTypeScript();
  for (const arch of Object.keys(targets)) await prebuild(arch);
});
