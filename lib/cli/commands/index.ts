/** The commands. A new one is a file and a line here; its code is loaded only when it runs. */
import type { Command } from '../core/command.ts';

export interface CommandEntry {
  name: string;
  summary: string;
  load(): Promise<Command>;
}

export const DEFAULT_COMMAND = 'snapshot';

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'snapshot',
    summary: 'Where the memory is and what can be allocated (this is the default)',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  {
    name: 'watch',
    summary: 'The same, live',
    load: async () => (await import('./watch.ts')).watchCommand,
  },
  {
    name: 'doctor',
    summary: 'Checks the machine, with cause and remedy for what is wrong',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'sweep',
    summary: 'Times and traces allocations over their size, kind by kind',
    load: async () => (await import('./sweep.ts')).sweepCommand,
  },
  {
    name: 'layout',
    summary: "Holds several blocks at once, as a model's parts are",
    load: async () => (await import('./layout.ts')).layoutCommand,
  },
  {
    name: 'stress',
    summary: 'The most that can be allocated, found without going over the edge',
    load: async () => (await import('./stress.ts')).stressCommand,
  },
  {
    name: 'cache status',
    summary: 'What is in the page cache: model stores, files, trees; mapped by whom',
    load: async () => (await import('./cache-status.ts')).cacheStatusCommand,
  },
  {
    name: 'cache evict',
    summary: 'Takes files out of the page cache, without root',
    load: async () => (await import('./cache-evict.ts')).cacheEvictCommand,
  },
  {
    name: 'cache drop',
    summary: 'Drops caches, with a receipt of what that gave back',
    load: async () => (await import('./cache-drop.ts')).cacheDropCommand,
  },
  {
    name: 'cache compact',
    summary: 'Puts free memory together, and judges whether a large launch can start',
    load: async () => (await import('./cache-compact.ts')).cacheCompactCommand,
  },
  {
    name: 'cache reclaim',
    summary: 'Asks the kernel to take memory from one cgroup',
    load: async () => (await import('./cache-reclaim.ts')).cacheReclaimCommand,
  },
  {
    name: 'cache rule',
    summary: 'A sudoers line that permits exactly what --sudo runs',
    load: async () => (await import('./cache-rule.ts')).cacheRuleCommand,
  },
  {
    name: 'prepare',
    summary: 'Makes room before a model is loaded, as much as is needed',
    load: async () => (await import('./prepare.ts')).prepareCommand,
  },
  {
    name: 'sim list',
    summary: 'Simulated machines that come with umaprobe',
    load: async () => (await import('./sim-list.ts')).simListCommand,
  },
  {
    name: 'sim show',
    summary: 'A simulated machine as JSON, to start your own from',
    load: async () => (await import('./sim-show.ts')).simShowCommand,
  },
  {
    name: 'sim run',
    summary: 'Runs any program on a simulated machine',
    load: async () => (await import('./sim-run.ts')).simRunCommand,
  },
];

/** First words that need a second one: "sim". */
export function groups(): string[] {
  const names = COMMANDS.filter((entry) => entry.name.includes(' ')).map((entry) => entry.name.split(' ')[0] ?? '');
  return [...new Set(names)];
}

/** "list", "show", "run" for "sim". */
export function members(group: string): string[] {
  return COMMANDS.filter((entry) => entry.name.startsWith(`${group} `)).map((entry) =>
    entry.name.slice(group.length + 1),
  );
}

export function find(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name);
}
