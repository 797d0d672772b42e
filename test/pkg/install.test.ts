/** Where no binary fits, the error names the command that builds one. */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { nodeOnly, pathWith, runInSandbox } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { app } = inject('packed');
const CLI = 'node_modules/umaprobe/dist/cli.js';

/** The installed package on a machine for which nothing was shipped, in a folder whose name a shell would split. */
function withoutPrebuilds(): string {
  const copy = join(temporaryFolder('install'), 'my app');
  cpSync(app, copy, { recursive: true });
  rmSync(join(copy, 'node_modules', 'umaprobe', 'prebuilds'), { recursive: true });
  return copy;
}

const built = (folder: string) => join(folder, 'node_modules', 'umaprobe', 'build');

/** The command in the error of a package without a binary. */
function buildCommand(folder: string): string {
  const { status, stderr } = runInSandbox(folder, { PATH: pathWith('node') }, 'node', CLI, 'snapshot');
  expect(status).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  return /build it from source: (node '.+?\.mjs')/.exec(stderr)?.[1] ?? stderr;
}

describe('without a binary that fits', () => {
  it('the command of the error builds one, with a compiler and no python, and then it works', () => {
    const folder = withoutPrebuilds();
    const PATH = pathWith('node', 'npm', 'sh', 'c++', 'as', 'ld');
    const build = runInSandbox('/', { PATH }, 'sh', '-c', buildCommand(folder));
    expect(build).toMatchObject({ status: 0, stderr: expect.stringContaining(`built ${built(folder)}`) });
    const env = { PATH: pathWith('node') };
    const { stdout } = runInSandbox(folder, env, 'node', CLI, 'snapshot', '--sim', 'gb10', '--json');
    expect(JSON.parse(stdout).simulated).toBe('gb10');
  });

  it('the command says in one line that there is no compiler', () => {
    const folder = withoutPrebuilds();
    const build = runInSandbox('/', { PATH: pathWith('node', 'sh') }, 'sh', '-c', buildCommand(folder));
    expect(build.status).toBe(1);
    expect(build.stderr).toMatch(/^error: no C\+\+ compiler on PATH .*: install g\+\+ or set CXX$/m);
    expect(build.stderr).not.toMatch(/\n\s+at /);
  });

  it('umaprobe can still be imported', () => {
    const env = { PATH: pathWith(...nodeOnly) };
    const code = "import('umaprobe').then((umaprobe) => console.log(typeof umaprobe.snapshot))";
    expect(runInSandbox(withoutPrebuilds(), env, 'node', '-e', code)).toEqual({
      status: 0,
      stdout: 'function\n',
      stderr: '',
    });
  });
});
