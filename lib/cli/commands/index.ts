/** The commands. A new one is a file and an entry here; its code is loaded only when it runs. */
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
    summary: 'Where the memory is and what can be allocated (the default)',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  {
    name: 'watch',
    summary: 'The same, live',
    load: async () => (await import('./watch.ts')).watchCommand,
  },
  {
    name: 'doctor',
    summary: 'Checks the machine: what is wrong, why, and what to do',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'sweep',
    summary: 'Times allocations by size and kind, and shows which counters they move',
    load: async () => (await import('./sweep.ts')).sweepCommand,
  },
  {
    name: 'layout',
    summary: 'Allocates several blocks at once, like the parts of a model',
    load: async () => (await import('./layout.ts')).layoutCommand,
  },
  {
    name: 'stress',
    summary: 'Finds the most that can be allocated without freezing the machine',
    load: async () => (await import('./stress.ts')).stressCommand,
  },
  {
    name: 'cache status',
    summary: 'Page cache of model stores, files and folders, and who maps it',
    load: async () => (await import('./cache-status.ts')).cacheStatusCommand,
  },
  {
    name: 'cache evict',
    summary: 'Evicts files from the page cache, without root',
    load: async () => (await import('./cache-evict.ts')).cacheEvictCommand,
  },
  {
    name: 'cache drop',
    summary: 'Drops caches, and shows memory before and after',
    load: async () => (await import('./cache-drop.ts')).cacheDropCommand,
  },
  {
    name: 'cache compact',
    summary: 'Compacts free memory, and says whether a large launch can start',
    load: async () => (await import('./cache-compact.ts')).cacheCompactCommand,
  },
  {
    name: 'cache reclaim',
    summary: 'Asks the kernel to reclaim memory of one cgroup',
    load: async () => (await import('./cache-reclaim.ts')).cacheReclaimCommand,
  },
  {
    name: 'cache rule',
    summary: 'Prints a sudoers rule that permits exactly what --sudo runs',
    load: async () => (await import('./cache-rule.ts')).cacheRuleCommand,
  },
  {
    name: 'prepare',
    summary: 'Frees memory before a model is loaded, as much as needed',
    load: async () => (await import('./prepare.ts')).prepareCommand,
  },
  {
    name: 'sim list',
    summary: 'Lists the simulated machines that come with umaprobe',
    load: async () => (await import('./sim-list.ts')).simListCommand,
  },
  {
    name: 'sim show',
    summary: 'Prints a simulated machine as JSON, as a start for your own',
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
