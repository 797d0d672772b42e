// npm's hook before `npm pack` and `npm publish`: builds what the tarball holds and git does not, or fails with one
// line. Without it a fresh clone would be packed without code and without binaries, and npm would not say so.
import { bootstrapTypeScript } from './bootstrap.mjs';
import { prebuild, targets } from './prebuild.mjs';
import { main } from './run.mjs';

await main(async () => {
  await bootstrapTypeScript();
  for (const arch of Object.keys(targets)) await prebuild(arch);
});
