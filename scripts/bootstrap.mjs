// Makes a checkout ready to run: installs packages, builds native code and compiles TypeScript, each only if it is not
// up to date. Needs nothing but Node, npm and a C++ compiler, so that it works in a fresh clone.
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finishDeclarations } from './declarations.mjs';
import { installPackages } from './packages.mjs';
import { writeBiomeRooms } from './rooms.mjs';
import { isMain, main, root, run } from './run.mjs';
import { makeSchemas } from './schemas.mjs';
import { manifest, unlessCurrent } from './stale.mjs';

async function compileTypeScript() {
  // Remove files that no longer have a source: everything in dist is shipped.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [tsc, '-p', 'tsconfig.json', '--emitDeclarationOnly']);
  finishDeclarations();
  const { bundle } = await import('./bundle.mjs');
  await bundle();
  await writeManPage();
}

/** The man page of the package, from the tables that the parser and the help use. */
async function writeManPage() {
  const { loadLib } = await import('./load-lib.mjs');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { manPage } = await loadLib('lib/cli/shell/man-page.ts');
  const { loadCommands } = await loadLib('lib/cli/commands/index.ts');
  const { all } = await loadCommands();
  writeFileSync(join(root, 'dist/umaprobe.1'), manPage(version, all));
}

/**
 * True if make may keep the objects that it has: it knows which of them need a changed source or header, and compares
 * the commands that binding.gyp makes, but does not know that a list of exported symbols or Node has changed.
 */
export function isIncremental(changed) {
  return changed?.every((name) => /\.(cc|h)$|^binding\.gyp$/.test(name)) ?? false;
}

async function compileNative() {
  if (process.platform !== 'linux') {
    console.error(`no native build on ${process.platform}: umaprobe reads Linux machines`);
    return;
  }
  const { buildNative, guard, simulator } = await import('./native-build.mjs');
  await unlessCurrent({
    what: 'native code built',
    stamp: 'build/native.stamp',
    now: manifest(
      ['native'],
      ['binding.gyp', 'node_modules/node-addon-api/package.json'],
      [process.arch, process.versions.modules],
    ),
    outputs: ['umaprobe.node', guard, ...simulator].map((file) => `build/Release/${file}`),
    build: (changed) => {
      const incremental = isIncremental(changed);
      // make compares times: a file that was copied with an old one would be passed over.
      const now = new Date();
      for (const path of incremental ? changed.filter((name) => existsSync(join(root, name))) : [])
        utimesSync(join(root, path), now, now);
      return buildNative({ incremental });
    },
  });
}

/** Packages, schemas and dist/, without native code: what scripts/prepack.mjs needs of a checkout. */
export async function bootstrapTypeScript() {
  await installPackages();
  await makeSchemas();
  await unlessCurrent({
    what: 'TypeScript compiled',
    stamp: 'build/dist.stamp',
    now: manifest(
      ['lib', 'browser'],
      [
        'tsconfig.json',
        'package-lock.json',
        'scripts/bundle.mjs',
        'scripts/declarations.mjs',
        'scripts/machine-validator.mjs',
        'schemas/machine.schema.json',
        'schemas/snapshot.schema.json',
        'schemas/record.schema.json',
        'browser/report/page.css',
      ],
    ),
    outputs: [
      'index.js',
      'sim.js',
      'cli.js',
      'report/page.js',
      'machine-validator.cjs',
      'snapshot-validator.cjs',
      'record-validator.cjs',
      'umaprobe.1',
    ].map((file) => `dist/${file}`),
    build: compileTypeScript,
  });
}

export async function bootstrap() {
  writeBiomeRooms();
  await installPackages();
  await compileNative();
  await bootstrapTypeScript();
}

if (isMain(import.meta.url)) await main(bootstrap);
