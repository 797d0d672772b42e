// npm's hook before `npm pack` and `npm publish`: builds the parts of the tarball that git does not hold, or fails with
// one line. npm would pack a fresh clone without code and without binaries, and would not say so.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrapTypeScript } from './bootstrap.mjs';
import { installPackages } from './packages.mjs';
import { prebuild, requireCompilers, targets } from './prebuild.mjs';
import { main, root } from './run.mjs';

await main(async () => {
  const architectures = Object.keys(targets);
  await installPackages();
  requireCompilers(architectures);
  await bootstrapTypeScript();
  for (const arch of architectures) await prebuild(arch);
  // npm runs node-gyp for every package with binding.gyp in its root: `npm ci` does, whatever "gypfile" says.
  copyFileSync(join(root, 'binding.gyp'), join(root, 'native', 'binding.gyp'));
});
