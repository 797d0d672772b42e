/** Which processes have files mapped. */
import { toUmaError } from '../errors.ts';
import type { NativeBinding } from '../native.types.ts';
import { isFailure } from '../reason.ts';
import type { CachedFile } from '../types.ts';

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

/** @param inodes pairs of dev, ino. */
export async function mappingsOf(binding: NativeBinding, inodes: Float64Array): Promise<Mappings> {
  if (inodes.length === 0) return { of: () => NOBODY, has: () => false, none: true, unreadable: 0 };
  const answer = await binding.mappings(inodes, LIMIT_MS);
  if (isFailure(answer)) throw toUmaError(answer);
  const names = processNames(
    binding,
    answer.files.map(({ pid }) => pid),
  );
  // By inode number first: of a hundred thousand files next to none is mapped, and a text key for each would take
  // longer than everything else here.
  const byIno = new Map<number, { dev: number; mapper: Mapper }[]>();
  for (const { dev, ino, pid, locked } of answer.files) {
    const mappers = byIno.get(ino) ?? [];
    byIno.set(ino, mappers);
    mappers.push({ dev, mapper: { pid, name: names.get(pid) ?? null, locked } });
  }
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

/** comm: short, and readable without the process's mmap lock. A process that has ended meanwhile has no name. */
function processNames(binding: NativeBinding, pids: readonly number[]): Map<number, string> {
  const unique = [...new Set(pids)];
  const texts = unique.length === 0 ? [] : binding.readFiles(unique.map((pid) => `/proc/${pid}/comm`));
  const names = new Map<number, string>();
  for (const [at, pid] of unique.entries()) {
    const text = texts[at];
    if (text !== undefined && !isFailure(text)) names.set(pid, text.trim());
  }
  return names;
}

/** "vllm (4242)", "pid 4242" where it has no name. */
export function mapperWords({ pid, name }: Mapper): string {
  return name === null ? `pid ${pid}` : `${name} (${pid})`;
}

export function inodesOf(files: readonly Inode[]): Float64Array {
  const pairs = new Float64Array(files.length * 2);
  for (const [at, { dev, ino }] of files.entries()) {
    pairs[at * 2] = dev;
    pairs[at * 2 + 1] = ino;
  }
  return pairs;
}
