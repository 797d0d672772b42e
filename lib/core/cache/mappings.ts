/** Finds the processes that have files mapped. */

import { toUmaError } from '../../base/errors.ts';
import { inBatches } from '../../base/event-loop.ts';
import { isFailure } from '../../base/facts.ts';
import type { CachedFile } from '../../types/index.ts';
import { kernelFiles } from '../host/files.ts';
import { processNames } from '../host/process.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { Inode } from './inodes.ts';

/** Limit for reading /proc/<pid>/maps of all processes: an exiting process can hold its mmap lock for seconds. */
const LIMIT_MS = 30_000;

export type Mapper = CachedFile['mappedBy'][number];

export interface Mappings {
  /** The processes that map the file; empty: none that is visible to this user. */
  of(file: Inode): Mapper[];
  has(dev: number, ino: number): boolean;
  /** No file is mapped. */
  isEmpty: boolean;
  /** Number of processes of other users whose mappings cannot be read. */
  unreadable: number;
}

const NO_MAPPERS: Mapper[] = [];

/** Fields of a row: dev, ino, pid, locked. */
const MAPPING_FIELDS = 4;
const PID = 2;
/** Batch size: 1,000 rows take well below 1 ms. */
const ROWS_PER_BATCH = 1_000;

/** @param inodes pairs of dev, ino. */
export async function mappingsOf(binding: NativeBinding, inodes: Float64Array): Promise<Mappings> {
  if (inodes.length === 0) return { of: () => NO_MAPPERS, has: () => false, isEmpty: true, unreadable: 0 };
  const mappings = await binding.mappings(inodes, LIMIT_MS);
  if (isFailure(mappings)) throw toUmaError(mappings);
  const { files, unreadable } = mappings;
  const rows = Array.from({ length: files.length / MAPPING_FIELDS }, (_, row) => row * MAPPING_FIELDS);
  const names = await processNames(kernelFiles(binding), [...new Set(rows.map((at) => files[at + PID] as number))]);
  // Keyed by inode number alone: of 100,000 files hardly any is mapped, and a string key for each would take longer
  // than everything else here.
  const byIno = new Map<number, { dev: number; mapper: Mapper }[]>();
  await inBatches(rows, ROWS_PER_BATCH, (at) => {
    const [dev = 0, ino = 0, pid = 0, locked] = files.subarray(at, at + MAPPING_FIELDS);
    const entries = byIno.get(ino) ?? [];
    byIno.set(ino, entries);
    entries.push({ dev, mapper: { pid, name: names.get(pid) ?? null, locked: locked === 1 } });
  });
  return {
    of: ({ dev, ino }) => {
      const entries = byIno.get(ino);
      if (entries === undefined) return NO_MAPPERS;
      return entries.filter((entry) => entry.dev === dev).map(({ mapper }) => mapper);
    },
    has: (dev, ino) => byIno.get(ino)?.some((entry) => entry.dev === dev) === true,
    isEmpty: byIno.size === 0,
    unreadable,
  };
}

/** "vllm (4242), pid 4243", each process once. */
export function mapperList(mappers: readonly Mapper[]): string {
  return [...new Set(mappers.map(mapperLabel))].join(', ');
}

/** "vllm (4242)", or "pid 4242" for a process without a name. */
function mapperLabel({ pid, name }: Mapper): string {
  return name === null ? `pid ${pid}` : `${name} (${pid})`;
}
