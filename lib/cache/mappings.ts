/** Which processes have files mapped. */
import { toUmaError } from '../base/errors.ts';
import { inBatches } from '../base/event-loop.ts';
import { isFailure } from '../base/facts.ts';
import { processName } from '../host/process.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { CachedFile } from '../types/index.ts';

/** /proc/<pid>/maps of every process; a process that is being torn down can hold its mmap lock for seconds. */
const LIMIT_MS = 30_000;

export type Mapper = CachedFile['mappedBy'][number];

/** An inode; a name can go while its pages stay. */
export interface Inode {
  dev: number;
  ino: number;
}

export interface Mappings {
  /** Who maps the file, by pid; empty: nobody that can be seen. */
  of(file: Inode): Mapper[];
  has(dev: number, ino: number): boolean;
  /** None of the files is mapped by anybody. */
  none: boolean;
  /** Processes of others whose mappings could not be read. */
  unreadable: number;
}

const NOBODY: Mapper[] = [];

/** dev, ino, pid, locked. */
const FIELDS = 4;
/** With a name to be read for each, which takes some 10 µs, a millisecond. */
const TURN = 100;
/** A fraction of a millisecond. */
const PAIRS = 10_000;

/** @param inodes pairs of dev, ino. */
export async function mappingsOf(binding: NativeBinding, inodes: Float64Array): Promise<Mappings> {
  if (inodes.length === 0) return { of: () => NOBODY, has: () => false, none: true, unreadable: 0 };
  const answer = await binding.mappings(inodes, LIMIT_MS);
  if (isFailure(answer)) throw toUmaError(answer);
  const { files } = answer;
  const rows = Array.from({ length: files.length / FIELDS }, (_, row) => row * FIELDS);
  const names = new Map<number, string | null>();
  // By inode number first: of a hundred thousand files next to none is mapped, and a text key for each would take
  // longer than everything else here.
  const byIno = new Map<number, { dev: number; mapper: Mapper }[]>();
  await inBatches(rows, TURN, (at) => {
    const [dev = 0, ino = 0, pid = 0, locked] = files.subarray(at, at + FIELDS);
    if (!names.has(pid)) names.set(pid, processName(binding, pid));
    const mappers = byIno.get(ino) ?? [];
    byIno.set(ino, mappers);
    mappers.push({ dev, mapper: { pid, name: names.get(pid) ?? null, locked: locked === 1 } });
  });
  return {
    of: ({ dev, ino }) => {
      const found = byIno.get(ino);
      return found === undefined ? NOBODY : found.filter((one) => one.dev === dev).map(({ mapper }) => mapper);
    },
    has: (dev, ino) => byIno.get(ino)?.some((one) => one.dev === dev) === true,
    none: byIno.size === 0,
    unreadable: answer.unreadable,
  };
}

/** "vllm (4242)", "pid 4242" where it has no name. */
export function mapperWords({ pid, name }: Mapper): string {
  return name === null ? `pid ${pid}` : `${name} (${pid})`;
}

/** Pairs of dev, ino. */
export async function inodesOf(files: readonly Inode[]): Promise<Float64Array> {
  const pairs = new Float64Array(files.length * 2);
  await inBatches(files, PAIRS, ({ dev, ino }, at) => {
    pairs[at * 2] = dev;
    pairs[at * 2 + 1] = ino;
  });
  return pairs;
}
