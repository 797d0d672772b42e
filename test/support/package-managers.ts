/** The package managers of the table in docs/installing.md, and how each is asked for the same thing. */

import { bunBinary, denoBinary, packageManager } from '../../scripts/fetch-programs.mjs';

/** What people do with a project that has umaprobe; null: the program has no such command. */
export interface PackageManager {
  name: string;
  /** The major version of Node that runs it. */
  node: number;
  /** The program and its first arguments. */
  program: () => string[];
  /** Its settings, as files in the project. */
  settings: (registry: string) => Record<string, string>;
  install: string[];
  /** Again from the lockfile, without node_modules. */
  frozen: string[];
  rebuild: string[] | null;
  add: string[];
  withoutScripts: string[];
  /** What runs a program of the project. */
  run: string[];
}

const npmrc = (registry: string) => ({
  '.npmrc': `registry=${registry}/\nupdate-notifier=false\naudit=false\nfund=false\n`,
});

function npm(major: number, node: number): PackageManager {
  return {
    name: `npm ${major}`,
    node,
    program: () => ['node', packageManager('npm', `^${major}`)],
    settings: npmrc,
    install: ['install', '--foreground-scripts'],
    frozen: ['ci', '--foreground-scripts'],
    rebuild: ['rebuild', '--foreground-scripts'],
    add: ['install', 'ms', '--foreground-scripts'],
    withoutScripts: ['install', '--ignore-scripts'],
    run: ['node'],
  };
}

function yarnBerry(name: string, range: string, linker: 'node-modules' | 'pnp'): PackageManager {
  const program = () => ['node', packageManager('@yarnpkg/cli-dist', range)];
  return {
    name: `${name}, ${linker === 'pnp' ? 'PnP' : linker}`,
    node: 24,
    program,
    settings: (registry) => ({
      '.yarnrc.yml':
        `nodeLinker: ${linker}\nnpmRegistryServer: "${registry}"\nunsafeHttpWhitelist: ["127.0.0.1"]\n` +
        'enableGlobalCache: false\nenableTelemetry: false\n' +
        // Yarn 4.9 does not know it: the registry of the test has published umaprobe now.
        (range === 'latest' ? 'npmMinimalAgeGate: 0\n' : ''),
      'yarn.lock': '',
    }),
    install: ['install'],
    frozen: ['install', '--immutable'],
    rebuild: ['rebuild'],
    add: ['add', 'ms'],
    withoutScripts: ['install', '--mode=skip-build'],
    run: linker === 'pnp' ? [...program(), 'node'] : ['node'],
  };
}

export const PACKAGE_MANAGERS: readonly PackageManager[] = [
  npm(10, 20),
  npm(11, 22),
  npm(12, 24),
  {
    name: 'pnpm',
    node: 24,
    program: () => ['node', packageManager('pnpm', 'latest')],
    settings: npmrc,
    install: ['install'],
    frozen: ['install', '--frozen-lockfile'],
    rebuild: ['rebuild'],
    add: ['add', 'ms'],
    withoutScripts: ['install', '--ignore-scripts'],
    run: ['node'],
  },
  {
    name: 'Yarn 1',
    node: 20,
    program: () => ['node', packageManager('yarn', '^1')],
    settings: npmrc,
    install: ['install'],
    frozen: ['install', '--frozen-lockfile'],
    rebuild: ['install', '--force'],
    add: ['add', 'ms'],
    withoutScripts: ['install', '--ignore-scripts'],
    run: ['node'],
  },
  yarnBerry('Yarn 4.9', '~4.9', 'node-modules'),
  yarnBerry('Yarn 4.9', '~4.9', 'pnp'),
  yarnBerry('Yarn', 'latest', 'node-modules'),
  yarnBerry('Yarn', 'latest', 'pnp'),
  {
    name: 'Bun',
    node: 24,
    program: () => [bunBinary()],
    settings: (registry) => ({ 'bunfig.toml': `[install]\nregistry = "${registry}/"\n` }),
    install: ['install'],
    frozen: ['install', '--frozen-lockfile'],
    rebuild: null,
    add: ['add', 'ms'],
    withoutScripts: ['install', '--ignore-scripts'],
    run: [bunBinary()],
  },
  {
    name: 'Deno',
    node: 24,
    program: () => [denoBinary()],
    settings: npmrc,
    install: ['install', '--allow-scripts'],
    frozen: ['install', '--frozen'],
    rebuild: null,
    add: ['add', 'npm:ms'],
    withoutScripts: ['install'],
    run: [denoBinary(), 'run', '--allow-all'],
  },
];

/** The table of docs/installing.md. */
export function tableOfManagers(): string {
  const cell = (words: readonly string[] | null) =>
    words === null ? '' : `\`${words.filter((word) => word !== '--foreground-scripts').join(' ')}\``;
  const rows = PACKAGE_MANAGERS.map(({ name, install, frozen, rebuild, add, withoutScripts }) =>
    [name, ...[install, frozen, rebuild, add, withoutScripts].map(cell)].join(' | '),
  );
  const head = ['', 'install', 'from the lockfile', 'rebuild', 'another package', 'without scripts'].join(' | ');
  return ['|'.concat(head, ' |'), `|${'---|'.repeat(6)}`, ...rows.map((row) => `| ${row} |`)].join('\n');
}
