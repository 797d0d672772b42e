import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foreignVariables } from '../../../lib/core/native/machine-environment.ts';
import { createLibraryFolder } from '../../../lib/sim/environment.ts';
import { findJsonMistake } from '../../../lib/sim/json.ts';
import { loadMachine, shippedMachines, shippedNames } from '../../../lib/sim/load.ts';
import { flatten } from '../../../lib/sim/machine.ts';
import type { Machine } from '../../../lib/types/index.ts';
import { ROOT } from '../../support/root.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'umaprobe-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

describe('shipped machines', () => {
  it('has gb10 and lists each with its facts', () => {
    expect(shippedNames()).toContain('gb10');
    for (const { name, description, total, devices } of shippedMachines()) {
      expect(name).toMatch(/^[a-z0-9-]+$/);
      expect(description).not.toBe('');
      expect(total).toBeGreaterThan(0);
      expect(Array.isArray(devices)).toBe(true);
    }
  });

  it.each(shippedNames())('%s matches the schema and is named like its file', (name) => {
    expect(loadMachine(join(ROOT, `lib/machines/${name}.json`))).toEqual(loadMachine(name));
    expect(loadMachine(name).name).toBe(name);
  });
});

describe('a machine of the user', () => {
  it('extends a shipped one: objects are merged, arrays replaced', () => {
    const file = write('mine.json', { extends: 'gb10', name: 'mine', memory: { anon: 1048576 }, devices: [] });
    const mine = loadMachine(file);
    const gb10 = loadMachine('gb10');
    expect(mine.name).toBe('mine');
    expect(mine.memory).toEqual({ ...(gb10.memory as object), anon: 1048576 });
    expect(mine.devices).toEqual([]);
    expect(mine).not.toHaveProperty('extends');
  });

  it('extends a file beside it, also through a symlink', () => {
    mkdirSync(join(folder, 'sub'), { recursive: true });
    write('base.json', { extends: 'gb10', name: 'base' });
    writeFileSync(join(folder, 'sub', 'top.json'), JSON.stringify({ extends: '../base.json', name: 'top' }));
    symlinkSync(join(folder, 'sub', 'top.json'), join(folder, 'sub', 'link.json'));
    expect(loadMachine(join(folder, 'sub', 'link.json')).name).toBe('top');
  });

  it.each<[string, unknown, RegExp]>([
    [
      'field.json',
      { extends: 'gb10', name: 'x', memory: { total: '128GB' } },
      /field\.json: memory\.total is "128GB"; expected integer/,
    ],
    [
      'unknown.json',
      { extends: 'gb10', name: 'x', memory: { totl: 1 } },
      /unknown\.json: memory\.totl is not a field of a machine; expected one of total, /,
    ],
    [
      'inside.json',
      { extends: 'gb10', name: 'x', devices: [{ name: 'x' }] },
      /inside\.json: devices\.0\.\w+ is missing/,
    ],
    ['missing.json', { schema: 'umaprobe/machine/1', name: 'x', description: 'y' }, /missing\.json: \w+ is missing\./],
    [
      'version.json',
      { extends: 'gb10', name: 'x', schema: 'umaprobe/machine/2' },
      /schema is "umaprobe\/machine\/2"; expected "umaprobe\/machine\/1"/,
    ],
    ['number.json', { extends: 'gb10', name: 'x', schema: 5 }, /schema is 5; expected "umaprobe\/machine\/1"\.$/],
    [
      'range.json',
      { extends: 'gb10', name: 'x', kernel: { orders: 17 } },
      /kernel\.orders is 17; expected a value that must be <= 16 \(Number of columns of \/proc\/buddyinfo: 11 upstream, 14 on the/,
    ],
    [
      'words.json',
      { extends: 'gb10', name: 'x', kernel: { pageSize: 8192 } },
      /kernel\.pageSize is 8192; expected one of 4096, 16384, 65536\.$/,
    ],
    ['proto.json', '{"extends":"gb10","name":"x","__proto__":{"a":1}}', /__proto__ is not a field/],
    ['list.json', [1], /expected a JSON object/],
    ['null.json', null, /expected a JSON object/],
    ['base.json', { extends: 'gb11', name: 'x' }, /base\.json: extends: There is no simulated machine "gb11"/],
    ['number.json', { extends: 5 }, /extends is 5; expected the name or file/],
    ['circle.json', { extends: './circle.json' }, /is circular/],
    [
      'comma.json',
      '{\n  "name": "x",\n}',
      /comma\.json:3:1: is not JSON: expected a field name in double quotes, found "}"\./,
    ],
    ['empty.json', '', /empty\.json:1:1: is not JSON: expected a value, found the end of the file\./],
  ])('%s is refused in one line', (name, content, message) => {
    const file = write(name, content);
    expect(() => loadMachine(file)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE', message: expect.stringMatching(message) }),
    );
    expect(() => loadMachine(file)).not.toThrow(/\n/);
  });

  describe('with fields that fit only together', () => {
    const point = { afterMs: 0, bytes: 1 };
    const load = (what: string, changes: object) =>
      loadMachine(write(`${what}.json`, { extends: 'gb10-busy', name: 'x', ...changes }));

    it.each<[string, object, string]>([
      ['anon', {}, 'events.0.bytes is missing.'],
      ['device', { bytes: 1 }, 'events.0.process is missing.'],
      ['free', { process: 'p' }, 'events.0.bytes is missing.'],
      ['exit', {}, 'events.0.process is missing.'],
      ['oomKill', {}, 'events.0.process is missing.'],
      ['lost', {}, 'events.0.device is missing.'],
      ['pressure', { overMs: 1 }, 'events.0.percent is missing.'],
      ['pressure', { percent: 1 }, 'events.0.overMs is missing.'],
      ['slab', { bytes: 1, repeatMs: 1 }, 'events.0.points is missing.'],
      [
        'shmem',
        { bytes: 1, overMs: 1, bytesPerSecond: 1 },
        'events.0 has both overMs and bytesPerSecond; expected one',
      ],
      ['anon', { bytes: 1, points: [point] }, 'events.0 has both points and bytes; expected one of them.'],
      ['anon', { overMs: 1, points: [point] }, 'events.0 has both points and overMs; expected one of them.'],
      ['pressure', { percent: 1, points: [point] }, 'events.0 has both points and percent; expected one of them.'],
      ['fileDirty', { bytes: 1, points: [point] }, 'events.0.what is "fileDirty"; expected one of "anon", "shmem", '],
      ['anon', { points: [point, { afterMs: 1 }] }, 'events.0.points.1.bytes is missing.'],
      ['anon', { points: [{ ...point, percent: 1 }] }, 'events.0.points.0 has both bytes and percent; expected one'],
    ])('an event: %s %j', (what, fields, message) => {
      const good = { atMs: 0, what: 'fileCache', bytes: 1, bytesPerSecond: 1 };
      expect(
        load(what, { events: [good, { atMs: 0, what: 'anon', points: [point], repeatMs: 1 }] }).events,
      ).toHaveLength(2);
      expect(() => load(what, { events: [{ atMs: 0, what, ...fields }, good] })).toThrow(`${what}.json: ${message}`);
    });

    it.each<[object, string]>([
      [{ text: '', error: 'EIO' }, 'text and error'],
      [{ text: '', missing: false }, 'text and missing'],
      [{ error: 'EIO', missing: true }, 'missing and error'],
    ])('a file: %j', (fields, names) => {
      const good = { path: '/proc/meminfo', hangMs: 1 };
      expect(load('files', { files: [good] }).files).toEqual([good]);
      expect(() => load('files', { files: [good, { ...good, ...fields }] })).toThrow(
        `files.json: files.1 has both ${names}; expected one of them.`,
      );
    });
  });

  it('refuses a path that is not a machine file without reading it', () => {
    const large = write('large.json', '');
    truncateSync(large, 2 ** 30);
    expect(() => loadMachine(large)).toThrow('at most 1,048,576 are read');
    expect(() => loadMachine(join(folder, 'none.json'))).toThrow(
      'none.json": there is no such file or folder (ENOENT 2)',
    );
    expect(() => loadMachine(`${folder}/`)).toThrow('it is a folder; name a file');
    execFileSync('mkfifo', [join(folder, 'fifo.json')]);
    expect(() => loadMachine(join(folder, 'fifo.json'))).toThrow('it is no regular file');
    expect(() => loadMachine('gb1')).toThrow(/There is no simulated machine "gb1"\. Did you mean gb10\?/);
  });
});

describe('the flat description', () => {
  const machine = (rest: object) =>
    ({ schema: 'umaprobe/machine/1', name: 'x', description: 'a b', ...rest }) as Machine;

  it('has a line for each leaf, none for null', () => {
    expect(
      flatten(
        machine({
          memory: { total: 128518619136, swap: null },
          devices: [{ name: 'A B', ok: true }],
          faults: { missing: ['x', 'y'] },
        }),
      ),
    ).toBe(
      'schema umaprobe/machine/1\nname x\ndescription a b\nmemory.total 128518619136\ndevices.0.name A B\ndevices.0.ok true\nfaults.missing.0 x\nfaults.missing.1 y\n',
    );
  });

  it('refuses a value that would start another line', () => {
    expect(() => flatten(machine({ driver: { version: '1\nmemory.total 5' } }))).toThrow(
      /driver\.version .* on one line/,
    );
  });
});

describe('where JSON is wrong', () => {
  it('agrees with JSON.parse on every text', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '01',
      '1.',
      'true',
      'nul',
      'null',
      ' ',
      '\n',
      '"\\u00e4"',
      '"\\x"',
      '"\t"',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
        ),
        (text) => {
          let valid = true;
          try {
            JSON.parse(text);
          } catch {
            valid = false;
          }
          expect(findJsonMistake(text) === null).toBe(valid);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['{"a": 1 "b": 2}', 1, 9, 'expected ",", found "\\""'],
    ['[1,\n 2,\n x]', 3, 2, 'expected a value, found "x"'],
    ['{"a": 01}', 1, 8, 'expected ",", found "1"'],
    ['{a: 1}', 1, 2, 'expected a field name in double quotes, found "a"'],
    ['{"a": "b\n"}', 1, 7, 'expected a string that ends on its line, found "\\""'],
    ['{} {}', 1, 4, 'expected the end of the file, found "{"'],
    ['{"a"', 1, 5, 'expected ":", found the end of the file'],
  ])('%j', (text, line, column, problem) => {
    expect(findJsonMistake(text)).toEqual({ line, column, problem });
  });

  it('does not overflow on deep nesting', () => {
    expect(findJsonMistake('['.repeat(100_000))?.problem).toContain('less nesting');
  });
});

describe('the environment of another program', () => {
  const gb10 = loadMachine('gb10');
  const machine = (missingLibraries: Machine['faults']['missingLibraries']): Machine => ({
    ...gb10,
    faults: { ...gb10.faults, missingLibraries },
  });

  /** "name → the file it links to" of each link in the folder of a machine. */
  const links = (of: Machine): string[] => {
    const libraries = createLibraryFolder(of, mkdtempSync(join(folder, 'state-')), '/lib/libumasim.so');
    return readdirSync(libraries)
      .sort()
      .map((name) => `${name} → ${readlinkSync(join(libraries, name))}`);
  };

  it('links NVIDIA’s libraries to the simulator, and each libcudart to that of its version', () => {
    expect(links(machine([]))).toEqual([
      'libcuda.so → /lib/libumasim.so',
      'libcuda.so.1 → /lib/libumasim.so',
      'libcudart.so → /lib/libumasim-cudart13.so',
      'libcudart.so.11.0 → /lib/libumasim-cudart11.so',
      'libcudart.so.12 → /lib/libumasim-cudart12.so',
      'libcudart.so.13 → /lib/libumasim-cudart13.so',
      'libnvidia-ml.so → /lib/libumasim.so',
      'libnvidia-ml.so.1 → /lib/libumasim.so',
      'libumasim.so → /lib/libumasim.so',
    ]);
  });

  it('leaves out the libraries that the machine lacks', () => {
    expect(links(machine(['nvml', 'cuda', 'cudart']))).toEqual(['libumasim.so → /lib/libumasim.so']);
  });

  it.each([
    [11_080, 11],
    [12_060, 12],
    [13_010, 13],
    [14_000, 13],
    [10_020, 11],
  ])('libcudart.so of a machine with runtime %i is that of CUDA %i', (runtimeVersion, version) => {
    expect(links({ ...gb10, driver: { ...gb10.driver, runtimeVersion } })).toContain(
      `libcudart.so → /lib/libumasim-cudart${version}.so`,
    );
  });

  it('prepends to existing variables', () => {
    const before = { LD_LIBRARY_PATH: '/a', LD_PRELOAD: '/b', PATH: '/c' };
    expect(foreignVariables('/m', '/s/libumasim.so', true, before)).toEqual({
      LD_LIBRARY_PATH: '/m/lib:/a',
      LD_PRELOAD: '/m/lib/libumasim.so:/b',
      PATH: '/m/bin:/c',
    });
    expect(foreignVariables('/m', '/s/libumasim.so', false, { LD_LIBRARY_PATH: '' })).toEqual({
      LD_LIBRARY_PATH: '/m/lib',
      PATH: '/m/bin:/bin:/usr/bin',
    });
  });

  it('preloads by a path that the loader does not split, or refuses', () => {
    const variables = foreignVariables('/run/user/0/m', '/home/a b:c/libumasim.so', true, {});
    expect(variables.LD_PRELOAD).toBe('/run/user/0/m/lib/libumasim.so');
    for (const path of ['/my files', '/a:b', '/a;b', '/tab\t']) {
      expect(() => foreignVariables(path, '/s/libumasim.so', true, {})).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_VALUE',
          message: expect.stringMatching(/^The folder of simulated machines is .*Set XDG_RUNTIME_DIR or TMPDIR/),
        }),
      );
    }
  });
});
