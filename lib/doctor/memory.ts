/** Checks of memory that is in use or only looks free: huge pages, swap, CMA, driver pools, unattributed memory. */

import { capitalized, formatBytes, formatPercent, GiB } from '../base/format.ts';
import { cmaPhantom } from '../memory/cma.ts';
import { POOLS_WORTH } from '../memory/findings/gpu.ts';
import { lowMemory } from '../memory/floor.ts';
import {
  hasPools,
  hasUnknownPools,
  headroom,
  isMuchHidden,
  unattributed,
  unifiedDevice,
  unknownGpuMemory,
} from '../memory/headroom.ts';
import { ledgerText } from '../memory/ledger.ts';
import { nearlyOut } from '../memory/low-memory.ts';
import { BOOT_WITHOUT_KHO, DROP_POOLS, RELEASE_HUGE_PAGES, withReceipt } from '../memory/remedies.ts';
import { reserveFor } from '../memory/safe.ts';
import { swapUse } from '../memory/swap.ts';
import { unknownAvailable } from '../memory/unreadable.ts';
import type { GpuProcess, Snapshot } from '../types/index.ts';
import { type Check, finding, pass, skip, warn } from './check.ts';

export const memoryChecks: readonly Check[] = [
  {
    id: 'memory.available',
    title: 'Memory left for the next program',
    needs: ['cuda', 'nvml'],
    run(context) {
      const { snapshot } = context;
      const { afterReclaim, safe, total } = headroom(snapshot);
      const { low, critical } = lowMemory(total);
      const available = `${formatBytes(afterReclaim)} of ${formatBytes(total)} are available`;
      const evidence =
        unifiedDevice(snapshot) === undefined
          ? `${available}; low below ${formatBytes(low)}, danger at ${formatBytes(critical)}`
          : `${formatBytes(safe)} can be loaded; ${available}, of which ${formatBytes(reserveFor(total, null, null).floor.bytes)} are for the host; danger at ${formatBytes(critical)}`;
      const verdict = unknownAvailable(snapshot) ?? nearlyOut(snapshot);
      return verdict === null ? pass('Enough memory is left.', evidence) : finding(verdict, evidence);
    },
  },
  {
    id: 'hugepages',
    title: 'Reserved huge pages',
    needs: ['cuda'],
    run({ snapshot }) {
      const { hugePagesTotal, hugePagesFree, hugePageSize, hugetlb } = snapshot.host;
      if (hugePagesTotal === null)
        return skip('This kernel has no huge pages.', snapshot.from['host.hugePagesTotal'] ?? '/proc/meminfo');
      const reserved = hugetlb ?? hugePagesTotal * (hugePageSize ?? 0);
      if (hugePagesTotal === 0 && reserved === 0) return pass('No huge pages are reserved.', 'HugePages_Total 0');
      const evidence = `HugePages_Total ${hugePagesTotal}, HugePages_Free ${hugePagesFree ?? 'unknown'}, ${formatBytes(reserved)} reserved`;
      const release = `Release them if nothing needs them: ${RELEASE_HUGE_PAGES} (look for leftovers in /dev/hugepages).`;
      const views = unifiedDevice(snapshot)?.views;
      if (views === undefined)
        return pass('Some huge pages are reserved; programs have that much less memory.', evidence);
      return warn(
        `GPU memory never comes from huge pages, but other tools now report free huge pages only: NVIDIA's guidance ${formatBytes(views.nvidiaGuidance)}, llama.cpp ${formatBytes(views.llamaCpp)}.`,
        evidence,
        release,
      );
    },
  },
  {
    id: 'swap',
    title: 'Swap',
    needs: [],
    run({ snapshot }) {
      const { swapTotal, swapFree } = snapshot.host;
      if (swapTotal === null || swapFree === null)
        return skip('Swap cannot be read.', snapshot.from['host.swapTotal'] ?? '/proc/meminfo');
      const swappiness = `swappiness ${snapshot.kernel.swappiness ?? 'unknown'}`;
      const use = swapUse(snapshot.host);
      if (use === null) return pass('There is no swap; GPU memory could not use it anyway.', swappiness);
      const evidence = `${formatBytes(use.used)} of ${formatBytes(use.total)} used (${formatPercent((use.used / use.total) * 100)}), ${swappiness}`;
      if (use.full)
        return warn(
          'Swap is full: no more memory of other programs can be swapped out for the GPU.',
          evidence,
          'Find the programs that were swapped out; restart them, or run swapoff and swapon when enough memory is free.',
        );
      return pass(
        'Swap has free space, which helps only by swapping out other programs: GPU memory cannot be swapped.',
        evidence,
      );
    },
  },
  {
    id: 'cma.phantom',
    title: 'Free memory that cannot be pinned',
    needs: [],
    run({ snapshot }) {
      const { cmaTotal, cmaFree } = snapshot.host;
      const evidence = `CmaFree ${formatBytes(cmaFree)}, CmaTotal ${formatBytes(cmaTotal)}, kernel ${snapshot.kernel.release ?? 'unknown'}`;
      if (cmaFree === null) return skip('This kernel does not report CmaFree.', evidence);
      const phantom = cmaPhantom(snapshot.host);
      if (phantom === 0) return pass('CmaFree does not exceed CmaTotal.', evidence);
      return warn(
        `${formatBytes(phantom)} count as free but cannot hold GPU memory or RDMA buffers: kexec-handover left them as CMA.`,
        evidence,
        `${capitalized(BOOT_WITHOUT_KHO)} on the kernel command line (needed on kernel 7.0.0).`,
      );
    },
  },
  {
    id: 'driver.pools',
    title: 'Freed GPU memory kept by the driver',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { systemMemoryPools, poolBytes, version } = snapshot.driver;
      const evidence = `driver ${version ?? 'unknown'}, EnableSystemMemoryPools ${systemMemoryPools ?? 'absent'}, pools ${formatBytes(poolBytes)}`;
      if (unifiedDevice(snapshot) === undefined)
        return skip('Only a GPU that shares the host’s memory has driver pools.', evidence);
      if (!hasPools(snapshot.driver)) return pass('This driver returns freed memory at once.', evidence);
      if (poolBytes !== null) {
        if (poolBytes < POOLS_WORTH)
          return pass('The driver keeps freed GPU memory, but almost none at present.', evidence);
        return warn(
          `The driver keeps ${formatBytes(poolBytes)} of freed GPU memory; the next CUDA program can use it, others cannot.`,
          evidence,
          `Free it: ${withReceipt(DROP_POOLS)}`,
        );
      }
      const rest = unattributed(snapshot);
      const why = snapshot.from['driver.poolBytes'] ?? 'the pools cannot be read';
      if (!isMuchHidden(rest, snapshot))
        return pass(
          'The driver keeps freed GPU memory, but little memory is unattributed at present.',
          `${evidence}; ${why}; ${formatBytes(rest)} unattributed`,
        );
      const others = unknownGpuMemory(snapshot) === null ? '' : ', or held by GPU processes, which are not known here';
      return warn(
        `The driver keeps freed GPU memory: up to ${formatBytes(rest)} may be in its pools${others}.`,
        `${evidence}; ${why}; ${formatBytes(rest)} unattributed`,
        `Free it: ${withReceipt(DROP_POOLS)}`,
      );
    },
  },
  {
    id: 'memory.unattributed',
    title: 'Unattributed memory',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const rest = unattributed(snapshot);
      const gpu = snapshot.ledger.entries.find(({ label }) => label === 'gpuProcesses');
      const evidence =
        `${formatBytes(rest)} of ${formatBytes(snapshot.ledger.total)} are in no counter; GPU processes hold ${ledgerText(snapshot.ledger, 'gpuProcesses')}` +
        (gpu?.bound === undefined ? '' : ` (${gpu.from})`);
      if (snapshot.ledger.notSplit.length > 0)
        return skip(
          'What is in no counter cannot be told: counters that every kernel has are missing.',
          `${snapshot.ledger.notSplit.join('; ')}; ${evidence}`,
          'See the reasons: umaprobe snapshot --json, record from.',
        );
      if (rest < -GiB)
        return warn('The kernel counts some memory twice: the ledger is off by that much.', evidence, null);
      if (gpu?.bound === 'atMost')
        return pass('GPU processes share some of their memory, so nothing else is in no counter.', evidence);
      if (!isMuchHidden(rest, snapshot))
        return pass('The remainder is what a kernel and a driver usually use.', evidence);
      const device = unifiedDevice(snapshot);
      if (device === undefined) return skip(notGpuMemory(snapshot), evidence);
      const unknown = unknownGpuMemory(snapshot);
      if (unknown !== null && !unknown.includes('ERR_UMA_'))
        return skip(
          `Much is in no counter, and which of it GPU processes hold is not known here: ${unknown}.`,
          evidence,
          OUTSIDE,
        );
      const { cause, remedy } = suspects(snapshot, device.processes);
      return warn(cause, evidence, remedy);
    },
  },
];

const OUTSIDE =
  'In a container: run umaprobe on the host, or start the container with --pid=host. Otherwise: sudo umaprobe doctor.';

/** Without a GPU that shares the host's memory the remainder is not GPU memory, and a reboot would not help. */
function notGpuMemory({ devices, libraries }: Snapshot): string {
  if (libraries.cuda.state === 'timeout' || devices.some(({ memoryModel }) => memoryModel === 'unknown'))
    return 'Much is in no counter; whether a GPU shares this memory is not known, because CUDA did not answer.';
  return 'Much is in no counter, but no GPU shares this memory: a file system with its own cache (ZFS), a balloon of the hypervisor or a driver holds it.';
}

/** The most likely holder of the unattributed memory, and what to do about it. A reboot is the last resort. */
function suspects(
  snapshot: Snapshot,
  processes: readonly GpuProcess[] | null,
): { cause: string; remedy: string | null } {
  if (processes === null) {
    return {
      cause: 'Memory is in no counter, and NVML could not list the processes that hold GPU memory.',
      remedy: 'See the check library.nvml first.',
    };
  }
  // Pools of known size are in the ledger already and explain nothing here.
  if (hasUnknownPools(snapshot)) {
    return {
      cause: 'Most likely the driver keeps it: freed GPU memory, see the check driver.pools.',
      remedy: DROP_POOLS,
    };
  }
  // NVML counts memory from cudaMalloc, but not from cudaMallocManaged and not memory that the GPU accesses through
  // ATS.
  if (processes.length > 0) {
    const names = processes.slice(0, 3).map(({ pid, name }) => (name === null ? String(pid) : `${name} (${pid})`));
    return {
      cause: `Memory is in no counter. A GPU process may hold it as managed memory, which NVML does not list: ${names.join(', ')}.`,
      remedy: `Nothing, if the process should hold it. If it stays after the process has ended: ${DROP_POOLS}`,
    };
  }
  return {
    cause:
      'Memory is in no counter and no GPU process is listed: managed memory, which NVML does not list, a process that is just ending, or driver pools.',
    remedy: `Wait a minute and run ${DROP_POOLS}; then see which processes have the GPU open: sudo fuser -v /dev/nvidia*. If none has, and the memory stays in use: reboot before the next large launch.`,
  };
}
