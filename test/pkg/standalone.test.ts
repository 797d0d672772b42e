/** The standalone file, where there is no Node: in a folder that holds it, the C library and libstdc++, and nothing else. */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { dynamicSymbols, neededLibraries } from '../../scripts/elf.mjs';
import { isAboveFloor } from '../../scripts/glibc-floor.mjs';
import { findTool } from '../../scripts/run.mjs';
import { parseDocument } from '../support/schemas.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { app, standalone } = inject('packed');
const file = standalone[process.arch] ?? '';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Namespaces in which the folder is all there is; a user who is not root becomes root in one of users. */
const UNSHARE = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
  ...['--mount', '--pid', '--fork', '--mount-proc'],
];

function whyNoEmptyRoot(): string | null {
  if (findTool('unshare') === null) return 'no unshare here (Debian: apt-get install util-linux)';
  const { status, stderr } = spawnSync(UNSHARE[0] as string, [...UNSHARE.slice(1), 'true'], { encoding: 'utf8' });
  return status === 0 ? null : `no namespaces here: ${stderr.trim()}`;
}

/** The libraries that the loader takes, with the loader, by their paths. */
function librariesOf(program: string): string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path as string);
}

class EmptyRoot {
  readonly #folder = temporaryFolder('root');

  constructor() {
    for (const path of ['dev', 'proc', 'tmp', 'home']) mkdirSync(join(this.#folder, path));
    const addon = join(app, `node_modules/umaprobe/prebuilds/linux-${process.arch}/umaprobe.glibc.node`);
    for (const path of new Set([file, addon].flatMap(librariesOf))) {
      mkdirSync(join(this.#folder, dirname(path)), { recursive: true });
      cpSync(realpathSync(path), join(this.#folder, path));
    }
    cpSync(file, join(this.#folder, 'umaprobe'));
  }

  /** A path in it. */
  at(...names: string[]): string {
    return join(this.#folder, ...names);
  }

  umaprobe(args: readonly string[], input = ''): Ran {
    const script = 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$0" /umaprobe "$@"';
    const [command, ...words] = [...UNSHARE, 'sh', '-c', script, this.#folder, ...args] as [string, ...string[]];
    const env = { PATH: process.env.PATH, HOME: '/home' };
    const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', env, input });
    return { status, stdout, stderr };
  }
}

describe('the standalone file', () => {
  it('needs nothing but glibc 2.28, libstdc++ and libgcc', () => {
    const ofGlibc = /^(lib(c|m|dl|pthread)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)$/;
    for (const path of Object.values(standalone)) {
      const others = neededLibraries(path).filter((name) => !ofGlibc.test(name ?? ''));
      expect(others.sort()).toEqual(['libgcc_s.so.1', 'libstdc++.so.6']);
      const newer = dynamicSymbols(path).filter(
        ({ version }) => /^GLIBC_/.test(version ?? '') && isAboveFloor(version),
      );
      expect(newer).toEqual([]);
    }
  });

  it('has its checksum beside it', () => {
    for (const path of Object.values(standalone)) {
      const said = execFileSync('sha256sum', ['-c', `${basename(path)}.sha256`], { cwd: dirname(path) });
      expect(said.toString()).toBe(`${basename(path)}: OK\n`);
    }
  });
});

const reason = whyNoEmptyRoot();

describe('where there is no Node', () => {
  const root = reason === null ? new EmptyRoot() : null;
  const umaprobe = (args: readonly string[], input?: string): Ran => {
    const ran = (root as EmptyRoot).umaprobe(args, input);
    expect([ran.status, ran.stderr]).toEqual([0, '']);
    return ran;
  };
  const cache = () => (root as EmptyRoot).at('home/.cache/umaprobe');
  const unpacked = () => join(cache(), readdirSync(cache()).find((name) => /^[\d.]+-\w{16}$/.test(name)) ?? 'none');

  it('unpacks itself once, for its user only', (context) => {
    if (reason !== null) context.skip(reason);
    expect(umaprobe(['--version']).stdout).toBe(`umaprobe ${version}\n`);
    const { ino, mode } = statSync(unpacked());
    expect(mode & 0o777).toBe(0o700);
    expect(JSON.parse(umaprobe(['version', '--json']).stdout).node).toMatch(/^24\./);
    expect(statSync(unpacked()).ino).toBe(ino);
  });

  it('runs its simulator, and the children that read memory and allocate', (context) => {
    if (reason !== null) context.skip(reason);
    const words = ['--sim', 'gb10', '--json'];
    const snapshot = JSON.parse(umaprobe(['snapshot', '--memgetinfo', 'child', ...words]).stdout);
    expect(snapshot).toMatchObject({ simulated: 'gb10', devices: [{ memoryModel: 'unified' }] });
    expect(snapshot.devices[0].cuda.free).toBe(snapshot.host.free);
    const sweep = JSON.parse(umaprobe(['sweep', '--sizes', '1GiB', ...words]).stdout);
    expect(sweep).toMatchObject({ schema: expect.stringMatching(/^umaprobe\/sweep\//), simulated: 'gb10' });
  });

  it('runs its guard, and itself for agents', (context) => {
    if (reason !== null) context.skip(reason);
    const guarded = (root as EmptyRoot).umaprobe(['guard', '--json', '--', '/umaprobe', '--version']);
    expect([guarded.status, guarded.stderr]).toEqual([0, `umaprobe ${version}\n`]);
    expect(JSON.parse(guarded.stdout)).toMatchObject({ outcome: 'exited', exitCode: 0 });
    const call = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const clientInfo = { name: 'test', version: '1' };
    const begin = call(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    const { stdout } = umaprobe(
      ['mcp', '--sim', 'gb10'],
      begin + call(2, 'tools/call', { name: 'memory', arguments: {} }),
    );
    expect(stdout).toContain('"simulated":"gb10"');
  });

  it('says so where its files were changed, and where they cannot be unpacked', (context) => {
    if (reason !== null) context.skip(reason);
    appendFileSync(join(unpacked(), 'dist/cli.js'), '//');
    const { status, stderr } = (root as EmptyRoot).umaprobe(['--version']);
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/^umaprobe: \S+dist\/cli\.js is not as it was unpacked.*\n$/),
    ]);
    umaprobe(['--version']);
    rmSync((root as EmptyRoot).at('home'), { recursive: true });
    writeFileSync((root as EmptyRoot).at('home'), '');
    const refused = (root as EmptyRoot).umaprobe(['--version', '--json']);
    const line =
      'umaprobe: the folder to unpack into, "/home/.cache/umaprobe": not a directory; XDG_CACHE_HOME=<folder> takes another (ENOTDIR 20)\n';
    expect([refused.status, refused.stderr]).toEqual([2, line]);
    expect(`umaprobe: ${(parseDocument(refused.stdout).error as Error).message}\n`).toBe(line);
  });
});

/** The emulator finds the libraries of arm64 where Debian's cross compiler has them. */
const sysroot = '/usr/aarch64-linux-gnu';

function whyNoArm64(): string | null {
  if (process.arch === 'arm64') return 'this machine is arm64 itself';
  if (!findTool('qemu-aarch64')) return 'no qemu-aarch64 here (Debian: apt-get install qemu-user)';
  return existsSync(join(sysroot, 'lib/libstdc++.so.6')) ? null : `no arm64 libstdc++.so.6 in ${sysroot}/lib`;
}

describe('the standalone file of arm64', () => {
  const noArm64 = whyNoArm64();

  /** Not with -L: then "/" itself is the folder of the libraries. */
  function umaprobe(...args: string[]): Ran {
    const loader = [join(sysroot, 'lib/ld-linux-aarch64.so.1'), '--library-path', join(sysroot, 'lib')];
    const env = { PATH: process.env.PATH, HOME: temporaryFolder('home') };
    const words = [...loader, standalone.arm64 as string, ...args];
    const { status, stdout, stderr } = spawnSync('qemu-aarch64', words, { encoding: 'utf8', env });
    return { status, stdout, stderr };
  }

  it('shows a simulated GB10', (context) => {
    if (noArm64 !== null) context.skip(noArm64);
    const own = umaprobe('version', '--json');
    expect([own.status, own.stderr]).toEqual([0, '']);
    expect(JSON.parse(own.stdout)).toMatchObject({ arch: 'arm64' });
    // In the emulator a library may need longer than the default of 2 s.
    const snapshot = umaprobe('snapshot', '--sim', 'gb10', '--json', '--deadline', '30s');
    expect([snapshot.status, snapshot.stderr]).toEqual([0, '']);
    expect(JSON.parse(snapshot.stdout)).toMatchObject({ simulated: 'gb10', devices: [{ memoryModel: 'unified' }] });
    expect(JSON.parse(umaprobe('doctor', '--sim', 'gb10', '--json').stdout)).toMatchObject({ simulated: 'gb10' });
  });
});
