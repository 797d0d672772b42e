/** The rooms are checked: a file that breaks a rule of scripts/rooms.mjs is found, with a sentence, room by room. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { breachesOf, includeCircles } from '../../../scripts/house-rules.mjs';
import { biomeRooms, DOORS, FOLDERS, LIB_ROOMS, NATIVE_ROOMS } from '../../../scripts/rooms.mjs';
import { root } from '../../../scripts/run.mjs';

const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const rooms: Record<string, string[]> = LIB_ROOMS;
const doors: Record<string, string[]> = DOORS;
const folders: Record<string, string[]> = FOLDERS;
const names = Object.keys(rooms);
/** Entry points of the package, which no room may import. */
const ENTRY_POINTS = ['index.ts', 'cli.ts', 'worker.ts'];

/** A file of a room that may be imported from outside: a door, or any file of a library. */
const entry = (room: string) => `${room}/${doors[room]?.[0] ?? 'some-file'}.ts`;
const importing = (paths: readonly string[]) =>
  paths.map((path, at) => `import { x as x${at} } from '${path}';`).join('\n') +
  `\nexport const all = [${paths.map((_, at) => `x${at}`)}];\n`;

interface Diagnostic {
  category: string;
  message: string;
  location: { path: string };
}

/** What Biome says of a tree in which each room has a file with every forbidden import, and one with every allowed one. */
function lintTree(): Diagnostic[] {
  const tree = mkdtempSync(join(tmpdir(), 'umaprobe-rooms-'));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  for (const file of ['biome.json', 'biome.rooms.json', 'package.json']) cpSync(join(root, file), join(tree, file));
  for (const room of names) {
    const others = names.filter((other) => other !== room);
    const allowed = others.filter((other) => rooms[room]?.includes(other));
    const closed = allowed.filter((other) => doors[other] !== undefined).map((other) => `${other}/behind-the-door.ts`);
    const forbidden = [...others.filter((other) => !allowed.includes(other)).map(entry), ...closed, ...ENTRY_POINTS];
    const [folder] = folders[room] ?? [];
    write(`lib/${room}/allowed.ts`, importing(['./own.ts', ...allowed.map((other) => `../${entry(other)}`)]));
    if (folder !== undefined) {
      const paths = ['./own.ts', '../own.ts', ...allowed.map((other) => `../../${entry(other)}`)];
      write(`lib/${room}/${folder}/allowed.ts`, importing(paths));
    }
    for (const [at, path] of forbidden.entries()) {
      write(`lib/${room}/forbidden-${at}.ts`, importing([`../${path}`]));
      if (folder !== undefined) write(`lib/${room}/${folder}/forbidden-${at}.ts`, importing([`../../${path}`]));
    }
  }
  write('lib/memory/one.ts', "import { two } from './two.ts';\nexport const one = () => two();\n");
  write('lib/memory/two.ts', "import { one } from './one.ts';\nexport const two = (): unknown => one();\n");
  write('lib/models/one.ts', "import { two } from './two.ts';\nexport interface One {\n  two: typeof two;\n}\n");
  write('lib/models/two.ts', "import type { One } from './one.ts';\nexport const two = (one: One) => one;\n");
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', 'lib'];
  let report: string;
  try {
    report = execFileSync(process.execPath, [biome, ...args], { cwd: tree, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    report = (error as { stdout: string }).stdout;
  }
  return (JSON.parse(report) as { diagnostics: Diagnostic[] }).diagnostics;
}

describe('the rooms of lib', () => {
  let diagnostics: Diagnostic[] = [];
  beforeAll(() => {
    diagnostics = lintTree();
  });
  const restricted = (path: RegExp) =>
    diagnostics.filter(
      ({ category, location }) => category === 'lint/style/noRestrictedImports' && path.test(location.path),
    );

  it('are what biome.rooms.json says', () => {
    expect(readFileSync(join(root, 'biome.rooms.json'), 'utf8')).toBe(biomeRooms());
  });

  it.each(names)('%s: each forbidden import is red, with the rooms that may be imported', (room) => {
    const forbidden =
      names.filter((other) => other !== room && !rooms[room]?.includes(other)).length +
      (rooms[room] ?? []).filter((other) => doors[other] !== undefined).length +
      ENTRY_POINTS.length;
    const found = restricted(new RegExp(`^lib/${room}/(\\w+/)?forbidden`));
    const places = folders[room] === undefined ? 1 : 2;
    expect(new Set(found.map(({ location }) => location.path)).size).toBe(places * forbidden);
    for (const { message } of found) expect(message).toContain(`lib/${room} may import`);
  });

  it.each(names)('%s: what it may import is not', (room) => {
    expect(restricted(new RegExp(`^lib/${room}/(\\w+/)?allowed`))).toEqual([]);
  });

  it('have no import cycles, also none of types alone', () => {
    const cycles = diagnostics.filter(({ category }) => category === 'lint/suspicious/noImportCycles');
    const found = cycles.map(({ location }) => location.path);
    expect(found).toEqual(expect.arrayContaining(['lib/memory/one.ts', 'lib/models/one.ts', 'lib/models/two.ts']));
  });

  /** A room's floor is above those of all rooms that it may import. */
  const floorOf = (table: Record<string, string[]>, room: string, above: readonly string[] = []): number => {
    if (above.includes(room)) throw new Error(`a circle of rooms: ${[...above, room].join(' → ')}`);
    return 1 + Math.max(0, ...(table[room] ?? []).map((other) => floorOf(table, other, [...above, room])));
  };

  it('are nine floors at most, and nothing imports upwards', () => {
    expect(Math.max(...names.map((room) => floorOf(rooms, room)))).toBeLessThanOrEqual(9);
    expect(() => floorOf({ a: ['b'], b: ['c'], c: ['a'] }, 'a')).toThrow('a circle of rooms: a → b → c → a');
  });

  it('a file beside them is named', () => {
    expect(breachesOf('lib/loose.ts', '')).toEqual([expect.stringContaining('the root of lib holds doors only')]);
    expect(breachesOf('lib/attic/x.ts', '')).toEqual([expect.stringContaining('lib/attic is no room')]);
    for (const path of ['lib/index.ts', 'lib/memory/x.ts']) expect(breachesOf(path, '')).toEqual([]);
  });
});

describe('the rooms of native', () => {
  const table: Record<string, string[]> = NATIVE_ROOMS;
  const all = Object.keys(table);

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
    ['native/attic/x.cc', '', 'native/attic is no room'],
    ['native/pagecache/x.h', '#include <node_api.h>\n', 'only the room js knows Node-API'],
    ['native/js/path_text.h', '#include <napi.h>\n', 'only js/calls* and js/promises.h'],
  ])('%s is red', (path, text, why) => {
    expect(breachesOf(path, text)).toEqual([expect.stringContaining(why)]);
  });
});

describe('docs/architecture.md', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

  it.each([
    ['lib', 'may import', rooms],
    ['native', 'may include', NATIVE_ROOMS as Record<string, string[]>],
  ])('has the rooms of %s as the table has them', (_, heading, table) => {
    const [, rows = ''] = page.split(`| what lives there | ${heading} |\n|---|---|---|\n`);
    const said = rows
      .split('\n\n')[0]
      ?.split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, room, , may]) => [room?.replaceAll('`', ''), may === '–' ? [] : may?.split(' ')] as const);
    expect(said?.map(([room, may]) => [room, [...(may ?? [])].sort()])).toEqual(
      Object.entries(table).map(([room, may]) => [room, [...may].sort()]),
    );
  });

  it('names every door that is not index.ts', () => {
    for (const [room, files] of Object.entries(doors))
      for (const file of files.filter((name) => name !== 'index')) expect(page).toContain(`\`${room}/${file}.ts\``);
  });
});
