/** The table of findings: every row's id and what it looks at, in order of urgency. */

/** Ids are stable: scripts may rely on them. Of findings of one severity the first in this order is said first. */
export const FINDINGS = {
  pressure: 'Tasks that wait for memory',
  'memory.available': 'Memory left for the next program',
  'swap.full': 'Swap that is full',
  'swap.traffic': 'Memory that moves to and from swap',
  'gpu.state': 'Every GPU answers',
  'library.cuda': 'CUDA can be used',
  'library.nvml': 'NVML can be used',
  'driver.match': 'Runtime and driver match',
  'context.blocks': 'Free blocks for a CUDA context',
  'driver.contexts': 'Drivers that refuse CUDA contexts',
  permissions: 'Access to device nodes and kernel settings',
  'kernel.files': 'Files of the kernel answer',
  'gpu.memory': 'Memory of a GPU of its own',
  'cma.phantom': 'Free memory that cannot be pinned',
  fragmentation: 'Free memory in blocks that the GPU can use',
  hugepages: 'Reserved huge pages',
  watermarks: 'Memory reserved by the kernel',
  'driver.pools': 'Freed GPU memory kept by the driver',
  'memory.unattributed': 'Memory in no counter',
  'processes.listed': 'GPU processes can be listed',
  'ledger.counters': 'Counters of the kernel are complete',
  'cuda.visible': 'GPUs that programs started here find',
  'tools.thresholds': 'Rules of other programs',
  'pressure.rising': 'Tasks that begin to wait',
  'page.cache': 'Memory that holds copies of files',
  'cache.dirty': 'Cache that is not written to disk yet',
  'swap.used': 'Memory that was moved to swap',
  'container.limit': 'Memory limit of this container',
  'gpu.programs': 'Programs that hold GPU memory',
  'model.twice': 'A model in memory twice',
  programs: 'Memory of programs',
  'memory.shared': 'Shared memory and files in tmpfs',
  'memory.locked': 'Locked memory',
  'files.mapped': 'Mapped files',
  'host.smaller': 'Host memory beside the memory of its GPUs',
  'uvm.oversubscription': 'Managed memory beyond physical memory',
} as const satisfies Record<string, string>;

/** Stable: scripts may rely on it. */
export type FindingId = keyof typeof FINDINGS;
