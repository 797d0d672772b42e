/**
 * npm ci, npm rebuild and Yarn 1 run node-gyp for a package with binding.gyp in its root. The package is packed as it
 * will ship, with the binary of this machine in the place of the prebuilds: building these takes minutes.
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { packageManager } from '../../scripts/fetch-programs.mjs';
import { binaryPath } from '../support/binary.ts';
import { PACKAGE_MANAGERS } from '../support/package-managers.ts';
import { expectInstalled, Project } from '../support/package-project.ts';
import { type Registry, startRegistry } from '../support/registry.ts';
import { ROOT } from '../support/root.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The tarball of this checkout. */
function pack(): string {
  const folder = temporaryFolder('pack');
  for (const path of ['dist', 'lib/machines', 'schemas', 'native', 'scripts', 'package.json', 'binding.gyp'])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  copyFileSync(join(ROOT, 'binding.gyp'), join(folder, 'native/binding.gyp'));
  const prebuilds = join(folder, `prebuilds/linux-${process.arch}`);
  mkdirSync(prebuilds, { recursive: true });
  copyFileSync(binaryPath, join(prebuilds, 'umaprobe.glibc.node'));
  const npm = packageManager('npm', '^11');
  const said = execFileSync(process.execPath, [npm, 'pack', '--ignore-scripts', '--json', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return join(folder, JSON.parse(said)[0].filename);
}

let registry: Registry;
beforeAll(async () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  registry = await startRegistry({ tarball: pack(), manifest });
});
afterAll(() => registry.close());

const NAMES = ['npm 11', 'npm 12', 'Yarn 1'];

describe.each(PACKAGE_MANAGERS.filter(({ name }) => NAMES.includes(name)))('$name', (manager) => {
  it('builds nothing: install, again from the lockfile, rebuild', async () => {
    const project = new Project(manager, registry.url);
    await expectInstalled(project, await project.ask(manager.install));
    project.forgetModules();
    await expectInstalled(project, await project.ask(manager.frozen));
    if (manager.rebuild !== null) await expectInstalled(project, await project.ask(manager.rebuild));
  });
});
