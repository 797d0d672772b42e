// What readelf says of an ELF file, as data. readelf of any architecture reads every architecture.
import { capture } from './run.mjs';

/** The dynamic symbols: {name, version, isDefault, type, bind, size, defined}; version null where there is none. */
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

/** The libraries that the file names as needed. */
export function neededLibraries(path) {
  return [...capture('readelf', ['-d', '-W', path]).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map((match) => match[1]);
}

/** The machine of the file as Node words it: "x64", "arm64", or readelf's own words. */
export function architecture(path) {
  const words = /Machine:\s+(.+)/.exec(capture('readelf', ['-h', path]))?.[1] ?? 'unknown';
  return { 'Advanced Micro Devices X86-64': 'x64', AArch64: 'arm64' }[words] ?? words;
}
