/** Why the native binary does not load, and what helps. */

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemText } from '../../base/system-file.ts';

/** A load that failed, and what is known about the process and the machine; tests give other ones. */
export interface FailedLoad {
  /** The file; null: none was found. */
  path: string | null;
  /** Folder of the package. */
  root: string;
  /** The loader's words, and Node's code of the error. */
  message: string;
  code: string | undefined;
  platform: string;
  arch: string;
  /** Node's own arguments, with those of NODE_OPTIONS. */
  options: string;
  /** Whether Node's permission model lets this process read the file; null: the model is off. */
  mayRead: ((file: string) => boolean) | null;
  /** The file that the permission model did not let Node read; null: none. */
  denied: string | null;
  /** Version of glibc; null: another C library. */
  glibc: string | null;
  /** /proc/self/mountinfo, empty if it cannot be read. */
  mounts: string;
  /** Whether SELinux enforces its policy. */
  selinux: boolean;
}

/**
 * Why a file is not loaded at all: it is no library, is cut off (the loader would read behind its end, which ends the
 * process), or is for another processor. null: the loader decides.
 */
export function whyUnfit(path: string, arch: string = process.arch): string | null {
  const elf = readElf(path);
  if (elf === null) return null;
  if (!elf.isElf) return 'it is no library: install umaprobe again';
  if (elf.size < elf.least)
    return `it is damaged: it has ${elf.size} bytes, and its header says ${elf.least}: install umaprobe again`;
  if (elf.arch === arch) return null;
  return `it is for ${elf.arch}, and this Node is for ${arch}: install umaprobe on this machine, and copy no node_modules`;
}

interface Permission {
  has(scope: string, reference?: string): boolean;
}

/** The load of `path` that ended with `error`. */
export function failedLoad(path: string | null, root: string, error: unknown): FailedLoad {
  const { code, message, resource } = error as NodeJS.ErrnoException & { resource?: string };
  const { permission } = process as { permission?: Permission };
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return {
    path,
    root,
    message,
    code,
    platform: process.platform,
    arch: process.arch,
    options: [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' '),
    mayRead: permission === undefined ? null : (file) => permission.has('fs.read', file),
    denied: code === 'ERR_ACCESS_DENIED' ? (resource ?? null) : null,
    glibc: report?.header?.glibcVersionRuntime ?? null,
    mounts: systemText('/proc/self/mountinfo'),
    selinux: systemText('/sys/fs/selinux/enforce').trim() === '1',
  };
}

/** One sentence with the cause and one with the remedy. */
export function explainFailedLoad(load: FailedLoad): string {
  for (const cause of CAUSES) {
    const sentence = cause(load);
    if (sentence !== null) return sentence;
  }
  return buildCommand(load.root);
}

/** In the order in which they hide one another: the first that answers is the cause. */
const CAUSES: readonly ((load: FailedLoad) => string | null)[] = [
  ofPlatform,
  ofNodeOptions,
  ofPermission,
  ofMusl,
  ofGlibc,
  ofMount,
  ofSelinux,
  ofOwner,
  ofArchitecture,
];

function ofPlatform({ platform }: FailedLoad): string | null {
  if (platform === 'linux') return null;
  return `umaprobe reads the memory of Linux machines; on ${platform} it has nothing to read.`;
}

function ofNodeOptions({ code, options, mayRead }: FailedLoad): string | null {
  if (code !== 'ERR_DLOPEN_DISABLED') return null;
  if (/--no-addons\b/.test(options) || mayRead === null)
    return 'Node was started with --no-addons, which forbids every addon: start it without, also in NODE_OPTIONS.';
  return "Node's permission model forbids addons: add --allow-addons.";
}

function ofPermission({ path, root, mayRead, denied }: FailedLoad): string | null {
  const folder = join(root, '/');
  const needed = path ?? join(root, 'prebuilds');
  const file = denied ?? (mayRead === null || mayRead(needed) ? null : needed);
  if (file === null) return null;
  const allowed = file.startsWith(folder) ? folder : file;
  return `Node's permission model does not let this process read ${file}: add --allow-fs-read=${allowed}`;
}

function ofMusl({ glibc }: FailedLoad): string | null {
  if (glibc !== null) return null;
  return 'umaprobe needs glibc, as the NVIDIA driver does; this is a musl system (Alpine): use a Debian, Ubuntu or Red Hat image.';
}

function ofGlibc({ message, glibc, root }: FailedLoad): string | null {
  const needed = /\bGLIBC_([\d.]+)' not found/.exec(message)?.[1];
  if (needed === undefined) return null;
  return `It needs glibc ${needed}, and this system has ${glibc}. ${buildCommand(root)}`;
}

function ofMount({ path, mounts, message }: FailedLoad): string | null {
  if (path === null || !/failed to map segment|Operation not permitted|EACCES/.test(message)) return null;
  const mount = mountOf(path, mounts);
  if (!mount?.options.includes('noexec')) return null;
  return (
    `${mount.point} is mounted with noexec, and nothing can be loaded from there: install umaprobe on another file ` +
    `system, or allow it (mount -o remount,exec ${mount.point}).`
  );
}

function ofSelinux({ path, message, selinux }: FailedLoad): string | null {
  if (path === null || !selinux || !/Permission denied/.test(message)) return null;
  return (
    `SELinux refused it: restorecon -Rv ${dirname(path)} gives the files their labels again, and ` +
    'ausearch -m avc -ts recent shows the refusal.'
  );
}

function ofOwner({ path, message }: FailedLoad): string | null {
  if (path === null || !/Permission denied/.test(message)) return null;
  return `This user may not read it: chmod a+r ${path}`;
}

function ofArchitecture({ arch, root }: FailedLoad): string | null {
  if (arch === 'x64' || arch === 'arm64') return null;
  return `umaprobe ships binaries for x64 and arm64; this is ${arch}. ${buildCommand(root)}`;
}

/** Names the package's folder, so that it works from every folder and with every package manager. */
function buildCommand(root: string): string {
  const script = join(root, 'scripts', 'native-build.mjs');
  // The standalone file has no such script.
  if (!existsSync(script)) return 'The package of npm can be built from source.';
  return `With a C++17 compiler, build it from source: node ${/^[\w@%+=:,./-]+$/.test(script) ? script : `'${script}'`}`;
}

/** Names of Node for e_machine of elf(5). */
const MACHINES: Readonly<Record<number, string>> = { 3: 'ia32', 40: 'arm', 62: 'x64', 183: 'arm64', 243: 'riscv64' };

/**
 * The size that a file has and the least that its ELF header says, and the processor that it is for. null: it cannot be
 * read.
 */
function readElf(path: string): { isElf: boolean; size: number; least: number; arch: string } | null {
  const HEADER = 64;
  const header = Buffer.alloc(HEADER);
  let size: number;
  try {
    const file = openSync(path, 'r');
    try {
      size = fstatSync(file).size;
      readSync(file, header, 0, HEADER, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
  const isElf = size >= HEADER && header.readUInt32BE(0) === 0x7f454c46;
  // e_shoff, e_shentsize and e_shnum: the section headers are at the end of a file that was linked.
  const least = Number(header.readBigUInt64LE(40)) + header.readUInt16LE(58) * header.readUInt16LE(60);
  const machine = header.readUInt16LE(18);
  return { isElf, size, least, arch: MACHINES[machine] ?? `processor ${machine}` };
}

/** The mount whose folder is the longest that has the path in it. */
function mountOf(path: string, mounts: string): { point: string; options: string[] } | null {
  let found: { point: string; options: string[] } | null = null;
  for (const line of mounts.split('\n')) {
    const words = line.split(' ');
    // A space is written as \040.
    const point = words[4]?.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (point === undefined || !(path === point || path.startsWith(point === '/' ? point : `${point}/`))) continue;
    // Of two at one place the later one is above.
    if (found === null || point.length >= found.point.length) found = { point, options: words[5]?.split(',') ?? [] };
  }
  return found;
}
