/** The commands. A new one is a file and an entry here; its code is loaded only when it runs. */
import type { Command, Commands, ListedCommand } from '../core/command.ts';

/** Groups of the help: the core, its wings, and the program itself. */
export const GROUPS = {
  core: 'Memory',
  models: 'Models',
  run: 'Programs',
  report: 'Reports',
  sim: 'Simulated machines',
  tool: 'umaprobe itself',
} as const;

export interface CommandEntry {
  name: string;
  group: keyof typeof GROUPS;
  summary: string;
  load(): Promise<Command>;
}

export const DEFAULT_COMMAND = 'snapshot';

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'snapshot',
    group: 'core',
    summary: 'How much can be loaded, and where the memory is (the default)',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  {
    name: 'watch',
    group: 'core',
    summary: 'How much can be loaded, and where the memory is, live',
    load: async () => (await import('./watch.ts')).watchCommand,
  },
  {
    name: 'doctor',
    group: 'core',
    summary: 'Checks the machine: what is wrong, why, and what to do',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'processes',
    group: 'core',
    summary: 'Who holds the memory: programs, workers, containers',
    load: async () => (await import('./processes.ts')).processesCommand,
  },
  {
    name: 'explain',
    group: 'run',
    summary: 'Why memory is gone, and what an error message about it means',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'compare',
    group: 'report',
    summary: 'Two snapshots, sweeps, recordings or machines side by side: what changed',
    load: async () => (await import('./compare.ts')).compareCommand,
  },
  {
    name: 'fit',
    group: 'models',
    summary: 'Whether it fits, what each program will decide, and the flags to paste',
    load: async () => (await import('./fit.ts')).fitCommand,
  },
  {
    name: 'estimate',
    group: 'models',
    summary: 'What a model takes, before anything is allocated',
    load: async () => (await import('./estimate.ts')).estimateCommand,
  },
  {
    name: 'sweep',
    group: 'core',
    summary: 'Times allocations by size and kind, and shows which counters they move',
    load: async () => (await import('./sweep.ts')).sweepCommand,
  },
  {
    name: 'layout',
    group: 'core',
    summary: 'Allocates several blocks at once, like the parts of a model',
    load: async () => (await import('./layout.ts')).layoutCommand,
  },
  {
    name: 'stress',
    group: 'core',
    summary: 'Finds the most that can be allocated without freezing the machine',
    load: async () => (await import('./stress.ts')).stressCommand,
  },
  {
    name: 'profile',
    group: 'run',
    summary: 'Finds the largest safe settings of any program, trial by trial',
    load: async () => (await import('./profile.ts')).profileCommand,
  },
  {
    name: 'cache status',
    group: 'core',
    summary: 'Cached files of model stores and folders, and which programs use them',
    load: async () => (await import('./cache-status.ts')).cacheStatusCommand,
  },
  {
    name: 'cache evict',
    group: 'core',
    summary: 'Evicts files from the page cache, without root',
    load: async () => (await import('./cache-evict.ts')).cacheEvictCommand,
  },
  {
    name: 'cache drop',
    group: 'core',
    summary: 'Drops caches, and shows memory before and after',
    load: async () => (await import('./cache-drop.ts')).cacheDropCommand,
  },
  {
    name: 'cache compact',
    group: 'core',
    summary: 'Compacts free memory, and says whether a large launch can start',
    load: async () => (await import('./cache-compact.ts')).cacheCompactCommand,
  },
  {
    name: 'cache reclaim',
    group: 'core',
    summary: 'Has the kernel take memory back from one cgroup',
    load: async () => (await import('./cache-reclaim.ts')).cacheReclaimCommand,
  },
  {
    name: 'cache rule',
    group: 'core',
    summary: 'Prints a sudoers rule that permits exactly what --sudo runs',
    load: async () => (await import('./cache-rule.ts')).cacheRuleCommand,
  },
  {
    name: 'prepare',
    group: 'core',
    summary: 'Frees memory before a model is loaded, as much as needed',
    load: async () => (await import('./prepare.ts')).prepareCommand,
  },
  {
    name: 'launch',
    group: 'run',
    summary: 'Starts a program safely: fit, prepare, guard and record',
    load: async () => (await import('./launch.ts')).launchCommand,
  },
  {
    name: 'guard',
    group: 'run',
    summary: 'Runs a program, and stops it before it takes the machine down',
    load: async () => (await import('./guard.ts')).guardCommand,
  },
  {
    name: 'record',
    group: 'run',
    summary: 'Records the memory of the machine to disk: a black box',
    load: async () => (await import('./record.ts')).recordCommand,
  },
  {
    name: 'record show',
    group: 'run',
    summary: 'Shows a recording: how it ended, the last seconds, the lowest memory',
    load: async () => (await import('./record-show.ts')).recordShowCommand,
  },
  {
    name: 'mark',
    group: 'run',
    summary: 'Adds a mark to a running recording',
    load: async () => (await import('./mark.ts')).markCommand,
  },
  {
    name: 'cluster',
    group: 'run',
    summary: 'Several machines by ssh or from a pipe: the weakest first',
    load: async () => (await import('./cluster.ts')).clusterCommand,
  },
  {
    name: 'cluster check',
    group: 'run',
    summary: 'Whether something fits into each of several machines',
    load: async () => (await import('./cluster-check.ts')).clusterCheckCommand,
  },
  {
    name: 'sim list',
    group: 'sim',
    summary: 'Lists the simulated machines that come with umaprobe',
    load: async () => (await import('./sim-list.ts')).simListCommand,
  },
  {
    name: 'sim show',
    group: 'sim',
    summary: 'Prints a simulated machine as JSON, as a start for your own',
    load: async () => (await import('./sim-show.ts')).simShowCommand,
  },
  {
    name: 'sim run',
    group: 'sim',
    summary: 'Runs any program on a simulated machine',
    load: async () => (await import('./sim-run.ts')).simRunCommand,
  },
  {
    name: 'sim grow',
    group: 'sim',
    summary: 'A program whose memory follows a curve, on a simulated machine',
    load: async () => (await import('./sim-grow.ts')).simGrowCommand,
  },
  {
    name: 'metrics',
    group: 'report',
    summary: 'Numbers for Prometheus, printed or written for node_exporter',
    load: async () => (await import('./metrics.ts')).metricsCommand,
  },
  {
    name: 'serve',
    group: 'report',
    summary: 'A live page, and /metrics for Prometheus, over HTTP',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'mcp',
    group: 'report',
    summary: 'Serves agents: the Model Context Protocol on stdin and stdout',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  {
    name: 'completion',
    group: 'tool',
    summary: 'Prints the completion script of a shell: bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
  {
    name: 'version',
    group: 'tool',
    summary: 'Prints the version',
    load: async () => (await import('./version.ts')).versionCommand,
  },
];

const DEFAULTS = {
  usage: '[options]',
  options: {},
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false },
} as const;

/** All of them, loaded. */
export async function loadCommands(): Promise<Commands> {
  return { all: await Promise.all(COMMANDS.map(listed)), defaultName: DEFAULT_COMMAND };
}

export async function listed({ group, load, summary }: CommandEntry): Promise<ListedCommand> {
  return { ...DEFAULTS, ...(await load()), summary, group: GROUPS[group] };
}

/** First words that need a second one: "sim". "record" is a command by itself, besides "record show". */
export function groups(): string[] {
  const names = COMMANDS.filter((entry) => entry.name.includes(' ')).map((entry) => entry.name.split(' ')[0] ?? '');
  return [...new Set(names)].filter((name) => find(name) === undefined);
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
