// Builds the shipped binaries in prebuilds/linux-x64 and prebuilds/linux-arm64: the addon and the simulated machine.
//   node scripts/prebuild.mjs [x64] [arm64]     both unless named
// Each architecture is built in a copy under build-prebuild/, so that build/Release is not touched.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { files, problemsOf } from './check-prebuilds.mjs';
import { writeGlibcFloor } from './glibc-floor.mjs';
import { guard, nodeDir, nodeGyp, nvidiaSmi } from './native-build.mjs';
import { capture, findTool, isMain, main, root, run } from './run.mjs';
import { isCurrent, manifest, unlessCurrent } from './stale.mjs';

export const targets = {
  x64: { prefix: 'x86_64-linux-gnu-', loader: 'ld-linux-x86-64.so.2', debian: 'g++' },
  arm64: { prefix: 'aarch64-linux-gnu-', loader: 'ld-linux-aarch64.so.1', debian: 'g++-aarch64-linux-gnu' },
};

function toolsFor(arch) {
  const { prefix } = targets[arch];
  return { cc: `${prefix}gcc`, cxx: `${prefix}g++`, ar: `${prefix}ar`, strip: `${prefix}strip` };
}

/** Returns why the prebuild of this architecture cannot be made here, or null. */
export function whyNotPrebuild(arch) {
  if (process.platform !== 'linux') return `prebuilds are made on Linux, this is ${process.platform}`;
  const missing = [...Object.values(toolsFor(arch)), 'readelf', 'make', 'python3'].filter((name) => !findTool(name));
  if (missing.length === 0) return null;
  return `no ${missing.join(', ')} here (Debian: apt-get install ${targets[arch].debian} make python3)`;
}

/** Files that binding.gyp names one by one. */
const APART =
  /^(nvml\/(nvml|queries)|run\/record\/shared_readings|runtime\/thread_priority|sim\/(libcudart|programs)\/\w+)\.cc$/;

/** Rooms that are joined with one another: the first are compiled twice, the second include the same. */
const TOGETHER = [/^(base|host|machine)\//, /^(alloc|cuda|guard|pagecache)\//];

function roomOf(path) {
  const rooms = TOGETHER.find((pattern) => pattern.test(path));
  if (rooms !== undefined) return `${rooms.source.split(/[(|]/)[1]}/`;
  // The three simulated libraries use the same names.
  return path.startsWith('sim/abi/') ? `${path.split(/[_.]/)[0]}.` : `${dirname(path)}/`;
}

/** Joins sources into one for each room, which compiles the headers of the standard library once: in half the time. */
function joinRooms(native) {
  const sources = readdirSync(native, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.cc') && !APART.test(path))
    .sort();
  const joined = new Map();
  for (const path of sources) {
    const part = path.replace(/cc$/, 'part');
    renameSync(join(native, path), join(native, part));
    const file = `${roomOf(path)}room.cc`;
    joined.set(file, `${joined.get(file) ?? ''}#include "${part}"\n`);
  }
  for (const [file, text] of joined) writeFileSync(join(native, file), text);
}

async function build(arch) {
  const work = join(root, 'build-prebuild', `linux-${arch}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const path of ['native', 'binding.gyp', 'package.json'])
    cpSync(join(root, path), join(work, path), { recursive: true });
  joinRooms(join(work, 'native'));
  symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'));
  const tools = toolsFor(arch);
  const floorFlags = writeGlibcFloor(join(work, 'glibc-floor'), tools, targets[arch].loader);
  rmSync(join(root, 'prebuilds', `linux-${arch}`), { recursive: true, force: true });
  const headers = nodeDir();
  await run(
    process.execPath,
    [
      join(root, 'node_modules', 'prebuildify', 'bin.js'),
      '--napi',
      '--tag-libc',
      '--strip',
      `--strip-bin=${tools.strip}`,
      `--node-gyp=${nodeGyp()}`,
      '--name=umaprobe',
      '--target=20.19.0',
      '--platform=linux',
      `--arch=${arch}`,
      `--out=${root}`,
    ],
    {
      cwd: work,
      env: {
        ...process.env,
        CC: tools.cc,
        CXX: tools.cxx,
        AR: tools.ar,
        // Silences GCC's note on arm64 that the passing of pairs changed in version 10: no older code is linked.
        CXXFLAGS: '-Wno-psabi',
        LDFLAGS: floorFlags.join(' '),
        npm_config_jobs: 'max',
        npm_config_loglevel: 'warn',
        // Nothing is downloaded if Node's headers are here; else node-gyp downloads those of the target.
        ...(headers ? { npm_config_nodedir: headers } : {}),
      },
    },
  );
  // prebuildify takes libraries only.
  for (const name of [guard, nvidiaSmi]) {
    const program = join(root, 'prebuilds', `linux-${arch}`, name);
    copyFileSync(join(work, 'build', 'Release', name), program);
    capture(tools.strip, [program]);
    chmodSync(program, 0o755);
  }
  const problems = problemsOf(arch);
  if (problems.length > 0)
    throw new Error(`the linux-${arch} prebuild is not fit to ship:\n  ${problems.join('\n  ')}`);
}

/** The stamp lies beside the folder, so that a machine without the compiler can pack prebuilds that were copied to it. */
function outputOf(arch) {
  return {
    stamp: `prebuilds/linux-${arch}.stamp`,
    now: manifest(
      ['native', 'scripts/glibc-floor'],
      ['binding.gyp', 'scripts/prebuild.mjs', 'scripts/glibc-floor.mjs', 'node_modules/node-addon-api/package.json'],
    ),
    outputs: files.map((file) => `prebuilds/linux-${arch}/${file}`),
  };
}

/** Throws if a prebuild that is not current cannot be made here: before anything is built, because a build takes minutes. */
export function requireCompilers(architectures) {
  for (const arch of architectures.filter((name) => !isCurrent(outputOf(name)))) {
    const reason = whyNotPrebuild(arch);
    if (reason !== null) throw new Error(`prebuilds/linux-${arch} is missing or stale, and cannot be made: ${reason}`);
  }
}

/** Makes the prebuild of an architecture unless it is there and current. */
export async function prebuild(arch) {
  await unlessCurrent({
    what: `prebuilds/linux-${arch} made`,
    ...outputOf(arch),
    build: () => build(arch),
  });
}

if (isMain(import.meta.url)) {
  await main(async () => {
    const named = process.argv.slice(2);
    const unknown = named.find((arch) => !(arch in targets));
    if (unknown)
      throw new Error(`${unknown} is not a shipped architecture; expected ${Object.keys(targets).join(' or ')}`);
    const architectures = named.length > 0 ? named : Object.keys(targets);
    requireCompilers(architectures);
    for (const arch of architectures) await prebuild(arch);
  });
}
