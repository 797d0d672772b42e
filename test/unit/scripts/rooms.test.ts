/** The rooms are checked: a file that breaks a rule of scripts/rooms.mjs is found, with a sentence, room by room. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { breachesOf, includeCircles } from '../../../scripts/house-rules.mjs';
import {
  biomeRooms,
  DOORS,
  FOLDERS,
  LIB_ROOMS,
  LIB_ROOT,
  NATIVE_ROOMS,
  PACKAGE_DOORS,
} from '../../../scripts/rooms.mjs';
import { root } from '../../../scripts/run.mjs';

const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const rooms: Record<string, string[]> = LIB_ROOMS;
const doors: Record<string, string[]> = DOORS;
const folders: Record<string, string[]> = FOLDERS;
const names = Object.keys(rooms);
const nativeRooms: Record<string, string[]> = NATIVE_ROOMS;

/** The wing of a room: its first folder. Of native, js and what has no folder of a wing are one each. */
const wingOf = (room: string) => room.split('/')[0] ?? '';
const nativeWingOf = (room: string) =>
  room.includes('/') ? `native/${wingOf(room)}` : room === 'js' ? 'native/js' : 'native';

/** Wing → the other wings that its rooms may import. */
function wingsOf(table: Record<string, string[]>, wing: (room: string) => string): Record<string, string[]> {
  const wings: Record<string, string[]> = {};
  for (const [room, may] of Object.entries(table)) {
    const others = may.map(wing).filter((other) => other !== wing(room));
    wings[wing(room)] = [...new Set([...(wings[wing(room)] ?? []), ...others])];
  }
  return wings;
}
/** Entry points of the package, which no room may import; `sim run` alone starts as the library does. */
const ENTRY_POINTS = LIB_ROOT.filter((file) => file !== 'root.ts' && file !== 'sim.ts');
const packageDoors = Object.entries(PACKAGE_DOORS);

/** A file of a room that may be imported from outside: a door, or any file of a library. */
const entry = (room: string) => `${room}/${doors[room]?.[0] ?? 'some-file'}.ts`;
const importing = (paths: readonly string[]) =>
  paths.map((path, at) => `import { x as x${at} } from '${path}';`).join('\n') +
  `\nexport const all = [${paths.map((_, at) => `x${at}`)}];\n`;

interface Diagnostic {
  category: string;
  message: string;
  location: { path: string; start: { line: number } };
}

/** What Biome says of a tree in which each room has a file of its forbidden imports, a line for each, and one of the allowed. */
function lintTree(): Diagnostic[] {
  const tree = mkdtempSync(join(tmpdir(), 'umaprobe-rooms-'));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  for (const file of ['biome.json', 'package.json']) cpSync(join(root, file), join(tree, file));
  write('biome.rooms.json', biomeRooms());
  for (const room of names) {
    const others = names.filter((other) => other !== room);
    const allowed = others.filter((other) => rooms[room]?.includes(other));
    const closed = allowed.filter((other) => doors[other] !== undefined).map((other) => `${other}/behind-the-door.ts`);
    const forbidden = [...others.filter((other) => !allowed.includes(other)).map(entry), ...closed, ...ENTRY_POINTS];
    const [folder] = folders[room] ?? [];
    for (const from of folder === undefined ? [room] : [room, `${room}/${folder}`]) {
      const own = from === room ? ['./own.ts'] : ['./own.ts', '../own.ts'];
      write(`lib/${from}/allowed.ts`, importing([...own, ...allowed.map((other) => relative(from, entry(other)))]));
      write(`lib/${from}/forbidden.ts`, importing(forbidden.map((path) => relative(from, path))));
    }
  }
  for (const [door] of packageDoors) write(`lib/${door}.ts`, importing(names.map((room) => `./${entry(room)}`)));
  write('lib/core/memory/one.ts', "import { two } from './two.ts';\nexport const one = () => two();\n");
  write('lib/core/memory/two.ts', "import { one } from './one.ts';\nexport const two = (): unknown => one();\n");
  write('lib/models/files/one.ts', "import { two } from './two.ts';\nexport interface One {\n  two: typeof two;\n}\n");
  write('lib/models/files/two.ts', "import type { One } from './one.ts';\nexport const two = (one: One) => one;\n");
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', 'lib'];
  let report: string;
  try {
    report = execFileSync(process.execPath, [biome, ...args], { cwd: tree, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    report = (error as { stdout: string }).stdout;
  }
  return (JSON.parse(report) as { diagnostics: Diagnostic[] }).diagnostics;
}

/** The floor of a wing, or of a room: above those of all that it may import. */
const floorOf = (table: Record<string, string[]>, room: string, above: readonly string[] = []): number => {
  if (above.includes(room)) throw new Error(`a circle of rooms: ${[...above, room].join(' → ')}`);
  return 1 + Math.max(0, ...(table[room] ?? []).map((other) => floorOf(table, other, [...above, room])));
};

describe('the rooms of lib', () => {
  let diagnostics: Diagnostic[] = [];
  beforeAll(() => {
    diagnostics = lintTree();
  });
  const restricted = (path: RegExp) =>
    diagnostics.filter(
      ({ category, location }) => category === 'lint/style/noRestrictedImports' && path.test(location.path),
    );

  it.each(names)('%s: each forbidden import is red, with the rooms that may be imported', (room) => {
    const forbidden =
      names.filter((other) => other !== room && !rooms[room]?.includes(other)).length +
      (rooms[room] ?? []).filter((other) => doors[other] !== undefined).length +
      ENTRY_POINTS.length;
    const found = restricted(new RegExp(`^lib/${room}/(\\w+/)?forbidden`));
    const places = folders[room] === undefined ? 1 : 2;
    const imports = found.map(({ location: { path, start } }) => `${path}:${start.line}`);
    expect(new Set(imports).size).toBe(places * forbidden);
    for (const { message } of found) expect(message).toContain(`lib/${room} may import`);
  });

  it.each(names)('%s: what it may import is not', (room) => {
    expect(restricted(new RegExp(`^lib/${room}/(\\w+/)?allowed`))).toEqual([]);
  });

  it.each(packageDoors)('the door lib/%s.ts exports its own wing alone', (door, wing) => {
    const lines = restricted(new RegExp(`^lib/${door}\\.ts$`)).map(({ location }) => location.start.line);
    const allowed = ['base', 'types', wing];
    const others = names.flatMap((room, at) => (allowed.includes(wingOf(room)) ? [] : [at + 1]));
    expect([...new Set(lines)].sort((a, b) => a - b)).toEqual(others);
  });

  it('have no import cycles, also none of types alone', () => {
    const cycles = diagnostics.filter(({ category }) => category === 'lint/suspicious/noImportCycles');
    const found = cycles.map(({ location }) => location.path);
    expect(found).toEqual(
      expect.arrayContaining(['lib/core/memory/one.ts', 'lib/models/files/one.ts', 'lib/models/files/two.ts']),
    );
  });

  it('of the core know no wing', () => {
    const known = names.filter((room) => room.startsWith('core/')).flatMap((room) => rooms[room] ?? []);
    expect([...new Set(known.map(wingOf))].sort()).toEqual(['base', 'core', 'types']);
  });

  it('are fourteen wings on eight floors at most, and nothing imports upwards', () => {
    const wings = wingsOf(rooms, wingOf);
    expect(Object.keys(wings).length).toBeLessThanOrEqual(14);
    expect(Math.max(...Object.keys(wings).map((wing) => floorOf(wings, wing)))).toBeLessThanOrEqual(8);
    for (const room of names) floorOf(rooms, room);
    expect(() => floorOf({ a: ['b'], b: ['c'], c: ['a'] }, 'a')).toThrow('a circle of rooms: a → b → c → a');
  });

  it('a file beside them is named', () => {
    expect(breachesOf('lib/loose.ts', '')).toEqual([expect.stringContaining('the root of lib holds doors only')]);
    expect(breachesOf('lib/attic/x.ts', '')).toEqual([expect.stringContaining('lib/attic is no room')]);
    expect(breachesOf('lib/core/x.ts', '')).toEqual([expect.stringContaining('lib/core is no room')]);
    for (const path of ['lib/index.ts', 'lib/core/memory/x.ts']) expect(breachesOf(path, '')).toEqual([]);
  });
});

describe('the rooms of native', () => {
  const table = nativeRooms;
  const all = Object.keys(table);

  it('are a core that knows no wing, and nothing includes upwards', () => {
    const wings = wingsOf(table, nativeWingOf);
    expect(wings.native).toEqual([]);
    for (const wing of Object.keys(wings)) floorOf(wings, wing);
    for (const room of all) floorOf(table, room);
  });

  it.each(all)('%s: each forbidden include is red, what it may include is not', (room) => {
    for (const other of all) {
      const found = breachesOf(`native/${room}/file.cc`, `#include "${other}/file.h"\n`);
      if (other === room || table[room]?.includes(other)) expect(found).toEqual([]);
      else
        expect(found).toEqual([
          expect.stringMatching(`native/${room} may include .*"${other}/file.h" belongs to ${other}`),
        ]);
    }
  });

  it('a circle of includes is red, with its files', () => {
    const texts = {
      'guard/a.cc': '#include "guard/a.h"\n#include "guard/c.h"\n',
      'guard/a.h': '#include <cmath>\n#include "guard/b.h"\n',
      'guard/b.h': '#include "guard/c.h"\n',
      'guard/c.h': '',
    };
    expect(includeCircles(texts)).toEqual([]);
    expect(includeCircles({ ...texts, 'guard/c.h': '#include "guard/a.h"\n' })).toEqual([
      'native/guard/a.h: a circle of includes: guard/a.h → guard/b.h → guard/c.h → guard/a.h',
    ]);
  });

  it('includes are written from native/', () => {
    expect(breachesOf('native/cuda/x.cc', '#include "runtime.h"\n')).toEqual([
      expect.stringContaining('is not written from native/'),
    ]);
  });

  it.each([
    ['native/loose.cc', '', 'the root of native holds addon.cc'],
    ['native/sim/loose.cc', '', 'native/sim holds folders only'],
    ['native/run/loose.cc', '', 'native/run holds folders only'],
    ['native/attic/x.cc', '', 'native/attic is no room'],
    ['native/pagecache/x.h', '#include <node_api.h>\n', 'only the room js knows Node-API'],
    ['native/js/path_text.h', '#include <napi.h>\n', 'only js/calls* and js/promises.h'],
  ])('%s is red', (path, text, why) => {
    expect(breachesOf(path, text)).toEqual([expect.stringContaining(why)]);
  });
});

describe('docs/architecture.md', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const [, rows = ''] = page.split('| wing | its rooms | may import |\n|---|---|---|\n');
  const said = (rows.split('\n\n')[0] ?? '')
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, wing = '', what = '', may = '']) => ({
      wing: wing.replaceAll('`', ''),
      what,
      may: may.split(' ').sort(),
    }));

  it('has the wings of the table, with what each may import', () => {
    const all = { ...wingsOf(rooms, wingOf), ...wingsOf(nativeRooms, nativeWingOf) };
    const expected = Object.entries(all).map(([wing, may]) => [wing, may.length === 0 ? ['–'] : [...may].sort()]);
    expect(said.map(({ wing, may }) => [wing.replace(/^lib\//, ''), may])).toEqual(expected);
  });

  it('names every room', () => {
    for (const room of names.filter((name) => name.includes('/'))) {
      const [wing, name] = room.split('/');
      expect(said.find((row) => row.wing === `lib/${wing}`)?.what, room).toContain(`\`${name}\``);
    }
  });

  it('has at most 900 words and one table', () => {
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(900);
    expect(page.match(/^\|---/gm)).toHaveLength(1);
  });
});
