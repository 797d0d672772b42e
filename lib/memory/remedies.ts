/** What to type. One place, so that the judgement, doctor and the documentation give the same advice. */

/** Page cache only. Level 1 keeps inodes and leaves the driver's pools alone. */
export const DROP_PAGE_CACHE = 'sync; echo 1 | sudo tee /proc/sys/vm/drop_caches';

/** Slab and every shrinker, hence the driver's page pools; no page cache. */
export const DROP_POOLS = 'echo 2 | sudo tee /proc/sys/vm/drop_caches';

/** Everything clean, then merge what can move. Unmovable GPU pages stay where they are. */
export const DROP_AND_COMPACT =
  'sync; echo 3 | sudo tee /proc/sys/vm/drop_caches; echo 1 | sudo tee /proc/sys/vm/compact_memory';

/** Huge pages are memory that GPU allocations never use. */
export const RELEASE_HUGE_PAGES = 'echo 0 | sudo tee /proc/sys/vm/nr_hugepages';

const BY_UMAPROBE: Readonly<Record<string, string>> = {
  [DROP_PAGE_CACHE]: 'umaprobe cache drop --level 1',
  [DROP_POOLS]: 'umaprobe cache drop --level 2',
  [DROP_AND_COMPACT]: 'umaprobe cache drop, umaprobe cache compact',
};

/** The command of the kernel, which works anywhere, and beside it ours, which shows what it changed. */
export function withReceipt(remedy: string): string {
  return `${remedy} (with a receipt: ${BY_UMAPROBE[remedy]})`;
}
