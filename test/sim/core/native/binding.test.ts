/** The exports of the binary, compared with the types. */

import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, native, simulatorLibrary } from '../../../../lib/core/native/binding.ts';
import { DEVICE_ATTRIBUTES } from '../../../../lib/types/device.ts';
import { binaryPath, simulatorPath } from '../../../support/binary.ts';
import { printedBy, printedOnMachine, runOnMachine } from '../../../support/binary-on-machine.ts';
import { unsanitizedEnvironment } from '../../../support/clients.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const sourceOf = (file: string) => readFileSync(new URL(`../../../../lib/${file}`, import.meta.url), 'utf8');

/** Names of the members of an interface, in its order. */
function members(source: string, name: string): string[] {
  const body = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(source)?.[1] ?? '';
  return [...body.matchAll(/^ {2}(\w+)[?(:]/gm)].map((match) => match[1] as string);
}

describe('the binary', () => {
  it('exports NativeBinding, and nothing else', () => {
    const promised = members(sourceOf('core/native/contract.ts'), 'NativeBinding');
    expect(promised).toContain('readNvml');
    expect(Object.getOwnPropertyNames(native()).sort()).toEqual([...promised].sort());
    expect(Object.keys(native()).sort()).toEqual([...promised].sort());
  });

  it('fills the fields of HostMemory in their order', () => {
    const promised = members(sourceOf('types/host.ts'), 'HostMemory');
    expect(promised).toHaveLength(35);
    expect(native().hostMemoryFields()).toEqual(promised);
  });

  it('knows the DEVICE_ATTRIBUTES, and no others', async () => {
    const [names] = await printedOnMachine(
      'gb10',
      'print(Object.keys((await b.readCuda(0, 5000)).devices[0].attributes))',
    );
    expect([...(names as string[])].sort()).toEqual([...DEVICE_ATTRIBUTES].sort());
  });

  it('is loaded once, with the simulator beside it', () => {
    expect(native()).toBe(native());
    expect(simulatorLibrary()).toBe(simulatorPath);
    expect(load(new URL('../../../..', import.meta.url).pathname).path).toBe(binaryPath);
  });
});

describe('a binary that cannot be loaded', () => {
  const loads = (flags: string[], env: Record<string, string> = {}) => {
    const words = [...flags, '--input-type=module', '-e', "(await import('umaprobe')).hostMemorySync()"];
    const { stderr } = spawnSync(process.execPath, words, {
      cwd: ROOT,
      env: { ...unsanitizedEnvironment(), UMAPROBE_BINARY: '', ...env },
      encoding: 'utf8',
    });
    return stderr;
  };
  const major = Number(process.versions.node.split('.')[0]);
  // A copy of the tree has a link in its place.
  const tree = [ROOT, `${realpathSync(join(ROOT, 'node_modules'))}/`].map((folder) => `--allow-fs-read=${folder}`);
  const permission = major < 22 ? '--experimental-permission' : '--permission';

  // The loader maps what the header says, and the first read behind the end of the file is a SIGBUS.
  it.each([1, 10, 50, 90])('is refused where %d %% of it is there', (percent) => {
    const file = join(temporaryFolder('cut'), 'umaprobe.node');
    const whole = readFileSync(binaryPath);
    writeFileSync(file, whole.subarray(0, (whole.length * percent) / 100));
    expect(loads([], { UMAPROBE_BINARY: file })).toMatch(
      /cannot be loaded: it is damaged: it has \d+ bytes, and its header says \d+: install umaprobe again/,
    );
  });

  it.each([
    ['addons are off', ['--no-addons'], 'Node was started with --no-addons'],
    ['the permission model forbids addons', [permission, '--allow-fs-read=*'], 'add --allow-addons.'],
    [
      'the permission model forbids what finds it',
      [permission, '--allow-addons', ...tree],
      'does not let this process read /etc/alpine-release: add --allow-fs-read=/etc/alpine-release',
    ],
    [
      'the permission model forbids the package',
      [permission, '--allow-addons', `--allow-fs-read=${ROOT}dist`, ...tree.slice(1)],
      `package.json: add --allow-fs-read=${ROOT}`,
    ],
  ])('says why: %s', (_why, flags, remedy) => {
    expect(loads(flags)).toContain(remedy);
  });

  it('loads under the permission model with the flags that the errors name', () => {
    const flags = ['--allow-addons', ...tree, '--allow-fs-read=/etc/alpine-release'];
    expect(loads([permission, ...flags])).not.toContain('Error');
  });
});

describe('misuse of the binary', () => {
  it.each([
    'b.hostMemory()',
    'b.hostMemory(new Float32Array(64))',
    'b.hostMemory(new Float64Array(34))',
    'b.hostMemory({ length: 35 })',
    'b.parseMeminfo(7, new Float64Array(35))',
    "b.readFiles('/proc/meminfo')",
    "b.readFiles(['/proc/meminfo', 7])",
    'b.listDirectory(undefined)',
    "b.readCuda('1', 100)",
    'b.readCuda(1)',
    'b.readNvml(null)',
    'b.memGetInfo({}, 100)',
    'b.memGetInfoSync(0, new Float64Array(1))',
    'b.memGetInfoSync(0n, new Float64Array(2))',
    'b.simBoot(1, 2, 3)',
    'b.enterMachine(null)',
    "b.simRecord('x')",
    "b.simHold('1GiB')",
    'b.simHold(-1)',
  ])('%s is a TypeError', async (call) => {
    const [error] = await printedBy(
      `try { ${call}; print('no error'); } catch (error) { print([error.name, error.message]); }`,
    );
    expect(error).toEqual(['TypeError', expect.stringMatching(/^umaprobe binding: argument \d must be /)]);
  });

  it.each([
    'b.readCuda(99, -5)',
    'b.readNvml(NaN)',
    'b.readNvml(1e300)',
    'b.memGetInfo(-1, 1000)',
    'b.memGetInfo(2**40, 1000)',
  ])('%s does not crash', async (call) => {
    const ended = await runOnMachine('gb10', `await ${call};`);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('an unusable simulated machine', () => {
  it('is not booted, with the reason', () => {
    expect(native().simBoot('/nowhere/libumasim.so', '', '/tmp/x')).toMatchObject({
      failed: true,
      source: 'sim',
      name: 'LIBRARY_MISSING',
    });
    const wrong = native().simBoot(simulatorPath, 'memory.total lots\n', '/tmp/umaprobe-never');
    expect(wrong).toMatchObject({ failed: true, source: 'sim', call: 'umasim_boot /tmp/umaprobe-never' });
    expect(wrong?.message).toMatch(/\w/);
  });

  it('has no record, with the reason', () => {
    expect(native().simRecord(simulatorPath, '/nowhere/machine')).toMatchObject({
      failed: true,
      source: 'sim',
      name: 'ENOENT',
    });
  });
});
