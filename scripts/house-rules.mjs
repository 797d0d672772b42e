// Rules of the house that no linter knows: pattern rules, a row each; what may include what in native/ and what may lie at
// the roots, by the tables of rooms.mjs, and no circle of includes (of imports: biome's noImportCycles); the length at which
// a file is asked whether it is one idea; and the wording (wording.mjs).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIB_ROOMS, LIB_ROOT, NATIVE_ROOMS, NATIVE_ROOT } from './rooms.mjs';
import { root } from './run.mjs';
import { wordingBreaches } from './wording.mjs';

/** Lines. Tables, contracts and ABI lists may be longer: they are named here, each with what it lists. */
const LONG = 500;
const MAY_BE_LONG = {
  'lib/native/contract.ts': 'every native function',
  'test/unit/launch/command-lines.ts': 'every published command line, with what it says',
};

const rules = [
  {
    why: 'only js/calls* and js/promises.h know the C++ wrapper of Node-API',
    files: /^native\/.*\.(cc|h)$/,
    except: /^native\/(addon\.cc|js\/(calls(_\w+)?\.(cc|h)|promises\.h))$/,
    pattern: /#include <napi\.h>/,
  },
  {
    why: 'only the room js knows Node-API',
    files: /^native\/.*\.(cc|h)$/,
    except: /^native\/(addon\.cc|js\/)/,
    pattern: /#include <(node_api|js_native_api)\w*\.h>/,
  },
  {
    why: 'a device is known by its attributes; its name belongs to memory/quirks.ts and lib/machines',
    files: /^lib\/.*\.ts$/,
    except: /^lib\/(memory\/quirks\.ts|machines\/)/,
    pattern: /(['"`])[^'"`]*GB10[^'"`]*\1/,
    ignoreComments: true,
  },
  {
    why: 'relative imports end in .ts',
    files: /^(browser|lib|test)\/.*\.ts$/,
    pattern: /from '\.{1,2}\/[^']*(?<!\.ts|\.json|\.mjs)';/,
  },
  {
    why: 'unfinished work is an issue, not a comment',
    files: /./,
    except: /^scripts\/house-rules\.mjs$/,
    pattern: /\b(TODO|FIXME|XXX)\b/,
  },
  { why: 'types are not switched off', files: /\.ts$/, pattern: /@ts-(ignore|nocheck)/ },
];

/** Breaches on purpose, to show that they are found. */
const examples = 'test/unit/scripts/decisions.test.ts';

const folders = ['browser', 'lib', 'native', 'scripts', 'test'];

function sources() {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => `${folder}/${name}`)
      .filter((path) => /\.(ts|mjs|cc|h|c)$/.test(path) && path !== examples),
  );
}

function withoutComment(line) {
  return line.replace(/^\s*(\/\/|\*|\/\*).*$/, '').replace(/\s\/\/ .*$/, '');
}

/** "cuda" of native/cuda/runtime.h, "sim/linux" of native/sim/linux/world.h; null at the root. */
function nativeRoom(path) {
  return /^native\/(sim\/\w+|\w+)\//.exec(path)?.[1] ?? null;
}

const INCLUDE = /^\s*#\s*include "([^"]+)"/;

/** Circles of includes, as the chain that closes each; `texts` has the files of native/ by their path there. */
export function includeCircles(texts) {
  const found = [];
  const done = new Set();
  const follow = (path, chain) => {
    if (chain.includes(path))
      found.push(`native/${path}: a circle of includes: ${[...chain.slice(chain.indexOf(path)), path].join(' → ')}`);
    if (done.has(path) || chain.includes(path)) return;
    const included = (texts[path] ?? '').split('\n').flatMap((line) => INCLUDE.exec(line)?.[1] ?? []);
    for (const other of included) follow(other, [...chain, path]);
    done.add(path);
  };
  for (const path of Object.keys(texts)) follow(path, []);
  return found;
}

/** Includes of a file of native/ that its room may not have. */
function forbiddenIncludes(path, lines) {
  const room = nativeRoom(path);
  if (!path.startsWith('native/') || room === null || room === 'sim') return [];
  const allowed = NATIVE_ROOMS[room];
  if (allowed === undefined) return [`${path}: native/${room} is no room of scripts/rooms.mjs`];
  return lines.flatMap((line, i) => {
    const included = INCLUDE.exec(line)?.[1];
    if (included === undefined) return [];
    const other = nativeRoom(`native/${included}`);
    if (other === null) return [`${path}:${i + 1}: "${included}" is not written from native/ (as "cuda/runtime.h" is)`];
    if (other === room || allowed.includes(other)) return [];
    const may = allowed.length === 0 ? 'nothing but its own files' : `its own files, ${allowed.join(', ')}`;
    return [`${path}:${i + 1}: native/${room} may include ${may}; "${included}" belongs to ${other}`];
  });
}

/** A file that lies beside the rooms instead of in one. */
function misplaced(path) {
  const [top, second, third] = path.split('/');
  if (top === 'lib' && third === undefined && !LIB_ROOT.includes(second))
    return [`${path}: the root of lib holds doors only (${LIB_ROOT.join(', ')}); a file belongs to a room`];
  if (top === 'lib' && third !== undefined && !(second in LIB_ROOMS) && second !== 'machines')
    return [`${path}: lib/${second} is no room of scripts/rooms.mjs`];
  if (top === 'native' && third === undefined && !NATIVE_ROOT.includes(second))
    return [`${path}: the root of native holds addon.cc and build files only; a file belongs to a room`];
  if (top === 'native' && second === 'sim' && path.split('/').length === 3)
    return [`${path}: native/sim holds folders only; a file belongs to one of them`];
  return [];
}

function tooLong(path, lines) {
  if (lines.length <= LONG || path in MAY_BE_LONG) return [];
  return [
    `${path}: ${lines.length} lines: is it one idea? A table or contract that may be longer is named in house-rules.mjs`,
  ];
}

/** Every breach of a rule as "file:line: why". */
export function breachesOf(path, text) {
  const lines = text.split('\n');
  const found = [...misplaced(path), ...tooLong(path, lines), ...forbiddenIncludes(path, lines)];
  for (const rule of rules) {
    if (!rule.files.test(path) || rule.except?.test(path)) continue;
    lines.forEach((line, i) => {
      if (rule.pattern.test(rule.ignoreComments ? withoutComment(line) : line))
        found.push(`${path}:${i + 1}: ${rule.why}`);
    });
  }
  return found;
}

export function breaches() {
  const texts = Object.fromEntries(sources().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const ofNative = Object.entries(texts).flatMap(([path, text]) =>
    path.startsWith('native/') ? [[path.slice('native/'.length), text]] : [],
  );
  return [
    ...Object.entries(texts).flatMap(([path, text]) => breachesOf(path, text)),
    ...includeCircles(Object.fromEntries(ofNative)),
    ...wordingBreaches(),
  ];
}
