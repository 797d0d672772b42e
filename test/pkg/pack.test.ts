/** The tarball: its files, and that it runs without a compiler and without an install script. */

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { files as binaries } from '../../scripts/check-prebuilds.mjs';
import { PACKAGE_DOORS } from '../../scripts/rooms.mjs';
import { nodeOnly, pathWith, runInSandbox } from '../support/sandbox.ts';

const { app, clone, files, unpackedSize } = inject('packed');
const paths = files.map((file) => file.path);

const shipped = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md)$/,
  /^dist\/.+\.(js|d\.ts)$/,
  /^dist\/(report\/page\.css|(machine|record|snapshot)-validator\.cjs|cjs\/package\.json|umaprobe\.1)$/,
  /^skills\/umaprobe\/SKILL\.md$/,
  /^systemd\/[\w-]+\.service$/,
  /^monitoring\/(umaprobe\.rules\.yml|umaprobe\.dashboard\.json|umaprobe-npd\.json|alertmanager-inhibit\.yml|kubernetes\/umaprobe\.yml)$/,
  /^monitoring\/(umaprobe-health|slurm-health-check|nfd-features)$/,
  /^docs\/([\w/-]+\.md|screen\.svg)$/,
  /^lib\/machines\/[\w-]+\.json$/,
  /^schemas\/.+\.json$/,
  /^native\/(binding\.gyp|.+\.(cc|h|map))$/,
  /^prebuilds\/README\.md$/,
  /^prebuilds\/linux-(x64|arm64)\/(umaprobe\.glibc\.node|umaprobe-guard|umasim-nvidia-smi|libumasim(-cudart1[123])?\.so)$/,
  /^scripts\/(native-build|direct-build|run)\.mjs$/,
];

describe('the tarball', () => {
  it('holds nothing but what ships', () => {
    expect(paths.filter((path) => !shipped.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('holds what a user and a build from source need', () => {
    const wanted = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];
    wanted.push(
      ...Object.keys(PACKAGE_DOORS).flatMap((door) => [`dist/${door}.js`, `dist/${door}.d.ts`, `dist/cjs/${door}.js`]),
      'dist/cli.js',
      'dist/machine-validator.cjs',
      'dist/snapshot-validator.cjs',
      'dist/record-validator.cjs',
      'docs/library.md',
      'skills/umaprobe/SKILL.md',
      'lib/machines/gb10.json',
      'scripts/native-build.mjs',
    );
    wanted.push('native/binding.gyp', 'native/addon.cc', 'native/addon.map', 'native/sim/abi/exports.map');
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('holds every page that the README and the other pages link to', () => {
    const pages = paths.filter((path) => path.endsWith('.md'));
    const dead = pages.flatMap((page) => {
      const text = readFileSync(join(app, 'node_modules', 'umaprobe', page), 'utf8');
      const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map((match) => match[1] ?? '');
      return links
        .map((link) => normalize(join(dirname(page), link)))
        .filter((path) => !existsSync(join(app, 'node_modules', 'umaprobe', path)))
        .map((path) => `${page} → ${path}`);
    });
    expect(dead).toEqual([]);
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
      ...Object.keys(PACKAGE_DOORS).map((door) => `${door}.js`),
      'cli.js',
      'mem-get-info-worker.js',
      'hidden-devices-worker.js',
      'memory-worker.js',
      'worker.js',
    ];
    expect(chunks.filter((chunk) => !entryPoints.includes(chunk) && !imported.includes(chunk))).toEqual([]);
  });

  it.each(['x64', 'arm64'])('holds the %s prebuild and the simulated machine beside it', (arch) => {
    const folder = `prebuilds/linux-${arch}/`;
    expect(paths.filter((path) => path.startsWith(folder)).sort()).toEqual(binaries.map((f) => folder + f).sort());
  });

  it('stays small: below 11.5 MB itself, and 13.5 MB and 12 packages with what it depends on', () => {
    expect(unpackedSize).toBeLessThan(11.5e6);
    const modules = join(app, 'node_modules');
    const installed = readdirSync(modules, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
    expect(installed).toBeLessThan(13.5e6);
    expect(readdirSync(modules).filter((name) => !name.startsWith('.')).length).toBeLessThanOrEqual(12);
  });
});

describe('npm pack without a compiler', () => {
  it('fails with one line that names what is missing', () => {
    rmSync(join(clone, 'prebuilds'), { recursive: true });
    const { status, stderr } = runInSandbox(clone, { PATH: pathWith(...nodeOnly) }, 'npm', 'pack');
    expect(status).not.toBe(0);
    expect(stderr.split('\n')[0]).toMatch(
      /^error: prebuilds\/linux-x64 is missing or stale, and cannot be made: no x86_64-linux-gnu-gcc, .*\(Debian: apt-get install g\+\+ make python3\)$/,
    );
    expect(readdirSync(clone).filter((name) => name.endsWith('.tgz'))).toEqual([]);
  });
});

describe('installed without scripts, on a machine without a compiler', () => {
  const env = { PATH: pathWith(...nodeOnly) };

  it('has no compiler to fall back on', () => {
    expect(existsSync(join(env.PATH, 'c++'))).toBe(false);
    expect(existsSync(join(app, 'node_modules', 'umaprobe', 'build'))).toBe(false);
  });

  it('shows a simulated GB10', () => {
    const words = ['snapshot', '--sim', 'gb10', '--json', '--memgetinfo', 'child'];
    const { status, stdout, stderr } = runInSandbox(app, env, 'npx', 'umaprobe', ...words);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const snapshot = JSON.parse(stdout);
    expect(snapshot).toMatchObject({ simulated: 'gb10', devices: [{ memoryModel: 'unified', nvml: null }] });
    expect(snapshot.devices[0].cuda.free).toBe(snapshot.host.free);
  });

  it('shows this machine', () => {
    const { status, stdout } = runInSandbox(app, env, 'npx', 'umaprobe', 'snapshot');
    expect(status).toBe(0);
    expect(stdout).toMatch(/GiB/);
  });

  it.each([
    ['import', "import('umaprobe').then((umaprobe) => console.log(typeof umaprobe.snapshot))"],
    ['require', "console.log(typeof require('umaprobe').snapshot)"],
  ])('can be loaded with %s', (_how, code) => {
    expect(runInSandbox(app, env, 'node', '-e', code)).toEqual({
      status: 0,
      stdout: 'function\n',
      stderr: '',
    });
  });
});
