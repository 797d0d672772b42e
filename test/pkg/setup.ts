/** Once for all tests of this folder: make the prebuilds, pack the package, install the tarball into an empty folder. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { prebuild, whyNotPrebuild } from '../../scripts/prebuild.mjs';
import { root } from '../../scripts/run.mjs';

export interface Packed {
  /** The files listed by `npm pack`. */
  files: { path: string; size: number }[];
  unpackedSize: number;
  /** A folder with nothing but the installed tarball and its dependencies. */
  app: string;
  /** Why the prebuild of an architecture could not be made here; null where it was. */
  lacking: { x64: string | null; arm64: string | null };
}

declare module 'vitest' {
  interface ProvidedContext {
    packed: Packed;
  }
}

async function prebuildUnlessLacking(arch: 'x64' | 'arm64'): Promise<string | null> {
  const reason = whyNotPrebuild(arch);
  if (reason === null) await prebuild(arch);
  return reason;
}

/** npm without the settings that an enclosing `npm test` leaves in the environment. */
function npm(cwd: string, ...args: string[]): string {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)/.test(name)),
  );
  return execFileSync('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env,
    encoding: 'utf8',
  });
}

let folder = '';

export async function setup(project: TestProject): Promise<void> {
  const lacking = { x64: await prebuildUnlessLacking('x64'), arm64: await prebuildUnlessLacking('arm64') };
  folder = mkdtempSync(join(tmpdir(), 'umaprobe-pkg-'));
  const [packed] = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', folder)) as [
    { filename: string; files: Packed['files']; unpackedSize: number },
  ];
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  npm(folder, 'install', '--prefer-offline', join(folder, packed.filename));
  project.provide('packed', { files: packed.files, unpackedSize: packed.unpackedSize, app: folder, lacking });
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
