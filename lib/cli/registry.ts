/** The commands. A new one is a file and a line here; its code is loaded only when it runs. */
import type { Command } from './command.ts';

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
