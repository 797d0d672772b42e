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
  'lib/core/native/contract.ts': 'every native function',
  'test/unit/run/launch/command-lines.ts': 'every published command line, with what it says',
};

/** Functions of node:fs that lib may use: it opens, makes and removes nothing by a path. */
const HARMLESS = new Set(
  [
    ['access', 'accessSync', 'constants', 'existsSync', 'lstat', 'lstatSync', 'readdir', 'readdirSync', 'readlinkSync'],
    ['realpath', 'realpathSync', 'stat', 'statSync', 'statfs', 'statfsSync'],
    // Functions of an open file.
    ['closeSync', 'fdatasyncSync', 'fstatSync', 'ftruncateSync', 'read', 'readSync', 'writeSync'],
  ].flat(),
);
/** Names that open, make or remove files by a path, by the files that may have them; '': all. */
const MAY_OPEN = {
  'lib/base/folder.ts': '', // what is written
  'lib/base/trusted-folder.ts': '', // its folder
  'lib/base/named-path.ts': 'open openSync', // what a user names and nobody writes
  'lib/base/system-file.ts': 'readFileSync', // /proc, /etc/passwd
  'lib/base/lazy.ts': 'openSync', // /dev/null
  'lib/run/record/kernel-messages.ts': 'openSync', // /dev/kmsg
  'lib/core/probe/child.ts': 'writeFileSync', // /proc/self/oom_score_adj
  'lib/cli/commands/explain.ts': 'openSync', // descriptors that the process was started with
  'lib/models/files/model-file.ts': 'open', // regular files, of which a bounded part is read
  // Files of the package.
  'lib/base/package-version.ts': 'readFileSync',
  'lib/show/report/package-files.ts': 'readFileSync',
  'lib/core/native/binding.ts': 'chmodSync readFileSync',
  'lib/core/native/load-failure.ts': 'openSync',
  // Its folder in the user's cache.
  'lib/standalone/unpack.ts': 'mkdirSync openSync readFileSync renameSync rmSync writeFileSync',
  // The file makes its folder in one of makeTemporaryFolder.
  'lib/run/profile/templates.ts': 'mkdirSync writeFileSync',
  'lib/run/profile/trial.ts': 'rmSync',
  'lib/sim/environment.ts': 'mkdirSync symlinkSync',
  'lib/sim/namespace.ts': 'mkdirSync openSync writeFileSync',
  'lib/sim/state.ts': 'rmSync',
};

const rules = [
  {
    why: 'umaprobe opens no connection to another machine but in lib/models/hub/client.ts; marks go through a socket in a folder, node:net reads pipes, and lib/serve answers',
    files: /^(browser|lib|native)\/.*\.(ts|cc|h)$/,
    except:
      /^(browser\/serve\/stream|lib\/(run\/guard\/output|models\/hub\/client|run\/record\/marks|serve\/(listen|live|server|stream)))\.ts$/,
    pattern:
      /(from |import\(|require\()'(node:)?(dgram|dns|https?|http2|net|tls)\b|\bfetch\(|\b(WebSocket|EventSource|XMLHttpRequest|sendBeacon)\b|\b(AF_INET6?|getaddrinfo)\b/,
    ignoreComments: true,
  },
  {
    why: 'other functions of Node that open files by a path are not used',
    files: /^lib\/.*\.ts$/,
    pattern: /\bprocess\.(binding|_linkedBinding|dlopen|chdir)\b|\b(writeReport|writeHeapSnapshot|DatabaseSync)\b/,
    ignoreComments: true,
  },
  {
    why: 'a file is made by run/record/segments.cc alone, in a folder that lib/base/folder.ts has opened',
    files: /^native\/(?!sim\/).*\.(cc|h)$/,
    except: /^native\/run\/record\/segments\.cc$/,
    pattern: /\bO_(CREAT|TRUNC)\b|\bofstream\b|\bfopen\(|::(creat|rename|truncate|chmod|chown|symlink|link|mkstemp)\(/,
    ignoreComments: true,
  },
  {
    why: "a program of the system is run by the path that systemProgram() finds, not by PATH; the user's own ssh is not one",
    files: /^lib\/.*\.ts$/,
    except: /^lib\/run\/cluster\/ssh\.ts$/,
    pattern: /(?<![.\w])(exec|execFile|fork|spawn|startProcess)(Sync)?\(\s*['"`](?!\/)/,
    acrossLines: true,
  },
  {
    why: 'programs are started by base/start-process.ts, or where their path is known to be absolute',
    files: /^lib\/.*\.ts$/,
    except: /^lib\/(base\/start-process|core\/cache\/system|cli\/commands\/sim-run|run\/guard\/target)\.ts$/,
    pattern: /^(?!import type ).*(['"`])(node:)?child_process\1/,
    ignoreComments: true,
  },
  {
    why: "only the user's own command is found by PATH",
    files: /^native\/(?!sim\/).*\.(cc|h)$/,
    except: /^native\/run\/supervisor\/(command|notifier)\.cc$/,
    pattern: /\b(exec[lv]pe?|posix_spawnp|popen)\(|(?<![\w.])system\(/,
    ignoreComments: true,
  },
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
    why: 'a device is known by its attributes; its name belongs to core/memory/quirks.ts and lib/machines',
    files: /^lib\/.*\.ts$/,
    except: /^lib\/(core\/memory\/quirks\.ts|machines\/)/,
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
  return /^native\/((?:run|sim)\/\w+|\w+)\//.exec(path)?.[1] ?? null;
}

const INCLUDE = /^\s*#\s*include "([^"]+)"/;

const includesOf = (text) => text.split('\n').flatMap((line) => INCLUDE.exec(line)?.[1] ?? []);

/** Circles of includes, as the chain that closes each; `texts` has the files of native/ by their path there. */
export function includeCircles(texts) {
  const found = [];
  const done = new Set();
  const follow = (path, chain) => {
    if (chain.includes(path))
      found.push(`native/${path}: a circle of includes: ${[...chain.slice(chain.indexOf(path)), path].join(' → ')}`);
    if (done.has(path) || chain.includes(path)) return;
    for (const other of includesOf(texts[path] ?? '')) follow(other, [...chain, path]);
    done.add(path);
  };
  for (const path of Object.keys(texts)) follow(path, []);
  return found;
}

/** These files of native/ and all that include one of them, also by another; sorted. */
export function includersOf(texts, changed) {
  const found = new Set(changed.filter((path) => path in texts));
  const known = new Set(changed);
  for (let before = -1; before !== known.size; ) {
    before = known.size;
    for (const [path, text] of Object.entries(texts)) {
      if (!includesOf(text).some((included) => known.has(included))) continue;
      known.add(path);
      found.add(path);
    }
  }
  return [...found].sort();
}

/** Includes of a file of native/ that its room may not have. */
function forbiddenIncludes(path, lines) {
  const room = nativeRoom(path);
  if (!path.startsWith('native/') || room === null || room === 'sim' || room === 'run') return [];
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

const isInRoom = (path) => Object.keys(LIB_ROOMS).some((room) => path.startsWith(`lib/${room}/`));

/** A file that lies beside the rooms instead of in one. */
function misplaced(path) {
  const [top, second, third] = path.split('/');
  if (top === 'lib' && third === undefined && !LIB_ROOT.includes(second))
    return [`${path}: the root of lib holds doors only (${LIB_ROOT.join(', ')}); a file belongs to a room`];
  if (top === 'lib' && third !== undefined && !isInRoom(path) && second !== 'machines')
    return [`${path}: lib/${second} is no room of scripts/rooms.mjs, and no file lies beside the rooms of a wing`];
  if (top === 'native' && third === undefined && !NATIVE_ROOT.includes(second))
    return [`${path}: the root of native holds addon.cc and build files only; a file belongs to a room`];
  if (top === 'native' && /^(run|sim)$/.test(second) && path.split('/').length === 3)
    return [`${path}: native/${second} holds folders only; a file belongs to one of them`];
  return [];
}

const FS_IMPORT = /^import (type )?\{([^{}]*)\} from 'node:fs(?:\/promises)?';$/gm;

/** Functions of node:fs that a file of lib imports and may not. Imports by name show what is opened. */
function openedByPath(path, text) {
  if (!/^lib\/.*\.ts$/.test(path)) return [];
  const may = MAY_OPEN[path]?.split(' ') ?? [];
  const names = [...text.matchAll(FS_IMPORT)]
    .flatMap(([, type, list]) => (type === undefined ? list.split(',') : []))
    .map((name) => name.trim().split(' ')[0]);
  const taken = names
    .filter((name) => name !== '' && name !== 'type' && !HARMLESS.has(name) && !may.includes(name))
    .map(
      (name) =>
        `${path}: ${name} of node:fs: files are opened by lib/base/folder.ts (written), named-path.ts and trusted-file.ts (read)`,
    );
  const isHidden = /(['"`])(?:node:)?fs(?:\/promises)?\1/.test(text.replace(FS_IMPORT, ''));
  return [
    ...(MAY_OPEN[path] === '' ? [] : taken),
    ...(isHidden ? [`${path}: node:fs is imported by name: import { statSync } from 'node:fs';`] : []),
  ];
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
  const found = [
    ...misplaced(path),
    ...tooLong(path, lines),
    ...forbiddenIncludes(path, lines),
    ...openedByPath(path, text),
  ];
  for (const rule of rules) {
    if (!rule.files.test(path) || rule.except?.test(path)) continue;
    if (rule.acrossLines && rule.pattern.test(text)) found.push(`${path}: ${rule.why}`);
    lines.forEach((line, i) => {
      if (rule.pattern.test(rule.ignoreComments ? withoutComment(line) : line))
        found.push(`${path}:${i + 1}: ${rule.why}`);
    });
  }
  return found;
}

/** The files of native/, by their path there. */
export function nativeTexts(texts = textsOf(sources().filter((path) => path.startsWith('native/')))) {
  const ofNative = Object.entries(texts).filter(([path]) => path.startsWith('native/'));
  return Object.fromEntries(ofNative.map(([path, text]) => [path.slice('native/'.length), text]));
}

const textsOf = (paths) => Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));

export function breaches() {
  const texts = textsOf(sources());
  return [
    ...Object.entries(texts).flatMap(([path, text]) => breachesOf(path, text)),
    ...includeCircles(nativeTexts(texts)),
    ...wordingBreaches(),
  ];
}
