/** Simulated machines as data: the fields of a machine file, from which schemas/machine.schema.json is made. */

import type {
  ExportedName,
  FailingCall,
  HangingCall,
  Line,
  MachineDevice,
  MachineEvent,
  MachineFile,
  MachineProcess,
} from './machine-entries.ts';
import type { Amount, Factor, Natural, Positive } from './scalars.ts';

/**
 * A share, 0 to 1.
 * @minimum 0
 * @maximum 1
 */
export type Share = number;

/**
 * A simulated machine, as the machine file gives it. Numbers come from docs/simulated-machine.md; a machine that
 * extends another names only what differs (objects are merged, arrays replaced) and is checked after that.
 */
export interface Machine {
  /** Version of this format. */
  schema: 'umaprobe/machine/1';
  /**
   * Name of the machine, as `simulated` in every output.
   * @pattern ^[a-z0-9][a-z0-9-]{0,39}$
   */
  name: string;
  /** Name of a shipped machine, or path of a machine file, that this one starts from. */
  extends?: string;
  /** One sentence. */
  description: Line;
  /** The source of the figures, and which of them are assumed. */
  evidence?: Line[];
  /** The simulated clock. */
  clock: {
    /**
     * Simulated seconds per real second.
     * @minimum 0.001
     * @maximum 100000
     */
    scale: number;
  };
  /** The simulated kernel. */
  kernel: {
    /**
     * uname -r.
     * @maxLength 63
     */
    release: Line;
    /** uname -m. */
    architecture: 'aarch64' | 'x86_64';
    /**
     * Base page, in bytes.
     * @asType integer
     */
    pageSize: 4096 | 16384 | 65536;
    /**
     * Number of columns of /proc/buddyinfo: 11 upstream, 14 on the Spark's kernel.
     * @minimum 11
     * @maximum 16
     */
    orders: Natural;
    /** Name of the zone below Normal in buddyinfo and zoneinfo. */
    lowZone: 'DMA' | 'DMA32';
    /** Size of that zone, in bytes. 0: there is none. */
    lowZoneBytes: Natural;
    /** The selected value of /sys/kernel/mm/transparent_hugepage/enabled. */
    transparentHugePages: 'always' | 'madvise' | 'never';
  };
  /**
   * Physical memory and its use at boot. All amounts are in bytes unless the name says otherwise; MemFree is the rest
   * of `total`.
   */
  memory: {
    /**
     * MemTotal, in bytes.
     * @minimum 67108864
     */
    total: Natural;
    /** AnonPages of everything but `processes`, in bytes. */
    anon: Natural;
    /** Page cache of files: Cached without Shmem, in bytes. Includes `fileMapped` and `fileDirty`. */
    fileCache: Natural;
    /**
     * Part of `fileCache` that processes have mapped, in bytes: dropping caches does not free it, reclaim takes it
     * last.
     */
    fileMapped: Natural;
    /** Part of `fileCache` not written back yet, in bytes: not reclaimable until it is. */
    fileDirty: Natural;
    /** Buffers, in bytes. */
    buffers: Natural;
    /** Shmem, in bytes: part of Cached; dropping caches does not free it. */
    shmem: Natural;
    /** Part of `anon` that is locked, in bytes: Mlocked and Unevictable. */
    mlocked: Natural;
    /** SReclaimable, in bytes. */
    slabReclaimable: Natural;
    /** SUnreclaim, in bytes. */
    slabUnreclaimable: Natural;
    /** KernelStack, in bytes. */
    kernelStack: Natural;
    /** PageTables, in bytes. */
    pageTables: Natural;
    /** Percpu, in bytes. */
    percpu: Natural;
    /** Held by the NVIDIA driver with no CUDA process running, in bytes: in no line of meminfo. */
    driverHeld: Natural;
    /** SwapTotal, in bytes. */
    swapTotal: Natural;
    /** SwapTotal less SwapFree, in bytes. */
    swapUsed: Natural;
    /**
     * Hugepagesize, in bytes.
     * @minimum 4096
     */
    hugePageSize: Natural;
    /** HugePages_Total: pages. */
    hugePagesTotal: Natural;
    /** HugePages_Free: pages. */
    hugePagesFree: Natural;
    /** CmaTotal, in bytes. */
    cmaTotal: Natural;
    /** CmaFree, in bytes: counted in MemFree, and not usable for pinned allocations. */
    cmaFree: Natural;
    /** vm.min_free_kbytes, in bytes. */
    minFree: Natural;
    /** vm.watermark_scale_factor: ten-thousandths of memory between the watermarks. */
    watermarkScaleFactor: Natural;
    /** vm.watermark_boost_factor. */
    watermarkBoostFactor: Natural;
    /**
     * vm.swappiness: 0 keeps anonymous memory out of swap.
     * @maximum 200
     */
    swappiness: Natural;
    /**
     * vm.compaction_proactiveness, percent.
     * @maximum 100
     */
    compactionProactiveness: Natural;
    /**
     * Free pages in lists of the processors at boot, and the most that they hold, in bytes: in neither MemFree nor
     * MemAvailable. An allocation that finds too little free memory takes them back; freed page cache and anonymous
     * memory fill them again. Default: 0.
     */
    freeInCpuLists?: Natural;
  };
  /** The division of free memory into blocks. A `cudaMalloc` on shared memory needs blocks of 2 MiB. */
  contiguity: {
    /** Share of free memory that is in blocks of 2 MiB or more at boot. */
    share: Share;
    /** Share of reclaimed or dropped memory that comes back in such blocks; the rest is small free blocks. */
    afterReclaim: Share;
    /**
     * Share of the smaller free blocks at boot that are in movable pageblocks: compaction makes large blocks of all of
     * them, and of the others none. What is freed later is movable.
     */
    compactable: Share;
    /**
     * Highest order with free blocks; less than kernel.orders. Below order 9 there is no block of 2 MiB at all (pages
     * of 4 KiB).
     * @maximum 15
     */
    largestOrder: Natural;
    /**
     * Share of the memory in blocks of 2 MiB or more that is in blocks of `largestOrder`; the rest is spread over the
     * orders between.
     */
    topOrderShare: Share;
    /**
     * Result of an allocation with enough free memory but not enough blocks: `error` returns out of memory after
     * `stallMs`, `wedge` treats it as exhaustion.
     */
    whenFragmented: 'error' | 'wedge';
    /** Time for which such an allocation tries, in milliseconds. */
    stallMs: Amount;
  };
  /** The NVIDIA driver and CUDA. */
  driver: {
    /**
     * Driver version, such as 580.142.
     * @maxLength 31
     */
    version: Line;
    /**
     * Version of the NVML library.
     * @maxLength 31
     */
    nvmlVersion: Line;
    /** CUDA version of the driver: 13000 is 13.0. */
    cudaVersion: Natural;
    /** Version of the CUDA runtime library: 13000 is 13.0. */
    runtimeVersion: Natural;
    /**
     * Number of EnableSystemMemoryPools in /proc/driver/nvidia/params; null: this driver has no such parameter, 0: off,
     * 529: the default from 590 on.
     * @maximum 4294967295
     */
    systemMemoryPools: Natural | null;
    /** Memory in the driver's page pools at boot, in bytes. */
    poolBytes: Natural;
    /** Idle time after which the pools begin to drain by themselves, in milliseconds. */
    poolDrainAfterMs: Amount;
    /** Time to drain, in milliseconds per GiB. */
    poolDrainMsPerGiB: Amount;
  };
  /**
   * CUDA devices, in CUDA's order.
   * @maxItems 8
   */
  devices: MachineDevice[];
  /** Durations on the simulated clock. An allocation is made page by page, and other processes see it grow. */
  timing: {
    /** Fixed time of every allocation, in microseconds. */
    fixedUs: Amount;
    /** Eager memory from free pages (zeroing included), milliseconds per GiB. */
    coldMsPerGiB: Amount;
    /** Eager memory from the driver's pools, milliseconds per GiB. */
    warmMsPerGiB: Amount;
    /** Freeing, milliseconds per GiB. */
    freeMsPerGiB: Amount;
    /** Added to `coldMsPerGiB` for memory that is reclaimed from page cache first, milliseconds per GiB. */
    reclaimMsPerGiB: Amount;
    /** Added to that for memory that is swapped out first, milliseconds per GiB. */
    swapMsPerGiB: Amount;
    /** First touch of managed memory, milliseconds per GiB. */
    managedTouchMsPerGiB: Amount;
    /** First touch of mmap'ed memory by the GPU, milliseconds per GiB. */
    systemTouchMsPerGiB: Amount;
    /**
     * Device memory that spilled to the host: its allocation or first touch, and each later touch, milliseconds per
     * GiB.
     */
    spillMsPerGiB: Amount;
    /** Dropping page cache or emptying pools through drop_caches, milliseconds per GiB. */
    dropMsPerGiB: Amount;
    /** Writing dirty pages back, milliseconds per GiB. */
    writebackMsPerGiB: Amount;
    /** Compaction by an allocation that needs large blocks, milliseconds per GiB of them. Default: 200. */
    compactMsPerGiB?: Amount;
    /**
     * Time until the memory of an ended process is free, milliseconds per GiB. Memory that goes to driver pools is free
     * at once.
     */
    exitMsPerGiB: Amount;
    /** Memory bandwidth of the device, in 10^9 bytes per second. */
    bandwidthGBps: Factor;
    /** The same for mmap'ed memory after its first touch, in 10^9 bytes per second. */
    systemBandwidthGBps: Factor;
    /** Creating a CUDA context, milliseconds. */
    contextMs: Amount;
  };
  /** The outcome when memory runs out. */
  exhaustion: {
    /**
     * `error`: out of memory. `wedge`: the call stalls, and after `wedgeAfterMs` the machine is wedged: CUDA and NVML
     * never return again, /proc stays readable.
     */
    outcome: 'error' | 'wedge';
    /** Time from the stall to the wedge, in milliseconds. */
    wedgeAfterMs: Amount;
  };
  /**
   * Processes that run at boot.
   * @maxItems 32
   */
  processes: MachineProcess[];
  /**
   * Events after boot.
   * @maxItems 64
   */
  events: MachineEvent[];
  /** Injected faults. */
  faults: {
    /**
     * Calls that block.
     * @maxItems 16
     */
    hang: HangingCall[];
    /**
     * Calls that fail.
     * @maxItems 16
     */
    fail: FailingCall[];
    /**
     * Bytes that the GPU's fill kernel writes inverted; default none.
     * @maxItems 16
     */
    corrupt?: {
      /** Offset in the block, in bytes, like the kernel's `first`. */
      offset: Natural;
      /** Correct fills of that byte before the first wrong one; default 0. */
      after?: Natural;
      /** Number of wrong fills; default all. */
      times?: Positive;
    }[];
    /**
     * Functions that are missing in the libraries.
     * @maxItems 16
     * @uniqueItems true
     */
    missingSymbols: ExportedName[];
    /**
     * Libraries that are not installed: the CUDA runtime, the driver's libcuda, NVML.
     * @uniqueItems true
     */
    missingLibraries: ('cudart' | 'cuda' | 'nvml')[];
  };
  /**
   * Files of the kernel that answer otherwise than the machine would; default none. A path that the machine does not
   * have is added by `text`.
   * @maxItems 32
   */
  files?: MachineFile[];
}
