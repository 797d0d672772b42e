// Facts of an ELF file from readelf, which reads files of every architecture.
import { capture } from './run.mjs';

/** The dynamic symbols: {name, version, isDefault, type, bind, size, defined}; version null: unversioned. */
export function dynamicSymbols(path) {
  const symbols = [];
  for (const line of capture('readelf', ['--dyn-syms', '-W', path]).split('\n')) {
    const [number, , size, type, bind, , section, full] = line.trim().split(/\s+/);
    if (!/^\d+:$/.test(number ?? '') || !full) continue;
    const [, name, at, version] = /^([^@]+)(@{1,2})?(.+)?$/.exec(full);
    symbols.push({
      name,
      version: version ?? null,
      isDefault: at === '@@',
      type,
      bind,
      size: Number(size),
      defined: section !== 'UND',
    });
  }
  return symbols;
}

/** The libraries that the file needs (DT_NEEDED). */
export function neededLibraries(path) {
  return [...capture('readelf', ['-d', '-W', path]).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map((match) => match[1]);
}

/** The architecture of the file by Node's name, "x64" or "arm64"; for others by readelf's name. */
export function architecture(path) {
  const machine = /Machine:\s+(.+)/.exec(capture('readelf', ['-h', path]))?.[1] ?? 'unknown';
  return { 'Advanced Micro Devices X86-64': 'x64', AArch64: 'arm64' }[machine] ?? machine;
}
