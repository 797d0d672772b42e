/** Every package manager installs umaprobe without building it, and the prebuild is what loads. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { PACKAGE_MANAGERS } from '../support/package-managers.ts';
import { expectInstalled, Project } from '../support/package-project.ts';
import { type Registry, startRegistry } from '../support/registry.ts';

const { app, tarball } = inject('packed');
const manifest = JSON.parse(readFileSync(join(app, 'node_modules/umaprobe/package.json'), 'utf8'));

let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry({ tarball, manifest });
});
afterAll(() => registry.close());

describe.each(PACKAGE_MANAGERS)('$name', (manager) => {
  it('install, again from the lockfile, rebuild, and a second package', async () => {
    const project = new Project(manager, registry.url);
    await expectInstalled(project, await project.ask(manager.install));
    project.forgetModules();
    await expectInstalled(project, await project.ask(manager.frozen));
    if (manager.rebuild !== null) await expectInstalled(project, await project.ask(manager.rebuild));
    await expectInstalled(project, await project.ask(manager.add));
  });

  it('without scripts', async () => {
    const project = new Project(manager, registry.url);
    await expectInstalled(project, await project.ask(manager.withoutScripts));
  });
});
