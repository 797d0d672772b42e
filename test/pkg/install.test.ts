/** npm's install step: nothing to do where the shipped binary loads, a build elsewhere, and never a failed install. */

import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { napiHeaders } from '../../scripts/native-build.mjs';
import { nodeOnly, pathWith, runInSandbox } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { app, lacking } = inject('packed');
/** The installed package as npm would leave it on a machine for which nothing was shipped. */
function withoutPrebuilds(): string {
  const copy = temporaryFolder('install');
  cpSync(app, copy, { recursive: true });
  rmSync(join(copy, 'node_modules', 'umaprobe', 'prebuilds'), { recursive: true, force: true });
  return copy;
}

function rebuild(folder: string, PATH: string) {
  return runInSandbox(folder, { PATH }, 'npm', 'rebuild', 'umaprobe', '--foreground-scripts', '--loglevel=error');
}

const built = (folder: string) => join(folder, 'node_modules', 'umaprobe', 'build', 'Release', 'umaprobe.node');

describe('npm install', () => {
  it('builds nothing where the shipped binary loads', (context) => {
    if (lacking.x64 !== null) context.skip(lacking.x64);
    const ended = rebuild(app, process.env.PATH ?? '');
    expect(ended.status).toBe(0);
    expect(ended.stderr).not.toMatch(/building/);
    expect(existsSync(built(app))).toBe(false);
  });

  it('builds from source where nothing shipped fits, with a compiler and no python', (context) => {
    if (napiHeaders() === null) context.skip('no Node headers here');
    const folder = withoutPrebuilds();
    const ended = rebuild(folder, pathWith(...nodeOnly, 'c++', 'as', 'ld'));
    expect(ended).toMatchObject({ status: 0, stderr: expect.stringContaining('building from source') });
    expect(existsSync(built(folder))).toBe(true);
    const cli = ['node_modules/umaprobe/dist/cli.js', 'snapshot', '--sim', 'gb10', '--json'];
    const { stdout } = runInSandbox(folder, { PATH: pathWith('node') }, 'node', ...cli);
    expect(JSON.parse(stdout).simulated).toBe('gb10');
  });

  it('succeeds without a binary and reports that it is missing', () => {
    const folder = withoutPrebuilds();
    const env = { PATH: pathWith(...nodeOnly) };
    const ended = rebuild(folder, env.PATH);
    expect(ended.status).toBe(0);
    expect(ended.stderr).toContain('umaprobe: installed without its native part');
    const code = "import('umaprobe').then((umaprobe) => console.log(typeof umaprobe.snapshot))";
    expect(runInSandbox(folder, env, 'node', '-e', code).stdout).toBe('function\n');
    const cli = runInSandbox(folder, env, 'npx', 'umaprobe', 'snapshot');
    expect(cli.status).not.toBe(0);
    expect(cli.stderr).toMatch(/umaprobe/);
    expect(cli.stderr).not.toMatch(/\n\s+at /);
  });

  it.each(['darwin', 'win32'])('does nothing on %s', (platform) => {
    const disguise = `data:text/javascript,Object.defineProperty(process,'platform',{value:'${platform}'})`;
    const script = 'node_modules/umaprobe/scripts/install.mjs';
    const ended = runInSandbox(withoutPrebuilds(), { PATH: pathWith('node') }, 'node', '--import', disguise, script);
    expect(ended).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
