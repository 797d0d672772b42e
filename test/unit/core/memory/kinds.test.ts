/** Facts that the library and the addon both state: the kinds of memory, and the names of status numbers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode } from '../../../../lib/base/errors.ts';
import { isEager, KINDS } from '../../../../lib/core/memory/kinds.ts';
import { ROOT } from '../../../support/root.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('the kinds of memory', () => {
  it('are the rows of native/alloc/kinds.cc, and eager where those are', () => {
    const rows = [...read('native/alloc/kinds.cc').matchAll(/\{"(\w+)", \/\*eager=\*\/(true|false),/g)];
    expect(Object.fromEntries(rows.map(([, kind, eager]) => [kind, eager === 'true']))).toEqual(
      Object.fromEntries(KINDS.map((kind) => [kind, isEager(kind)])),
    );
  });
});

describe('the status tables of base/errors.ts', () => {
  /** Name by number, as the addon gives it: constants of native/abi, names of the library's table. */
  function nativeNames(abi: string, table: string): Map<number, string> {
    const numbers = new Map(
      [...read(abi).matchAll(/\b(k\w+) = (\d+)/g)].map(([, name, number]) => [name, Number(number)]),
    );
    const rows = [...read(table).matchAll(/\{(k\w+), "(\w+)"\}/g)];
    return new Map(rows.map(([, constant, name = '']) => [numbers.get(constant) ?? -1, name]));
  }
  const rows = (table: string) => {
    const [, body = ''] =
      new RegExp(`const ${table}: StatusTable = \\{\\n(.*?)\\n\\};`, 's').exec(read('lib/base/errors.ts')) ?? [];
    return [...body.matchAll(/^ {2}(\d+): \['(\w+)', '(\w+)'\]/gm)].map(([, number, name = '', code]) => ({
      number: Number(number),
      name,
      code,
    }));
  };
  const driver = nativeNames('native/abi/cuda.h', 'native/cuda/driver.cc');
  const runtime = nativeNames('native/abi/cuda.h', 'native/cuda/runtime.cc');
  const nvml = nativeNames('native/abi/nvml.h', 'native/nvml/nvml.cc');

  it.each(rows('CUDA'))('CUDA $number is $name in the addon, too', ({ code, name, number }) => {
    expect([driver.get(number), runtime.get(number)]).toContain(name);
    expect(errorCode({ source: 'cuda', status: number, name })).toBe(code);
  });

  it.each(rows('NVML'))('NVML $number is $name in the addon, too', ({ code, name, number }) => {
    expect(`NVML_ERROR_${nvml.get(number)}`).toBe(name);
    expect(errorCode({ source: 'nvml', status: number, name: nvml.get(number) ?? '' })).toBe(code);
  });

  it('have rows', () => {
    expect(rows('CUDA').length).toBeGreaterThan(10);
    expect(rows('NVML').length).toBeGreaterThan(10);
  });
});
