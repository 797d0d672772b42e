/** Commands to suggest. One place, so that the health verdict, doctor and the documentation give the same advice. */

/** Page cache only. Level 1 keeps inodes and the driver's pools. */
export const DROP_PAGE_CACHE = 'sync; echo 1 | sudo tee /proc/sys/vm/drop_caches';

/** For whom page cache is in the way: they count it as used. Others take it. */
export const WHO_ASKS_FREE = 'PyTorch and other programs that ask cudaMemGetInfo';

/** Slab and all shrinkers, including the driver's page pools; no page cache. */
export const DROP_POOLS = 'echo 2 | sudo tee /proc/sys/vm/drop_caches';

/** Everything clean, then compaction of movable pages. GPU pages are unmovable. */
export const DROP_AND_COMPACT =
  'sync; echo 3 | sudo tee /proc/sys/vm/drop_caches; echo 1 | sudo tee /proc/sys/vm/compact_memory';

/** GPU allocations never use reserved huge pages. */
export const RELEASE_HUGE_PAGES = 'echo 0 | sudo tee /proc/sys/vm/nr_hugepages';

/** The same for pages of every size: nr_hugepages of /proc is of the default size alone. */
export const RELEASE_ALL_HUGE_PAGES = 'echo 0 | sudo tee /sys/kernel/mm/hugepages/hugepages-*/nr_hugepages';

/** Pages of each size; meminfo counts those of the default size alone. */
export const SHOW_HUGE_PAGES = 'grep . /sys/kernel/mm/hugepages/*/{nr,free}_hugepages';

/** Writes dirty pages, so that the kernel can give them back. */
export const WRITE_DIRTY = 'sync';

/** Moves everything back from swap. Needs as much free memory. */
export const EMPTY_SWAP = 'sudo swapoff -a && sudo swapon -a';

/** Processes that have a GPU open, whatever NVML lists. */
export const WHO_OPENED_GPU = 'sudo fuser -v /dev/nvidia*';

/** The fastest relief when no task can run: GPU memory comes back when its process ends. */
export const STOP_LARGEST = 'stop the largest GPU process';

/** Remedy if nothing is known of the time before. */
export const KEEP_HISTORY = 'umaprobe record keeps a history';

/** Kernel option against free memory that kexec-handover leaves as CMA. */
export const KHO_OFF = 'kho=off';

export const BOOT_WITHOUT_KHO = `boot with ${KHO_OFF}`;

/** A shell, a unit of systemd and a container have a limit of their own each. */
export const LOCK_ANY_AMOUNT =
  'in a shell: ulimit -l unlimited (as root, or after "* - memlock unlimited" in /etc/security/limits.conf and a new login); ' +
  'of a unit: LimitMEMLOCK=infinity; of a container: docker run --ulimit memlock=-1';

/** Its size takes no memory: only data written there does. */
export const ENLARGE_SHM =
  'start the container with --ipc=host or --shm-size=1g, a pod with an emptyDir of medium Memory at /dev/shm; ' +
  'the size takes no memory until it is used';

/** Where no recording is. */
export const NOTHING_RECORDED =
  'nothing was recorded here: begin with umaprobe record, before what you want to see, or name its folder (--folder). ' +
  'What the kernel said of earlier is in its log: journalctl -k -b -1';

const BY_UMAPROBE: Readonly<Record<string, string>> = {
  [DROP_PAGE_CACHE]: 'umaprobe cache drop',
  [DROP_POOLS]: 'umaprobe cache drop --level 2',
  [DROP_AND_COMPACT]: 'umaprobe cache drop --level 3, umaprobe cache compact',
};

/** The shell command, which works anywhere, and the umaprobe command, which reports what it changed. */
export function orByUmaprobe(remedy: string): string {
  return `${remedy} (or: ${BY_UMAPROBE[remedy]})`;
}
