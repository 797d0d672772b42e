/** Linking against glibc 2.28 on a newer system: the chosen symbols, and the replacements of newer ones. */

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dynamicSymbols } from '../../scripts/elf.mjs';
import { isAboveFloor, stubSources, symbolsAtFloor, writeGlibcFloor } from '../../scripts/glibc-floor.mjs';
import { targets, whyNotPrebuild } from '../../scripts/prebuild.mjs';
import { ROOT } from '../support/root.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const symbol = { isDefault: true, type: 'FUNC', bind: 'GLOBAL', size: 1, defined: true };

describe('the symbols of the floor', () => {
  it('are each the newest up to it', () => {
    const chosen = symbolsAtFloor([
      { ...symbol, name: 'pthread_create', version: 'GLIBC_2.2.5' },
      { ...symbol, name: 'pthread_create', version: 'GLIBC_2.34' },
      { ...symbol, name: 'memcpy', version: 'GLIBC_2.14' },
      { ...symbol, name: 'memcpy', version: 'GLIBC_2.2.5' },
      { ...symbol, name: 'arc4random', version: 'GLIBC_2.36' },
      { ...symbol, name: '__libc_early_init', version: 'GLIBC_PRIVATE' },
      { ...symbol, name: 'GLIBC_2.14', version: 'GLIBC_2.14' },
    ]);
    expect(chosen.map(({ name, version }) => `${name}@${version}`)).toEqual([
      'pthread_create@GLIBC_2.2.5',
      'memcpy@GLIBC_2.14',
    ]);
  });

  it('compare as numbers, not as text', () => {
    expect(['GLIBC_2.4', 'GLIBC_2.28', 'GLIBC_2.3.4'].map(isAboveFloor)).toEqual([false, false, false]);
    expect(['GLIBC_2.29', 'GLIBC_2.100', 'GLIBC_PRIVATE', 'GLIBC_ABI_DT_RELR'].map(isAboveFloor)).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  it('become a library of names', () => {
    const { assembler, script } = stubSources([{ ...symbol, name: 'environ', version: 'GLIBC_2.17', type: 'OBJECT' }]);
    expect(assembler).toContain('.symver stub_0,environ@@GLIBC_2.17');
    expect(assembler).toContain('.type stub_0,%object');
    expect(script).toBe('GLIBC_2.17 {};\n');
  });
});

describe('a program linked against the floor', () => {
  const reason = whyNotPrebuild('x64');
  const folder = temporaryFolder('floor');
  let flags: string[] = [];

  beforeAll(() => {
    const { prefix, loader } = targets.x64;
    if (reason === null) flags = writeGlibcFloor(folder, { cc: `${prefix}gcc`, ar: `${prefix}ar` }, loader);
  });

  function probe(name: string, ...more: string[]): { path: string; printed: Record<string, unknown> } {
    const path = join(folder, name);
    const source = join(ROOT, 'test', 'pkg', 'glibc-floor-probe.cc');
    const options = ['-std=c++17', '-O2', '-pthread', '-static-libstdc++', '-static-libgcc', ...more, ...flags];
    execFileSync(`${targets.x64.prefix}g++`, [...options, source, '-o', path]);
    return { path, printed: JSON.parse(execFileSync(path, { encoding: 'utf8' })) };
  }

  it.for([
    ['as it is', []],
    ['where glibc has no pthread_cond_clockwait', ['-DWITHOUT_CLOCKWAIT', '-Wl,--wrap=dlsym']],
  ] as const)('works %s', ([name, options], context) => {
    if (reason !== null) context.skip(reason);
    const { path, printed } = probe(name.replaceAll(' ', '-'), ...options);
    const beyond = dynamicSymbols(path).filter((s) => !s.defined && s.version !== null && isAboveFloor(s.version));
    expect(beyond.map((s) => `${s.name}@${s.version}`)).toEqual([]);
    expect(printed).toMatchObject({ catches: true, wakes: true, random: true, isLink: true, missing: -1, shared: 2 });
    expect(printed.size).toBe(statSync(path).size);
    expect(printed.waitsMs).toBeGreaterThanOrEqual(119);
    expect(printed.waitsMs).toBeLessThan(5000);
  });
});
