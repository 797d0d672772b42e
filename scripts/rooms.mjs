// The rooms of the house and who may import whom: the one table behind biome.rooms.json (imports of lib/), behind
// scripts/house-rules.mjs (#include lines of native/) and behind the tables of docs/architecture.md. A room may import the
// rooms of its row, and `base` and `types` where it says so; nothing imports upwards.
//   node scripts/rooms.mjs          says whether biome.rooms.json is what this table makes
//   node scripts/rooms.mjs --write  writes it (npm run format does)
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root } from './run.mjs';

const ALWAYS_ALLOWED = ['base', 'types'];

/** Room of lib → the rooms it may import, lowest floor first. */
export const LIB_ROOMS = {
  types: [],
  base: [],
  native: [...ALWAYS_ALLOWED],
  memory: [...ALWAYS_ALLOWED],
  hub: [...ALWAYS_ALLOWED],
  models: [...ALWAYS_ALLOWED, 'hub', 'host', 'memory'],
  host: [...ALWAYS_ALLOWED, 'native'],
  sim: [...ALWAYS_ALLOWED, 'native', 'host'],
  render: [...ALWAYS_ALLOWED, 'memory'],
  report: [...ALWAYS_ALLOWED, 'render'],
  journal: [...ALWAYS_ALLOWED, 'host'],
  snapshot: [...ALWAYS_ALLOWED, 'native', 'host', 'memory'],
  probe: [...ALWAYS_ALLOWED, 'native', 'host', 'memory', 'journal', 'snapshot'],
  cache: [...ALWAYS_ALLOWED, 'native', 'host', 'memory', 'snapshot'],
  sweep: [...ALWAYS_ALLOWED, 'native', 'memory', 'probe'],
  layout: [...ALWAYS_ALLOWED, 'native', 'memory', 'probe'],
  stress: [...ALWAYS_ALLOWED, 'native', 'memory', 'probe'],
  processes: [...ALWAYS_ALLOWED, 'native', 'host', 'memory', 'snapshot'],
  doctor: [...ALWAYS_ALLOWED, 'native', 'host', 'memory', 'snapshot', 'processes'],
  explain: [...ALWAYS_ALLOWED, 'memory', 'models', 'host', 'snapshot', 'processes'],
  compare: [...ALWAYS_ALLOWED, 'memory'],
  estimate: [...ALWAYS_ALLOWED, 'memory', 'models'],
  record: [...ALWAYS_ALLOWED, 'native', 'host', 'memory', 'journal', 'snapshot', 'processes'],
  fit: [...ALWAYS_ALLOWED, 'memory', 'estimate'],
  profile: [...ALWAYS_ALLOWED, 'host', 'memory', 'journal', 'snapshot', 'explain', 'record', 'guard'],
  cluster: [...ALWAYS_ALLOWED, 'memory', 'estimate', 'fit'],
  guard: [...ALWAYS_ALLOWED, 'native', 'host', 'memory', 'snapshot', 'processes', 'cache'],
  launch: [
    ...ALWAYS_ALLOWED,
    'host',
    'memory',
    'models',
    'snapshot',
    'cache',
    'estimate',
    'fit',
    'cluster',
    'record',
    'guard',
  ],
  serve: [...ALWAYS_ALLOWED, 'host', 'memory', 'render', 'report', 'snapshot', 'processes', 'record', 'cluster'],
  standalone: [...ALWAYS_ALLOWED],
  cli: [
    ...ALWAYS_ALLOWED,
    'memory',
    'models',
    'host',
    'sim',
    'render',
    'report',
    'snapshot',
    'probe',
    'doctor',
    'cache',
    'sweep',
    'layout',
    'stress',
    'processes',
    'explain',
    'compare',
    'estimate',
    'record',
    'fit',
    'guard',
    'launch',
    'profile',
    'cluster',
    'serve',
  ],
};

/** Rooms that are entered by these files alone. The others are libraries: their files are imported one by one. */
export const DOORS = {
  hub: ['index', 'name'],
  snapshot: ['index', 'memory', 'watch', 'mem-get-info', 'settled', 'own-memory'],
  report: ['index', 'package-files'],
  journal: ['index', 'records', 'writer'],
  doctor: ['index', 'select'],
  cache: ['index', 'sudoers'],
  sweep: ['index'],
  layout: ['index'],
  stress: ['index'],
  processes: ['index', 'follow', 'shared-memory'],
  explain: ['index'],
  compare: ['index'],
  estimate: ['index'],
  record: ['index', 'folder'],
  fit: ['index'],
  cluster: ['index', 'follow', 'hosts'],
  profile: ['index'],
  launch: ['index'],
  guard: ['index', 'end-process', 'pattern', 'policy'],
  serve: ['index', 'listen'],
};

/** Folders inside a room; none bears the name of a room. */
export const FOLDERS = {
  cache: ['prepare'],
  cli: ['commands', 'core', 'mcp', 'shell'],
  estimate: ['training'],
  explain: ['messages'],
  memory: ['findings'],
  render: ['text', 'html'],
};

/** What may lie at the root of lib: doors, and root.ts, which must lie one level below the package. */
export const LIB_ROOT = ['cli.ts', 'index.ts', 'root.ts', 'sim.ts', 'worker.ts'];

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
  record: ['base', 'runtime', 'machine', 'host'],
  // The program umaprobe-guard, beside the addon.
  supervisor: ['base', 'runtime', 'machine', 'host', 'nvml', 'guard', 'record'],
  js: ['abi', 'base', 'runtime', 'machine', 'pagecache', 'host', 'cuda', 'nvml', 'alloc', 'guard', 'record'],
  'sim/state': ['abi'],
  'sim/linux': ['abi', 'sim/state'],
  'sim/gpu': ['abi', 'sim/state', 'sim/linux'],
  'sim/abi': ['abi', 'sim/state', 'sim/linux', 'sim/gpu'],
  'sim/nvidia_smi': ['abi', 'sim/state', 'sim/gpu', 'sim/abi'],
  'sim/libcudart': ['abi', 'sim/abi'],
  'sim/programs': ['abi'],
};

/** What may lie at the root of native, besides folders. At the root of native/sim nothing may. */
export const NATIVE_ROOT = ['addon.cc', 'addon.map', 'tsan.supp'];

/** Import paths that lead into a room, seen from one level below lib. */
function importPaths(room) {
  return DOORS[room]?.map((door) => `${room}/${door}.ts`) ?? [`${room}/**`];
}

/** An override that forbids every import out of a room but those of its row. `up` leads from the files to lib. */
function override(room, rooms, includes, up) {
  const entries = room === 'cli' ? ['root.ts', 'sim.ts'] : ['root.ts'];
  const allowed = [...entries, ...rooms.flatMap(importPaths)];
  const group = [`${up}**`, ...allowed.map((path) => `!${up}${path}`)];
  const names = rooms.length === 0 ? 'nothing but its own files' : `its own files, ${rooms.join(', ')}`;
  const message = `lib/${room} may import ${names}; a feature by its doors only (scripts/rooms.mjs, docs/architecture.md)`;
  const noRestrictedImports = { level: 'error', options: { patterns: [{ group, message }] } };
  return { includes, linter: { rules: { style: { noRestrictedImports } } } };
}

/** The overrides of Biome: one per room, and one more for the files in the folders of a room. */
export function biomeRooms() {
  const overrides = Object.entries(LIB_ROOMS).flatMap(([room, rooms]) =>
    FOLDERS[room] === undefined
      ? [override(room, rooms, [`lib/${room}/**/*.ts`], '../')]
      : [
          override(room, rooms, [`lib/${room}/*.ts`], '../'),
          override(room, rooms, [`lib/${room}/*/**/*.ts`], '../../'),
        ],
  );
  return `${JSON.stringify({ $schema: './node_modules/@biomejs/biome/configuration_schema.json', overrides }, null, 2)}\n`;
}

/** Throws, or with `write` mends it, where biome.rooms.json is not what the table makes. */
export function checkBiomeRooms({ write = false } = {}) {
  const path = join(root, 'biome.rooms.json');
  if (write) writeFileSync(path, biomeRooms());
  else if (readFileSync(path, 'utf8') !== biomeRooms())
    throw new Error('biome.rooms.json is not what scripts/rooms.mjs makes: run npm run format');
}

if (isMain(import.meta.url)) await main(() => checkBiomeRooms({ write: process.argv.includes('--write') }));
