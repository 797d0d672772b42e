/** Why the native binary does not load: each cause with its own remedy. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { explainFailedLoad, type FailedLoad, whyUnfit } from '../../../../lib/core/native/load-failure.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('load-failure');

/** The header of a 64-bit library whose section headers end at its last byte. */
function library({ machine = 62, size = 4096, cut = 0 } = {}): string {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.writeUInt16LE(machine, 18);
  bytes.writeBigUInt64LE(BigInt(size - 2 * 64), 40);
  bytes.writeUInt16LE(64, 58);
  bytes.writeUInt16LE(2, 60);
  const path = join(folder, `${machine}-${size}-${cut}.node`);
  writeFileSync(path, bytes.subarray(0, size - cut));
  return path;
}

const whole = library();
const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / ${folder} rw,nosuid,noexec shared:2 - tmpfs tmpfs rw
31 22 0:26 / /srv/with\\040space rw,noexec - tmpfs tmpfs rw
`;

const LOADS: FailedLoad = {
  path: whole,
  root: '/opt/app/node_modules/umaprobe',
  message: '',
  code: 'ERR_DLOPEN_FAILED',
  platform: 'linux',
  arch: 'x64',
  options: '',
  mayRead: null,
  denied: null,
  glibc: '2.36',
  mounts: '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n',
  selinux: false,
};

const DENIED = `${whole}: cannot open shared object file: Permission denied`;
const UNMAPPED = `${whole}: failed to map segment from shared object`;
const SOURCE = 'The package of npm can be built from source.';

const CASES: readonly (readonly [cause: string, load: Partial<FailedLoad>, sentence: string])[] = [
  [
    'another system',
    { platform: 'darwin', arch: 'arm64' },
    'umaprobe reads the memory of Linux machines; on darwin it has nothing to read.',
  ],
  [
    '--no-addons',
    { code: 'ERR_DLOPEN_DISABLED', options: '--no-addons' },
    'Node was started with --no-addons, which forbids every addon: start it without, also in NODE_OPTIONS.',
  ],
  [
    'the permission model',
    { code: 'ERR_DLOPEN_DISABLED', options: '--permission', mayRead: () => true },
    "Node's permission model forbids addons: add --allow-addons.",
  ],
  [
    'a narrow --allow-fs-read',
    { path: null, mayRead: () => false },
    "Node's permission model does not let this process read /opt/app/node_modules/umaprobe/prebuilds: add --allow-fs-read=/opt/app/node_modules/umaprobe/",
  ],
  [
    'a narrow --allow-fs-read, of what finds the binary',
    { path: null, code: 'ERR_ACCESS_DENIED', mayRead: () => true, denied: '/etc/alpine-release' },
    "Node's permission model does not let this process read /etc/alpine-release: add --allow-fs-read=/etc/alpine-release",
  ],
  [
    'musl',
    { glibc: null, message: 'Error loading shared library ld-linux-x86-64.so.2: No such file or directory' },
    'umaprobe needs glibc, as the NVIDIA driver does; this is a musl system (Alpine): use a Debian, Ubuntu or Red Hat image.',
  ],
  [
    'an old glibc',
    {
      message: "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by umaprobe.node)",
      glibc: '2.17',
    },
    `It needs glibc 2.28, and this system has 2.17. ${SOURCE}`,
  ],
  [
    'noexec',
    { message: UNMAPPED, mounts: MOUNTS },
    `${folder} is mounted with noexec, and nothing can be loaded from there: install umaprobe on another file system, or allow it (mount -o remount,exec ${folder}).`,
  ],
  [
    'SELinux',
    { message: DENIED, selinux: true },
    `SELinux refused it: restorecon -Rv ${folder} gives the files their labels again, and ausearch -m avc -ts recent shows the refusal.`,
  ],
  ['a file of another user', { message: DENIED }, `This user may not read it: chmod a+r ${whole}`],
  [
    'an architecture without a binary',
    { path: null, arch: 'riscv64', message: '' },
    `umaprobe ships binaries for x64 and arm64; this is riscv64. ${SOURCE}`,
  ],
  ['a file that cannot be mapped, without noexec', { message: UNMAPPED }, SOURCE],
  ['what nobody foresaw', { message: 'undefined symbol: napi_new' }, SOURCE],
];

it.each(CASES)('%s', (_, load, sentence) => {
  expect(explainFailedLoad({ ...LOADS, ...load })).toBe(sentence);
});

it.each([
  ['whole', library(), null],
  [
    'cut off',
    library({ cut: 1000 }),
    'it is damaged: it has 3096 bytes, and its header says 4096: install umaprobe again',
  ],
  [
    'of another processor',
    library({ machine: 183 }),
    'it is for arm64, and this Node is for x64: install umaprobe on this machine, and copy no node_modules',
  ],
  ['of text', new URL(import.meta.url).pathname, 'it is no library: install umaprobe again'],
  ['that cannot be read', join(folder, 'nothing'), null],
])('a file %s', (_, path, sentence) => {
  expect(whyUnfit(path, 'x64')).toBe(sentence);
});
