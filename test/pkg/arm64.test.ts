/** The arm64 package under an arm64 Node, which runs in an emulator on other machines. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { nodeBinary } from '../../scripts/fetch-programs.mjs';
import { findTool } from '../../scripts/run.mjs';
import { runInSandbox, type SandboxResult } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { app } = inject('packed');
const sysroot = '/usr/aarch64-linux-gnu';

function whyNot(): string | null {
  if (process.arch === 'arm64') return 'this machine is arm64 itself: pack.test.ts covers it';
  if (!findTool('qemu-aarch64')) return 'no qemu-aarch64 here (Debian: apt-get install qemu-user)';
  if (!existsSync(join(sysroot, 'lib', 'libstdc++.so.6'))) return `no arm64 libstdc++.so.6 in ${sysroot}/lib`;
  return null;
}

/**
 * A command that runs the arm64 Node. umaprobe starts children from process.execPath, which the kernel cannot run here;
 * therefore that path is set to this command.
 */
function arm64Node(): string {
  const command = join(temporaryFolder('arm64'), 'node');
  const inside = `data:text/javascript,process.execPath=${JSON.stringify(command)}`;
  // Not with -L: then "/" itself is the folder of the libraries, and what is made by its path from there lies in it.
  const loader = `${join(sysroot, 'lib', 'ld-linux-aarch64.so.1')} --library-path ${join(sysroot, 'lib')}`;
  const qemu = `${findTool('qemu-aarch64')} ${loader} ${nodeBinary('arm64', '20')}`;
  writeFileSync(command, `#!/bin/sh\nexec ${qemu} --import '${inside}' "$@"\n`, { mode: 0o755 });
  return command;
}

describe('the arm64 package', () => {
  const reason = whyNot();
  const node = reason === null ? arm64Node() : '';

  function umaprobe(...args: string[]): SandboxResult {
    return runInSandbox(app, { PATH: '/nonexistent' }, node, 'node_modules/umaprobe/dist/cli.js', ...args);
  }

  it('is loaded by an arm64 Node, also in the children that it starts', (context) => {
    if (reason !== null) context.skip(reason);
    const code =
      "console.log(process.arch, require('child_process').execFileSync(process.execPath, ['-p', 'process.arch'], { encoding: 'utf8' }).trim())";
    expect(runInSandbox(app, { PATH: '/nonexistent' }, node, '-e', code).stdout).toBe('arm64 arm64\n');
  });

  it('shows a simulated GB10', (context) => {
    if (reason !== null) context.skip(reason);
    // In the emulator a library may need longer than the default of 2 s.
    const options = ['--json', '--memgetinfo', 'child', '--deadline', '1m'];
    const { status, stdout, stderr } = umaprobe('snapshot', '--sim', 'gb10', ...options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const snapshot = JSON.parse(stdout);
    expect(snapshot).toMatchObject({ simulated: 'gb10', devices: [{ memoryModel: 'unified', nvml: null }] });
    expect(snapshot.devices[0].cuda.free).toBe(snapshot.host.free);
  });

  it('shows the machine that it runs on', (context) => {
    if (reason !== null) context.skip(reason);
    const { status, stdout } = umaprobe('snapshot', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout).host.total).toBeGreaterThan(0);
  });
});
