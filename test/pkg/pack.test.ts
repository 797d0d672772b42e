/** The tarball: its files, and that it runs without a compiler and without an install script. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { files as binaries } from '../../scripts/check-prebuilds.mjs';
import { ROOT } from '../support/root.ts';
import { nodeOnly, pathWith, runInSandbox } from '../support/sandbox.ts';

const { app, files, lacking, unpackedSize } = inject('packed');
const paths = files.map((file) => file.path);

const shipped = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|binding\.gyp|CMakeLists\.txt)$/,
  /^dist\/.+\.(js|d\.ts)$/,
  /^dist\/report\/page\.css$/,
  /^lib\/machines\/[\w-]+\.json$/,
  /^schemas\/.+\.json$/,
  /^native\/.+\.(cc|h|map)$/,
  /^prebuilds\/linux-(x64|arm64)\/(umaprobe\.glibc\.node|libumasim(-cudart1[123])?\.so)$/,
  /^scripts\/(install|native-build|direct-build|run)\.mjs$/,
];

describe('the tarball', () => {
  it('holds nothing but what ships', () => {
    expect(paths.filter((path) => !shipped.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('holds what a user and a build from source need', () => {
    const wanted = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'binding.gyp', 'CMakeLists.txt'];
    wanted.push(
      'dist/index.js',
      'dist/index.d.ts',
      'dist/sim.js',
      'dist/cli.js',
      'lib/machines/gb10.json',
      'scripts/install.mjs',
    );
    wanted.push('native/addon.cc', 'native/addon.map', 'native/sim/abi/exports.map');
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('holds every script that the install step imports', () => {
    const scripts = join(app, 'node_modules', 'umaprobe', 'scripts');
    const { status, stderr } = runInSandbox(app, { PATH: pathWith('node') }, 'node', join(scripts, 'install.mjs'));
    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining('ERR_MODULE_NOT_FOUND'),
    });
  });

  it('declares every file of lib and nothing that lib no longer has', () => {
    const sources = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' }).filter((f) =>
      /\.ts$/.test(f),
    );
    const declared = paths.filter((path) => /^dist\/.*\.d\.ts$/.test(path)).map((path) => path.slice('dist/'.length));
    expect(declared.sort()).toEqual(sources.map((file) => file.replace(/\.ts$/, '.d.ts')).sort());
  });

  it('holds every chunk that another one imports, and no stale one', () => {
    const dist = join(app, 'node_modules', 'umaprobe', 'dist');
    const chunks = readdirSync(dist).filter((file) => file.endsWith('.js'));
    const imported = chunks.flatMap((chunk) => {
      const text = readFileSync(join(dist, chunk), 'utf8');
      return [...text.matchAll(/(?:from|import\(|import|new URL\()\s*["']\.\/([\w.-]+\.js)["']/g)].map(
        (match) => match[1],
      );
    });
    expect(imported.filter((file) => file !== undefined && !chunks.includes(file))).toEqual([]);
    const entryPoints = [
      'index.js',
      'sim.js',
      'cli.js',
      'mem-get-info-worker.js',
      'hidden-devices-worker.js',
      'worker.js',
    ];
    expect(chunks.filter((chunk) => !entryPoints.includes(chunk) && !imported.includes(chunk))).toEqual([]);
  });

  it.for(['x64', 'arm64'] as const)('holds the %s prebuild and the simulated machine beside it', (arch, context) => {
    if (lacking[arch] !== null) context.skip(lacking[arch]);
    const folder = `prebuilds/linux-${arch}/`;
    expect(paths.filter((path) => path.startsWith(folder)).sort()).toEqual(binaries.map((f) => folder + f).sort());
  });

  it('stays small', () => {
    expect(unpackedSize).toBeLessThan(6 * 2 ** 20);
  });
});

describe('installed without scripts, on a machine without a compiler', () => {
  const env = { PATH: pathWith(...nodeOnly) };

  it('has no compiler to fall back on', () => {
    expect(existsSync(join(env.PATH, 'c++'))).toBe(false);
    expect(existsSync(join(app, 'node_modules', 'umaprobe', 'build'))).toBe(false);
  });

  it('shows a simulated GB10', (context) => {
    if (lacking.x64 !== null) context.skip(lacking.x64);
    const words = ['snapshot', '--sim', 'gb10', '--json', '--memgetinfo', 'child'];
    const { status, stdout, stderr } = runInSandbox(app, env, 'npx', 'umaprobe', ...words);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const snapshot = JSON.parse(stdout);
    expect(snapshot).toMatchObject({ simulated: 'gb10', devices: [{ memoryModel: 'unified', nvml: null }] });
    expect(snapshot.devices[0].cuda.free).toBe(snapshot.host.free);
  });

  it('shows this machine', (context) => {
    if (lacking.x64 !== null) context.skip(lacking.x64);
    const { status, stdout } = runInSandbox(app, env, 'npx', 'umaprobe', 'snapshot');
    expect(status).toBe(0);
    expect(stdout).toMatch(/GiB/);
  });

  it.each([
    ['import', "import('umaprobe').then((umaprobe) => console.log(typeof umaprobe.snapshot))"],
    ['require', "console.log(typeof require('umaprobe').snapshot)"],
  ])('can be loaded with %s', (_how, code) => {
    expect(runInSandbox(app, env, 'node', '--no-warnings', '-e', code)).toEqual({
      status: 0,
      stdout: 'function\n',
      stderr: '',
    });
  });
});
