/**
 * Once for all tests of this folder: a fresh clone is packed by `npm pack`, with the package's own scripts, and the tarball
 * is installed into an empty folder.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bootstrapTypeScript } from '../../scripts/bootstrap.mjs';
import { capture, findTool, root } from '../../scripts/run.mjs';

export interface Packed {
  /** The files listed by `npm pack`. */
  files: { path: string; size: number }[];
  unpackedSize: number;
  tarball: string;
  /** The clone that was packed. */
  clone: string;
  /** A folder with nothing but the installed tarball and its dependencies. */
  app: string;
  /** The standalone files by architecture, with the checksum beside each, and the Debian package of this machine's. */
  standalone: Record<string, string>;
  deb: string | null;
}

declare module 'vitest' {
  interface ProvidedContext {
    packed: Packed;
  }
}

/** npm without the settings that an enclosing `npm test` leaves in the environment. */
function npm(cwd: string, ...args: string[]): string {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)/.test(name)),
  );
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** What `git clone` would give once the working tree is committed. */
function clone(folder: string): string {
  const copy = join(folder, 'clone');
  const paths = capture('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z']).split('\0');
  for (const path of paths.filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  return copy;
}

/**
 * Spares a developer two minutes: the packages and prebuilds of the checkout. Prebuilds that are not current are made
 * anew. Not in CI, where nothing must come from a checkout that somebody has built.
 */
async function lendBuilt(copy: string): Promise<void> {
  // Packages that are not current would be installed through the link.
  await bootstrapTypeScript();
  for (const packages of ['node_modules', 'tools/schemas/node_modules'])
    symlinkSync(join(root, packages), join(copy, packages));
  cpSync(join(root, 'prebuilds'), join(copy, 'prebuilds'), { recursive: true });
}

/** Made here, before a test takes the prebuilds away. */
function standaloneFiles(copy: string): Pick<Packed, 'standalone' | 'deb'> {
  const makes = (script: string, arch: string): string => {
    const said = capture(process.execPath, [`scripts/${script}.mjs`, arch], { cwd: copy });
    process.stderr.write(said);
    return join(copy, /^\S+(?=: [\d.]+ MB)/m.exec(said)?.[0] ?? said);
  };
  const architectures = [...new Set([process.arch, 'arm64'])];
  const standalone = Object.fromEntries(architectures.map((arch) => [arch, makes('standalone', arch)]));
  return { standalone, deb: findTool('dpkg-deb') === null ? null : makes('deb', process.arch) };
}

let folder = '';

export async function setup(project: TestProject): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'umaprobe-pkg-'));
  const copy = clone(folder);
  if (!process.env.CI) await lendBuilt(copy);
  const [packed] = JSON.parse(npm(copy, 'pack', '--json', '--pack-destination', folder)) as [
    { filename: string; files: Packed['files']; unpackedSize: number },
  ];
  const tarball = join(folder, packed.filename);
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "private": true }\n');
  npm(app, 'install', '--ignore-scripts', '--prefer-offline', tarball);
  const { files, unpackedSize } = packed;
  project.provide('packed', { files, unpackedSize, tarball, clone: copy, app, ...standaloneFiles(copy) });
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
