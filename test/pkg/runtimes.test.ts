/** Bun and Deno run the command and the library on a simulated machine. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { bunBinary, denoBinary } from '../../scripts/fetch-programs.mjs';
import { runInSandbox } from '../support/sandbox.ts';

const { app } = inject('packed');
const CLI = 'node_modules/umaprobe/dist/cli.js';
const PROGRAM = `
  import { hostMemorySync, snapshot, stress } from 'umaprobe';
  import { activate, loadMachine, simulate } from 'umaprobe/sim';
  const simulation = simulate(loadMachine('gb10'), { scale: 20 });
  activate(simulation);
  try {
    const { simulated, devices } = await snapshot({ memGetInfo: 'child' });
    const { state, maximum } = await stress({ journal: false, verify: false });
    console.log(JSON.stringify({ simulated, free: devices[0].cuda.free === hostMemorySync().free, state }));
  } finally {
    simulation.close();
  }
`;
writeFileSync(join(app, 'program.mjs'), PROGRAM);

describe.each([
  ['Bun', () => [bunBinary()]],
  ['Deno', () => [denoBinary(), 'run', '--allow-all']],
])('%s', (_name, command) => {
  function run(...args: string[]) {
    const [program = '', ...flags] = command();
    // Deno keeps a cache of its own; nothing of the user is changed.
    const env = { PATH: '/usr/bin:/bin', DENO_DIR: join(app, 'deno'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
    return runInSandbox(app, env, program, ...flags, ...args);
  }

  it('runs the command snapshot', () => {
    const { status, stdout, stderr } = run(CLI, 'snapshot', '--sim', 'gb10', '--json', '--memgetinfo', 'child');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { simulated, devices, host } = JSON.parse(stdout);
    expect({ simulated, free: devices[0].cuda.free }).toEqual({ simulated: 'gb10', free: host.free });
  });

  it('runs the command stress, in a child of its own', () => {
    const { status, stdout } = run(CLI, 'stress', '--sim', 'gb10', '--max', '8GB', '--journal', 'none', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ simulated: 'gb10', state: 'limit' });
  });

  it('runs a program that imports the library', () => {
    const { status, stdout, stderr } = run('program.mjs');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ simulated: 'gb10', free: true, state: 'floor' });
  });
});

describe('a program that Bun has compiled', () => {
  it('starts the children that the library needs, from node_modules beside it', () => {
    const flags = ['--external', 'umaprobe*', '--compile-autoload-package-json', '--outfile', 'compiled'];
    const env = { PATH: '/usr/bin:/bin' };
    const build = runInSandbox(app, env, bunBinary(), 'build', '--compile', ...flags, 'program.mjs');
    expect(build.status, build.stderr).toBe(0);
    const { status, stdout, stderr } = runInSandbox(app, env, join(app, 'compiled'));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ simulated: 'gb10', free: true, state: 'floor' });
  });
});
