/** The options of the functions of the page cache. */

import { invalidType, invalidValue } from '../../base/arguments.ts';
import { ANY_BYTES, SOME_BYTES, SYNC_LIMIT_MS } from '../../base/limits.ts';
import {
  bytes,
  type CheckedOf,
  callback,
  custom,
  flag,
  group,
  integer,
  milliseconds,
  needed,
  type OptionRow,
  type OptionsOf,
  signal,
} from '../../base/options.ts';
import type { CacheEvent, ContiguityGate } from '../../types/index.ts';
import { DEFAULT_FLOOR_TEXT } from '../memory/floor.ts';

/** Options of `cacheStatus()`. */
export interface CacheStatusOptions extends OptionsOf<typeof STATUS> {}
/** Options of `evictFiles()`. */
export interface EvictOptions extends CacheStatusOptions, OptionsOf<typeof SYNC> {}
/** Options of `dropCaches()`. */
export interface DropOptions extends OptionsOf<typeof DROP> {}
/** Options of `compact()`. */
export interface CompactOptions extends OptionsOf<typeof COMPACT> {}
/** Options of `reclaim()`. */
export interface ReclaimOptions extends OptionsOf<typeof RECLAIM> {}
/** Options of `prepare()`. */
export interface PrepareOptions extends OptionsOf<typeof PREPARE> {}
export type CheckedPrepareOptions = CheckedOf<typeof PREPARE>;

export const STATUS = {
  /** Number of files to list: 0 to 100000. Default 20. */
  top: integer({ min: 0, max: 100_000, default: 20, help: 'How many files to list' }),
  /** Ends the walk: `cacheStatus()` rejects with the signal's reason, `evictFiles()` resolves with what it has done. */
  signal,
  /** Called now and then during the walk. If it throws or rejects, the call rejects with that error. */
  onEvent: callback<(event: CacheEvent) => void | Promise<void>>(),
};

export const SYNC = {
  /** Write dirty pages first (fdatasync), so that they can be evicted too. Default false: they stay. */
  sync: flag({ help: 'Write dirty pages of these files first (fdatasync), so that they can be evicted' }),
};
export const EVICT = { ...SYNC, ...STATUS };

/** One fixed command is run as root. */
const sudo = flag({ help: 'Run the privileged step with sudo -n (see umaprobe cache rule)' });

const LEVELS = [1, 2, 3] as const;

const STOPPABLE = {
  /**
   * Rejects with the signal's reason. Before the kernel is asked nothing has been changed; what it is doing already it
   * goes on with, and the receipt is lost.
   */
  signal,
};

export const DROP = {
  /** 1 (default): page cache. 2: slab and shrinkers, hence the driver's page pools. 3: both. */
  level: custom<1 | 2 | 3, 1>(checkLevel, {
    default: 1,
    form: 'word',
    words: LEVELS.map(String),
    help: 'What to drop',
    read: (word) => LEVELS.find((level) => String(level) === word),
  }),
  /** `sync` first, so that dirty pages can be dropped. Default true. */
  sync: flag({ default: true, flag: 'no-sync', help: 'Do not write dirty pages first; they stay cached' }),
  /** Time limit for `sync`, in milliseconds: 100 to 3600000. Default 60000. */
  syncLimitMs: milliseconds({
    min: 100,
    max: 3_600_000,
    default: SYNC_LIMIT_MS,
    help: 'Time limit for writing',
    note: '; pages still dirty then stay cached',
  }),
  /** Run one fixed command with `sudo -n`. */
  sudo,
  /** Drop even under memory pressure. */
  force: flag({ help: 'Drop even under memory pressure' }),
  /** Say what would be freed; change nothing. */
  dryRun: flag({ help: 'Say what would be freed, and change nothing' }),
  ...STOPPABLE,
};

/** The gate for a large launch. */
export const GATE = {
  /** Memory that must be available, in bytes. */
  availableBytes: bytes({ ...ANY_BYTES, flag: 'gate-available', help: 'Memory that must be available' }),
  /** Size of the blocks, in bytes: that of the smallest page and more. */
  blockBytes: bytes({ min: 4096, flag: 'gate-block', help: 'Size of the blocks to count' }),
  /** Blocks that must be free. */
  blocks: integer({ min: 0, flag: 'gate-blocks', help: 'Blocks that must be free' }),
};

export const COMPACT = {
  /** Compact even if the gate is met. */
  always: flag({ help: 'Compact even if the gate is met' }),
  /** Default: 96 GiB available and 200 blocks of 32 MiB on a machine with 120 GiB; the same shares on a smaller one. */
  gate: group(GATE) as OptionRow<Partial<ContiguityGate>, Partial<ContiguityGate>>,
  /** Run one fixed command with `sudo -n`. */
  sudo,
  ...STOPPABLE,
};

export const RECLAIM = {
  /** Bytes to reclaim: 1 to 2^53 − 1. */
  bytes: needed(bytes(SOME_BYTES)),
  /** Path under /sys/fs/cgroup, or as in /proc/self/cgroup. Default: this process's cgroup. */
  cgroup: custom(checkCgroup, {
    placeholder: '<path>',
    help: 'As in /proc/self/cgroup, or a folder under /sys/fs/cgroup',
    usually: 'that of this process',
  }),
  ...STOPPABLE,
};

export const PREPARE = {
  /** Size of the planned allocation, in bytes: 1 to 2^53 − 1. */
  bytes: needed(bytes({ ...SOME_BYTES, help: 'The size, as an option' })),
  /** Files that may be evicted. Default: all model stores found. */
  paths: custom(checkPaths, {
    form: 'texts',
    flag: 'path',
    placeholder: '<path>',
    help: 'Evict only this file or folder instead of the model stores; may be given more than once',
  }),
  /**
   * Memory left for the host, in bytes. Default as for stress: the larger of 8 GiB and 7 % of MemTotal, at most a
   * quarter of a small machine.
   */
  floorBytes: bytes({
    ...ANY_BYTES,
    default: null,
    help: 'Memory kept for the host',
    usually: `${DEFAULT_FLOOR_TEXT}, at most a quarter`,
  }),
  /** Plan only; change nothing. */
  dryRun: flag({ help: 'Show the plan, and change nothing' }),
  /** Take the steps that need root with `sudo -n`, each as one fixed command. */
  sudo,
  /** Ends the preparation between two steps: rejects with the signal's reason. */
  signal,
};

function checkLevel(name: string, value: unknown): 1 | 2 | 3 {
  const found = LEVELS.find((level) => level === value);
  if (found === undefined) throw invalidValue(name, '1, 2 or 3', value);
  return found;
}

function checkCgroup(name: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidType(name, 'a path', value);
  return value;
}

export function checkPaths(name: string, paths: unknown): readonly string[] {
  if (!Array.isArray(paths)) throw invalidType(name, 'an array of paths', paths);
  if (paths.length === 0) throw invalidValue(name, 'at least one path', paths);
  for (const [index, path] of paths.entries()) {
    if (typeof path !== 'string') throw invalidType(`${name}[${index}]`, 'a path', path);
    if (path === '' || path.includes('\0')) throw invalidValue(`${name}[${index}]`, 'a path', path);
  }
  return paths;
}
