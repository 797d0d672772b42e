// The rooms of the house and who may import whom: the one table behind biome.rooms.json (imports of lib/), behind
// scripts/house-rules.mjs (#include lines of native/) and behind the table of docs/architecture.md. A wing is a folder of
// rooms. A room may import the rooms of its row, of which the name of a wing means all, and `base` and `types` where it
// says so; nothing imports upwards.
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './run.mjs';

const GROUND = ['base', 'types'];

/** Room of lib → the rooms and wings it may import, lowest floor first. The core knows no wing. */
const LIB_ROWS = {
  types: [],
  base: [],
  'core/native': GROUND,
  'core/memory': GROUND,
  'core/host': [...GROUND, 'core/native'],
  'core/journal': [...GROUND, 'core/host'],
  'core/snapshot': [...GROUND, 'core/native', 'core/host', 'core/memory'],
  'core/processes': [...GROUND, 'core/native', 'core/host', 'core/memory', 'core/snapshot'],
  'core/doctor': [...GROUND, 'core/native', 'core/host', 'core/memory', 'core/snapshot', 'core/processes'],
  'core/probe': [...GROUND, 'core/native', 'core/host', 'core/memory', 'core/journal', 'core/snapshot'],
  'core/sweep': [...GROUND, 'core/native', 'core/memory', 'core/probe'],
  'core/layout': [...GROUND, 'core/native', 'core/memory', 'core/probe'],
  'core/stress': [...GROUND, 'core/native', 'core/memory', 'core/probe'],
  'core/cache': [...GROUND, 'core/native', 'core/host', 'core/memory', 'core/snapshot'],
  'models/hub': GROUND,
  'models/files': [...GROUND, 'core', 'models/hub'],
  'models/estimate': [...GROUND, 'core', 'models/files'],
  'models/fit': [...GROUND, 'core', 'models/estimate'],
  'show/render': [...GROUND, 'core/memory'],
  'show/report': [...GROUND, 'show/render'],
  'show/compare': [...GROUND, 'core/memory'],
  sim: [...GROUND, 'core'],
  'run/record': [...GROUND, 'core'],
  'run/guard': [...GROUND, 'core'],
  'run/explain': [...GROUND, 'core', 'models/files'],
  'run/profile': [...GROUND, 'core', 'run/explain', 'run/record', 'run/guard'],
  'run/cluster': [...GROUND, 'core', 'models'],
  'run/launch': [...GROUND, 'core', 'models', 'run/record', 'run/guard', 'run/cluster'],
  serve: [...GROUND, 'core', 'show', 'run/record', 'run/cluster'],
  standalone: GROUND,
  cli: [...GROUND, 'core', 'models', 'show', 'sim', 'run', 'serve'],
};

const roomsOf = (name) => Object.keys(LIB_ROWS).filter((room) => room === name || room.startsWith(`${name}/`));

/** Room of lib → every room it may import. */
export const LIB_ROOMS = Object.fromEntries(
  Object.entries(LIB_ROWS).map(([room, names]) => [room, names.flatMap(roomsOf)]),
);

/** Rooms that are entered by these files alone, and by `options`, the table of their options. The others are libraries: their files are imported one by one. */
export const DOORS = {
  'core/snapshot': ['index', 'memory', 'watch', 'mem-get-info', 'settled', 'own-memory'],
  'core/journal': ['index', 'records', 'writer'],
  'core/doctor': ['index'],
  'core/cache': ['index', 'sudoers'],
  'core/sweep': ['index'],
  'core/layout': ['index'],
  'core/stress': ['index'],
  'core/processes': ['index', 'follow', 'shared-memory'],
  'models/hub': ['index', 'name'],
  'models/estimate': ['index'],
  'models/fit': ['index'],
  'show/report': ['index', 'package-files'],
  'show/compare': ['index'],
  'run/explain': ['index'],
  'run/record': ['index', 'folder'],
  'run/cluster': ['index', 'follow', 'hosts'],
  'run/profile': ['index'],
  'run/launch': ['index'],
  'run/guard': ['index', 'end-process', 'pattern', 'policy'],
  serve: ['index', 'listen'],
};

/** Folders inside a room; none bears the name of a room. */
export const FOLDERS = {
  'core/cache': ['prepare'],
  'core/memory': ['findings'],
  'models/estimate': ['training'],
  'show/render': ['text', 'html'],
  'run/explain': ['messages'],
  cli: ['commands', 'core', 'mcp', 'shell'],
};

/** Door of the package → the wing that it exports. The core is `umaprobe`, the others are `umaprobe/<door>`. */
export const PACKAGE_DOORS = {
  index: 'core',
  models: 'models',
  report: 'show',
  run: 'run',
  serve: 'serve',
  sim: 'sim',
};

/** Files at the root of lib: doors, and root.ts, which must lie one level below the package. */
export const LIB_ROOT = [...Object.keys(PACKAGE_DOORS), 'cli', 'root', 'worker'].map((name) => `${name}.ts`);

/** Room of native → the rooms it may include. Includes are written from native/. */
export const NATIVE_ROOMS = {
  abi: [],
  base: [],
  runtime: ['base'],
  machine: ['abi', 'base', 'runtime'],
  pagecache: ['base', 'runtime'],
  host: ['abi', 'base', 'runtime', 'machine'],
  cuda: ['abi', 'base', 'runtime', 'machine'],
  nvml: ['abi', 'base', 'runtime', 'machine'],
  alloc: ['abi', 'base', 'runtime', 'host', 'cuda'],
  guard: ['base', 'runtime', 'host', 'alloc'],
  'run/record': ['base', 'runtime', 'machine', 'host'],
  // The program umaprobe-guard, beside the addon.
  'run/supervisor': ['base', 'runtime', 'machine', 'host', 'nvml', 'run/record'],
  js: ['abi', 'base', 'runtime', 'machine', 'pagecache', 'host', 'cuda', 'nvml', 'alloc', 'guard', 'run/record'],
  'sim/state': ['abi'],
  'sim/linux': ['abi', 'sim/state'],
  'sim/gpu': ['abi', 'sim/state', 'sim/linux'],
  'sim/abi': ['abi', 'sim/state', 'sim/linux', 'sim/gpu'],
  'sim/nvidia_smi': ['abi', 'sim/state', 'sim/gpu', 'sim/abi'],
  'sim/libcudart': ['abi', 'sim/abi'],
  'sim/programs': ['abi'],
};

/** Files at the root of native, besides folders. The root of native/sim has none. */
export const NATIVE_ROOT = ['addon.cc', 'addon.map', 'tsan.supp'];

/** Import paths that lead into a room, from the folder `from` of lib. */
function importPaths(room, from) {
  const path = relative(from, room);
  const doors = DOORS[room] && [...DOORS[room], 'options'];
  return doors?.map((door) => `${path}/${door}.ts`) ?? [`${path}/**`];
}

/** An override for the files in `folder` of a room, or deeper: they import what is outside of the room by its row only. */
function override(room, rooms, folder, includes) {
  const up = `${relative(folder, room)}/../`.replace(/^\//, '');
  const entries = (room === 'cli' ? ['root.ts', 'sim.ts'] : ['root.ts']).map((file) => relative(folder, file));
  const allowed = [...entries, ...rooms.flatMap((other) => importPaths(other, folder))];
  const group = [`${up}**`, ...allowed.map((path) => `!${path}`)];
  const names =
    LIB_ROWS[room].length === 0 ? 'nothing but its own files' : `its own files, ${LIB_ROWS[room].join(', ')}`;
  const message = `lib/${room} may import ${names}; a feature by its doors only (scripts/rooms.mjs, docs/architecture.md)`;
  const noRestrictedImports = { level: 'error', options: { patterns: [{ group, message }] } };
  return { includes, linter: { rules: { style: { noRestrictedImports } } } };
}

/** A door of the package exports its own wing. */
function doorOverride([door, wing]) {
  const allowed = [...GROUND, wing].flatMap(roomsOf).flatMap((room) => importPaths(room, '.'));
  const group = ['./**', ...allowed.map((path) => `!./${path}`)];
  const message = `lib/${door}.ts may import ${[...GROUND, `lib/${wing}`].join(', ')} (scripts/rooms.mjs, docs/architecture.md)`;
  const noRestrictedImports = { level: 'error', options: { patterns: [{ group, message }] } };
  return { includes: [`lib/${door}.ts`], linter: { rules: { style: { noRestrictedImports } } } };
}

/** The overrides of Biome: one per room, one more for the files in the folders of a room, and one per door of the package. */
export function biomeRooms() {
  const overrides = Object.entries(LIB_ROOMS).flatMap(([room, rooms]) => [
    override(room, rooms, room, [`lib/${room}/${FOLDERS[room] === undefined ? '**/' : ''}*.ts`]),
    ...(FOLDERS[room] === undefined ? [] : [override(room, rooms, `${room}/folder`, [`lib/${room}/*/**/*.ts`])]),
  ]);
  overrides.push(...Object.entries(PACKAGE_DOORS).map(doorOverride));
  return `${JSON.stringify({ $schema: './node_modules/@biomejs/biome/configuration_schema.json', overrides }, null, 2)}\n`;
}

/** biome.json extends this file, which the build and lint write. */
export const writeBiomeRooms = () => writeFileSync(join(root, 'biome.rooms.json'), biomeRooms());
