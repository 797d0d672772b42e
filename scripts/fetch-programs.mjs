// Programs that tests and packing need and nobody else: other versions of Node and TypeScript, package managers, Bun, Deno, postject. Each is a package of the
// npm registry, installed by npm into a cache folder on first use.
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readJson } from './packages.mjs';
import { capture } from './run.mjs';

const cache = process.env.UMAPROBE_PROGRAM_CACHE ?? join(homedir(), '.cache', 'umaprobe', 'programs');

/** Path of a file of a package, relative to node_modules; `spec` is its name with a version or range. */
function fileOf(spec, file) {
  const folder = join(cache, spec.replace(/[^\w.-]+/g, '-'));
  const path = join(folder, 'node_modules', file);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  // --force: npm refuses packages of another architecture; here the binary is a file for an emulator.
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--force'];
  capture('npm', ['install', '--prefix', folder, ...flags, spec]);
  if (!existsSync(path)) throw new Error(`${spec} was installed but has no ${path}`);
  return path;
}

/**
 * The binary of the newest Node of a major version that every architecture has. The package `node` names it: those of the
 * architectures are published before it, hours apart.
 */
export function nodeBinary(arch, major) {
  const { version } = readJson(fileOf(`node@^${major}`, 'node/package.json'));
  return fileOf(`node-linux-${arch}@${version}`, `node-linux-${arch}/bin/node`);
}

/** The program that puts a blob into Node's binary, for scripts/standalone.mjs. */
export function postject() {
  return fileOf('postject@1.0.0-alpha.6', 'postject/dist/cli.js');
}

/** The program of a package manager that is written in JavaScript: of npm, pnpm or Yarn, in a version or range. */
export function packageManager(name, range) {
  const file = {
    npm: 'npm/bin/npm-cli.js',
    pnpm: 'pnpm/bin/pnpm.mjs',
    yarn: 'yarn/bin/yarn.js',
    '@yarnpkg/cli-dist': '@yarnpkg/cli-dist/bin/yarn.js',
  }[name];
  return fileOf(`${name}@${range}`, file);
}

/** The compiler of TypeScript of a version or range before 7, which the checkout has. */
export function typeScript(range) {
  return fileOf(`typescript@${range}`, 'typescript/bin/tsc');
}

/** The binary of Bun for this machine. */
export function bunBinary() {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  return fileOf('bun@1.4.5', `@oven/bun-linux-${arch}/bin/bun`);
}

/** The binary of Deno for this machine. */
export function denoBinary() {
  return fileOf('deno@2.9.6', `@deno/linux-${process.arch}-glibc/deno`);
}
