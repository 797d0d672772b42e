/**
 * Quirks of devices, drivers and kernels; no other file knows a product. A row has a test over facts, a sentence for
 * the user and the evidence. A quirk never replaces a number: it explains one, or says which one not to trust.
 *
 * To add a quirk: a row here, a machine with it in lib/machines, a test in test/unit/core/memory/quirks.test.ts.
 */

import { inGiB, MiB } from '../../base/format.ts';
import type { DeviceSnapshot, DriverFacts, HostMemory, KernelMemory } from '../../types/index.ts';
import { cmaPhantom } from './cma.ts';
import { hasPools } from './headroom.ts';
import { KHO_OFF } from './remedies.ts';

export interface QuirkFacts {
  host: HostMemory;
  kernel: KernelMemory;
  driver: DriverFacts;
  device: Pick<DeviceSnapshot, 'memoryModel' | 'nvml' | 'migMode' | 'attributes' | 'addressingMode' | 'cuda'>;
  /** Name of NVML's failure of memory info, such as "NOT_SUPPORTED"; null: it succeeded or was not read. */
  nvmlRefusal: string | null;
}

export interface Quirk {
  id: string;
  evidence: string;
  applies(facts: QuirkFacts): boolean;
  note(facts: QuirkFacts): string;
}

export const QUIRKS: readonly Quirk[] = [
  {
    id: 'zero-framebuffer',
    evidence:
      'GB10 and Jetson Thor, drivers 580.95 to 595: FB_GET_INFO of a zero-FB GPU is 0, so NVML has nothing to report (nvitop PR 208, gpud PR 1170)',
    applies: ({ device, nvmlRefusal }) => device.memoryModel === 'unified' && nvmlRefusal === 'NOT_SUPPORTED',
    note: () =>
      'NVML and nvidia-smi report no memory for this GPU (NOT_SUPPORTED); that is normal: the GPU has no memory of its own and uses the host’s.',
  },
  {
    id: 'unified-nvml-answers',
    evidence:
      'claimed for GB10 (sparkview README, cosmos #180), contradicted by raw readings; seen on N1X, where it is a carve-out (openclaw-windows-node #1242)',
    applies: ({ device }) => device.memoryModel === 'unified' && device.nvml !== null,
    note: () =>
      'NVML reports memory although this GPU shares the host’s; the number is shown but not used, because it may be a carve-out or a substitution.',
  },
  {
    id: 'mig-slice',
    evidence:
      'NVML memory info of a GPU in MIG mode is of the whole GPU, CUDA sees one slice (kept apart from unified memory in gpustat PR 179)',
    applies: ({ device }) => device.migMode?.current === true,
    note: () => 'MIG is enabled: NVML reports the whole GPU, CUDA one slice of it.',
  },
  {
    id: 'coherent-numa-memory',
    evidence:
      'GH200: HBM is a NUMA node and NVML free is that node’s free pages, so page cache placed there counts as used',
    applies: ({ device }) => device.memoryModel === 'coherent',
    note: () => 'This GPU’s memory is a NUMA node of the host: page cache can live on it and then counts as used.',
  },
  {
    id: 'no-concurrent-managed-access',
    evidence:
      'Jetson Orin (sm_87, nvgpu): concurrentManagedAccess = 0, and a single allocation is capped below the free memory (llama.cpp PR 23732)',
    applies: ({ device }) => device.memoryModel === 'unified' && device.attributes.concurrentManagedAccess === 0,
    note: () =>
      'CPU and GPU cannot use managed memory at the same time here, and single allocations may be limited to less than the free memory.',
  },
  {
    id: 'cma-phantom',
    evidence:
      'kernel 7.0.0 with kexec handover: 4,761 pageblocks released as CMA while CmaTotal is 0 (NV-Kernels PR 590, 591)',
    applies: ({ device, host }) => device.memoryModel === 'unified' && cmaPhantom(host) > 0,
    note: ({ host }) =>
      `At least ${inGiB(cmaPhantom(host))} GiB count as free but lie in CMA blocks that cannot hold GPU memory (CmaFree exceeds CmaTotal); the kernel option ${KHO_OFF} prevents this.`,
  },
  {
    id: 'driver-pools',
    evidence:
      'driver 590 and later: NVreg_EnableSystemMemoryPools, freed GPU pages stay in pools that no line of meminfo shows (590.48.01, 595.44, 610.43)',
    applies: ({ device, driver }) => device.memoryModel === 'unified' && hasPools(driver),
    note: ({ driver }) =>
      driver.poolBytes !== null && driver.poolBytes < 64 * MiB
        ? 'This driver keeps freed GPU memory in pools that no line of meminfo shows; they are almost empty now.'
        : driver.poolBytes === null
          ? 'This driver keeps freed GPU memory in pools that no counter shows (root can read them); the next CUDA process can use them.'
          : `The driver holds ${inGiB(driver.poolBytes)} GiB of freed GPU memory in its pools; the next CUDA process can use it, and drop_caches level 2 frees it.`,
  },
  {
    id: 'huge-pages-mislead',
    evidence:
      'NVIDIA’s guidance and ggml take free huge pages for all available memory once any are reserved (daqiri #56: 1024 × 2 MiB on a Spark)',
    applies: ({ device, host }) => device.memoryModel === 'unified' && (host.hugePagesTotal ?? 0) > 0,
    note: () =>
      'Huge pages are reserved: llama.cpp and NVIDIA’s guidance now count only free huge pages. cudaMalloc does not use them; the reservation only reduces the available memory.',
  },
];

/** Driver 615.16 with CUDA 13.4 on a GB10: "devices busy or unavailable" (llama.cpp issue 24933, PR 25384). */
export function refusesContexts({ version }: Pick<DriverFacts, 'version'>): boolean {
  return version !== null && /^615\.16(\.|$)/.test(version);
}

/** Sentences that explain this device’s numbers. */
export function quirkNotes(facts: QuirkFacts): string[] {
  return QUIRKS.filter((quirk) => quirk.applies(facts)).map((quirk) => quirk.note(facts));
}
