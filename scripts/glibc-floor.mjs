// Links against an old glibc on a new system. A linker picks the default symbol versions of the library that it is
// given (pthread_create@GLIBC_2.34), although older versions still exist. It is therefore given stubs: libraries
// without code that export each symbol of the real glibc at its newest version up to the floor. Nothing is edited after
// linking. A symbol without an old version is provided by glibc-floor/*.c, or stays undefined and is reported by
// check-prebuilds.mjs.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dynamicSymbols } from './elf.mjs';
import { capture, root } from './run.mjs';

export const floor = '2.28'; // RHEL 8, the oldest glibc that Node 20's own binaries start on

/** [major, minor, …] of "GLIBC_2.3.4"; null for GLIBC_PRIVATE and other names without a version number. */
export function parseVersion(name) {
  const match = /^GLIBC_(\d+(?:\.\d+)+)$/.exec(name);
  return match ? match[1].split('.').map(Number) : null;
}

export function compareVersions(a, b) {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export function isAboveFloor(versionName) {
  const version = parseVersion(versionName);
  return version === null || compareVersions(version, parseVersion(`GLIBC_${floor}`)) > 0;
}

/** The entry of each symbol with the newest version up to the floor; symbols newer than the floor are left out. */
export function symbolsAtFloor(symbols) {
  const chosen = new Map();
  for (const symbol of symbols) {
    if (!symbol.defined || symbol.version === null || isAboveFloor(symbol.version)) continue;
    if (symbol.name === symbol.version) continue; // the version's own marker
    const best = chosen.get(symbol.name);
    if (!best || compareVersions(parseVersion(symbol.version), parseVersion(best.version)) > 0) {
      chosen.set(symbol.name, symbol);
    }
  }
  return [...chosen.values()];
}

const elfTypes = { OBJECT: '%object', TLS: '%tls_object' };

/** Assembler text and version script of a library that exports the symbols without code. */
export function stubSources(symbols) {
  const lines = ['.section .note.GNU-stack,"",%progbits', '.data'];
  const versions = new Map();
  symbols.forEach((symbol, i) => {
    const type = elfTypes[symbol.type] ?? '%function';
    lines.push(`.globl stub_${i}`, `.type stub_${i},${type}`, `.size stub_${i},${symbol.size}`, `stub_${i}: .byte 0`);
    lines.push(`.symver stub_${i},${symbol.name}@@${symbol.version}`);
    versions.set(symbol.version, true);
  });
  const script = [...versions.keys()].map((version) => `${version} {};`).join('\n');
  return { assembler: `${lines.join('\n')}\n`, script: `${script}\n` };
}

/** Absolute path of one of the compiler's files, such as a library or an archive. */
function fileOf(compiler, name) {
  const path = capture(compiler, [`-print-file-name=${name}`]).trim();
  if (path === name) throw new Error(`${compiler} has no ${name}: is its C library for development installed?`);
  return path;
}

function writeStub(compiler, folder, soname, symbols) {
  const { assembler, script } = stubSources(symbols);
  const source = join(folder, `${soname}.s`);
  writeFileSync(source, assembler);
  writeFileSync(`${source}.map`, script);
  const versioned = symbols.length > 0 ? [`-Wl,--version-script=${source}.map`] : [];
  const args = ['-shared', '-nostdlib', '-Wl,--hash-style=gnu', `-Wl,-soname,${soname}`, ...versioned];
  capture(compiler, [...args, source, '-o', join(folder, soname)]);
}

/**
 * Parts of glibc that were separate libraries before 2.34. They are always linked, used or not: the stub of libc
 * exports their symbols, and the loader searches every loaded library for name and version.
 */
const formerLibraries = ['libpthread.so.0', 'libdl.so.2', 'librt.so.1'];

/**
 * Writes the stubs for linking against glibc at the floor into `folder`, and returns the linker flags that use them.
 * tools: {cc, ar}; loader: the file name of the architecture's dynamic loader.
 */
export function writeGlibcFloor(folder, { cc, ar }, loader) {
  mkdirSync(folder, { recursive: true });
  for (const soname of ['libc.so.6', 'libm.so.6', loader]) {
    writeStub(cc, folder, soname, symbolsAtFloor(dynamicSymbols(fileOf(cc, soname))));
  }
  for (const soname of formerLibraries) writeStub(cc, folder, soname, []);
  const shims = join(root, 'scripts', 'glibc-floor');
  const cFlags = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-fPIC', '-fvisibility=hidden'];
  const objects = readdirSync(shims)
    .filter((file) => file.endsWith('.c'))
    .map((file) => {
      const object = join(folder, `${basename(file, '.c')}.o`);
      capture(cc, [...cFlags, '-c', join(shims, file), '-o', object]);
      return object;
    });
  const archive = join(folder, 'libglibcfloor.a');
  capture(ar, ['rcs', archive, ...objects]);
  const c = [archive, join(folder, 'libc.so.6'), fileOf(cc, 'libc_nonshared.a')].join(' ');
  writeFileSync(join(folder, 'libc.so'), `GROUP ( ${c} AS_NEEDED ( ${join(folder, loader)} ) )\n`);
  writeFileSync(join(folder, 'libm.so'), `INPUT ( ${join(folder, 'libm.so.6')} )\n`);
  const always = formerLibraries.map((soname) => join(folder, soname)).join(',');
  return [`-L${folder}`, `-Wl,--push-state,--no-as-needed,${always},--pop-state`];
}
