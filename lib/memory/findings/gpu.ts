/** Findings about GPU memory: who holds it, and what nobody holds. */

import { clean, formatBytes, GiB } from '../../base/format.ts';
import type { DeviceSnapshot, Evidence, GpuProcess, MemoryFinding, Snapshot } from '../../types/index.ts';
import { hasUnknownPools, isMuchHidden, unattributed, unifiedDevice, unknownGpuMemory } from '../headroom.ts';
import { ledgerBytes } from '../ledger.ts';
import { DROP_POOLS, WHO_OPENED_GPU, withReceipt } from '../remedies.ts';
import { bytes, type FindingRule, HOG_SHARE } from './finding.ts';

/** Pools that are worth a sentence. */
export const POOLS_WORTH = 2 * GiB;

/** Driver 590 and later keep freed GPU memory: 100 GiB came back in 0.66 s on a GB10 (QuixiAI findings, 610.43.02). */
export const driverPools: FindingRule = ({ snapshot }) => {
  const { poolBytes } = snapshot.driver;
  if (unifiedDevice(snapshot) === undefined) return null;
  if (poolBytes !== null && poolBytes >= POOLS_WORTH) {
    return {
      code: 'driver-pools',
      severity: 'notice',
      bytes: poolBytes,
      summary: `The driver keeps ${formatBytes(poolBytes)} of freed GPU memory in its pools; CUDA programs can use it, other programs cannot.`,
      evidence: [bytes('pools', poolBytes, snapshot.from['driver.poolBytes'] ?? 'debugfs shrinkers')],
      remedy: {
        text: `nothing to do, or: ${withReceipt(DROP_POOLS)}`,
        command: DROP_POOLS,
        needsRoot: true,
        gains: poolBytes,
      },
    };
  }
  const rest = unattributed(snapshot);
  if (!hasUnknownPools(snapshot) || !isOrphaned(snapshot)) return null;
  return {
    code: 'driver-pools',
    severity: 'warning',
    bytes: rest,
    summary: `${formatBytes(rest)} are in no counter and no listed process: most likely driver pools of GPU programs that ended.`,
    evidence: notAttributed(snapshot),
    remedy: { text: withReceipt(DROP_POOLS), command: DROP_POOLS, needsRoot: true, gains: rest },
  };
};

/** Much memory is in no counter of the kernel, and all processes with GPU memory are listed. */
function isOrphaned(snapshot: Snapshot): boolean {
  if (snapshot.ledger.notSplit.length > 0 || unknownGpuMemory(snapshot) !== null) return false;
  return isMuchHidden(unattributed(snapshot), snapshot);
}

function notAttributed(snapshot: Snapshot): Evidence[] {
  const { ledger, driver, from } = snapshot;
  return [
    bytes('unattributed', unattributed(snapshot), 'MemTotal − all counters and listed processes'),
    bytes('GPU processes', ledgerBytes(ledger, 'gpuProcesses'), 'NVML'),
    ...(driver.poolBytes === null
      ? []
      : [bytes('pools', driver.poolBytes, from['driver.poolBytes'] ?? 'debugfs shrinkers')]),
  ];
}

/** The driver holds memory that no process has: GPU memory of a program that ended badly, or managed memory. */
export const orphanedGpuMemory: FindingRule = ({ snapshot }) => {
  if (unifiedDevice(snapshot) === undefined) return orphanedOnDevice(snapshot);
  if (hasUnknownPools(snapshot) || !isOrphaned(snapshot)) return null;
  const rest = unattributed(snapshot);
  return orphaned(rest, `${formatBytes(rest)} are in no counter and no listed process.`, notAttributed(snapshot));
};

/** Of a GPU with memory of its own: what is used and neither reserved nor held by a process. */
function orphanedOnDevice({ devices }: Snapshot): MemoryFinding | null {
  const [most] = devices
    .flatMap((device) => {
      const { migMode, nvml, processes, processesComplete } = device;
      if (nvml === null || processes === null || processesComplete !== true || migMode?.current === true) return [];
      // A context without a process of its own, the display and the driver's channels take some 100 MiB.
      const rest = nvml.used - (nvml.reserved ?? 0) - sumOf(processes);
      return rest >= Math.max(2 * GiB, nvml.total * HOG_SHARE)
        ? [{ device, nvml, rest, listed: sumOf(processes) }]
        : [];
    })
    .sort((a, b) => b.rest - a.rest);
  if (most === undefined) return null;
  const { device, listed, nvml, rest } = most;
  return orphaned(rest, `${formatBytes(rest)} of GPU ${device.index} are used, and no listed process holds them.`, [
    bytes('used', nvml.used, 'NVML memory info'),
    bytes('reserved', nvml.reserved ?? 0, 'NVML memory info'),
    bytes('GPU processes', listed, 'NVML'),
  ]);
}

function orphaned(rest: number, summary: string, evidence: Evidence[]): MemoryFinding {
  return {
    code: 'gpu-memory-orphaned',
    severity: 'warning',
    bytes: rest,
    summary,
    evidence,
    remedy: {
      text: `see who still has the GPU open, then run umaprobe doctor: ${WHO_OPENED_GPU}`,
      command: WHO_OPENED_GPU,
      needsRoot: true,
      gains: null,
    },
  };
}

function sumOf(processes: readonly GpuProcess[]): number {
  return processes.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
}

/** Processes that a finding names. */
const NAMED = 4;

/** What programs hold on a GPU: of unified memory, else of the fullest GPU. */
export const gpuProcesses: FindingRule = ({ snapshot }) => {
  const unified = unifiedDevice(snapshot);
  const candidates = unified === undefined ? snapshot.devices : [unified];
  const [most] = candidates
    .flatMap((device) => {
      const total = totalOf(device, snapshot);
      const held = sumOf(device.processes ?? []);
      return total !== null && held >= total * HOG_SHARE ? [{ device, held, total }] : [];
    })
    .sort((a, b) => b.held / b.total - a.held / a.total);
  if (most === undefined) return null;
  const { device, held, total } = most;
  const processes = (device.processes ?? []).filter(({ gpuBytes }) => (gpuBytes ?? 0) > 0);
  processes.sort((a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0));
  const where = unified === undefined ? ` of GPU ${device.index}` : '';
  const partly = device.processesComplete === true ? '' : 'At least ';
  return {
    code: 'gpu-processes',
    severity: 'notice',
    bytes: held,
    summary: `${partly}${formatBytes(held)} of ${formatBytes(total)}${where} are held by ${processes.length === 1 ? 'a GPU program' : `${processes.length} GPU programs`}: ${namesOf(processes)}.`,
    evidence: processes
      .slice(0, NAMED)
      .map(({ gpuBytes, name, pid }) => bytes(`${clean(name ?? 'process')} (${pid})`, gpuBytes ?? 0, 'NVML')),
    remedy: {
      text: 'stop what you do not need; its memory comes back when it ends',
      command: null,
      needsRoot: false,
      gains: held,
    },
  };
};

function namesOf(processes: readonly GpuProcess[]): string {
  const names = processes
    .slice(0, NAMED)
    .map(({ gpuBytes, name, pid }) => `${clean(name ?? 'process')} (${pid}) ${formatBytes(gpuBytes)}`);
  return names.join(', ') + (processes.length > NAMED ? ` and ${processes.length - NAMED} more` : '');
}

function totalOf({ cuda, memoryModel, migMode, nvml }: DeviceSnapshot, { host }: Snapshot): number | null {
  if (memoryModel === 'unified') return host.total;
  return (migMode?.current === true ? cuda?.total : (nvml?.total ?? cuda?.total)) ?? null;
}

/** Mapped files of a process that are worth a sentence. */
const MAPPED_WORTH = 2 * GiB;
/** The copy on the GPU is at least this part of the mapped file: quantised weights are copied as they are. */
const COPIED_SHARE = 0.5;

/**
 * A checkpoint that is mapped and copied is in the one pool twice: 87 GB were (ds4 PR 158, ComfyUI #10896). The pages of
 * the file can be taken back, so it is a notice.
 */
export const modelTwice: FindingRule = ({ snapshot, processes }) => {
  if (processes === null || unifiedDevice(snapshot) === undefined) return null;
  const twice = processes.processes.filter(
    ({ file, gpuBytes }) =>
      file !== null && gpuBytes !== null && file >= MAPPED_WORTH && gpuBytes >= file * COPIED_SHARE,
  );
  if (twice.length === 0) return null;
  twice.sort((a, b) => (b.file ?? 0) - (a.file ?? 0));
  const sum = twice.reduce((total, { file }) => total + (file ?? 0), 0);
  const [first] = twice;
  const who = `${clean(first?.name ?? 'process')} (${first?.pid})`;
  return {
    code: 'model-twice',
    severity: 'notice',
    bytes: sum,
    summary: `${who}${twice.length > 1 ? ` and ${twice.length - 1} more` : ''} has ${formatBytes(sum)} of mapped files in memory, and as much on the GPU: most likely the same model twice, because both are the same memory here.`,
    evidence: twice
      .slice(0, NAMED)
      .flatMap(({ file, gpuBytes, name, pid }) => [
        bytes(`RssFile of ${clean(name ?? 'process')} (${pid})`, file ?? 0, `/proc/${pid}/status`),
        bytes(`GPU memory of ${clean(name ?? 'process')} (${pid})`, gpuBytes ?? 0, 'NVML'),
      ]),
    remedy: {
      text: 'the kernel takes the file back when it needs to; to avoid it, load without mmap (llama.cpp: --no-mmap)',
      command: null,
      needsRoot: false,
      gains: sum,
    },
  };
};
