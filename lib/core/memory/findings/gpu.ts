/** Rows about GPU memory: its holders, the driver's pools, and memory that nobody holds. */

import { clean, formatBytes, GiB } from '../../../base/format.ts';
import type { DeviceSnapshot, Evidence, GpuProcess, Reading, Remedy } from '../../../types/index.ts';
import { heldTogether, plainReason } from '../gpu-processes.ts';
import { hasPools, hasUnknownPools, isMuchHidden, unattributed, unifiedDevice, unknownGpuMemory } from '../headroom.ts';
import { ledgerBytes } from '../ledger.ts';
import { NAMED } from '../others.ts';
import { DROP_POOLS, orByUmaprobe, WHO_OPENED_GPU } from '../remedies.ts';
import {
  advice,
  applies,
  bytes,
  command,
  count,
  HOG_SHARE,
  type MakeEvidence,
  passed,
  type Row,
  type RowOutcome,
  takes,
  text,
  UNKNOWN_EFFECT,
  unknown,
} from './row.ts';

/** Pools that are worth a sentence. */
const POOLS_WORTH = 2 * GiB;

/** Driver 590 and later keep freed GPU memory: 100 GiB came back in 0.66 s on a GB10 (QuixiAI findings, 610.43.02). */
export const pools: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { driver, from } = snapshot;
    const { poolBytes } = driver;
    const source = from['driver.poolBytes'] ?? 'debugfs shrinkers';
    const evidence = () => [
      ...text('driver', driver.version, '/proc/driver/nvidia/version'),
      ...count('EnableSystemMemoryPools', driver.systemMemoryPools, '/proc/driver/nvidia/params'),
      ...(poolBytes === null ? [] : [bytes('pools', poolBytes, source)]),
    ];
    if (unifiedDevice(snapshot) === undefined)
      return passed('Only a GPU that shares the host’s memory has driver pools.', evidence);
    if (!hasPools(driver) && !hasUnknownPools(snapshot))
      return passed('This driver returns freed memory at once.', evidence);
    if (poolBytes !== null) {
      if (poolBytes < POOLS_WORTH)
        return passed('The driver keeps freed GPU memory, but almost none at present.', evidence);
      return applies({
        severity: 'notice',
        bytes: poolBytes,
        summary: `The driver keeps ${formatBytes(poolBytes)} of freed GPU memory in its pools; CUDA programs can use it, other programs cannot.`,
        evidence,
        remedy: dropPools('nothing to do, or: ', poolBytes),
      });
    }
    const rest = unattributed(snapshot);
    const seen = () => [...evidence(), ...text('pools', source, 'debugfs'), ...notAttributed(snapshot)];
    if (snapshot.ledger.notSplit.length > 0 || !isMuchHidden(rest, snapshot))
      return passed('Little memory is in no counter at present: the driver’s pools hold little.', seen);
    const listed = unknownGpuMemory(snapshot) === null;
    return applies({
      severity: listed ? 'warning' : 'notice',
      bytes: rest,
      summary: listed
        ? `${formatBytes(rest)} are in no counter and no listed process: most likely driver pools of GPU programs that ended.`
        : `${formatBytes(rest)} are in no counter: in driver pools of GPU programs that ended, or held by GPU processes, which are not known here.`,
      cause: 'The size of the pools can be read by root only.',
      effect: UNKNOWN_EFFECT,
      evidence: seen,
      remedy: dropPools('', null),
    });
  },
};

function dropPools(before: string, gains: number | null): Remedy {
  return { text: `${before}${orByUmaprobe(DROP_POOLS)}`, command: DROP_POOLS, needsRoot: true, gains };
}

function notAttributed({ ledger }: Reading): Evidence[] {
  const gpu = ledger.entries.find(({ label }) => label === 'gpuProcesses');
  return [
    bytes('in no counter', ledgerBytes(ledger, 'unattributed'), 'MemTotal − all counters and listed processes'),
    ...(gpu === undefined ? [] : [bytes('GPU processes', gpu.bytes, gpu.from)]),
  ];
}

/** Much of the shared pool is in no counter, and who holds it cannot be listed here. */
export const listed: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const reason = unknownGpuMemory(snapshot);
    const rest = unattributed(snapshot);
    const evidence = () => notAttributed(snapshot);
    if (reason === null)
      return passed('Every process that holds memory of the shared pool is listed, or no GPU shares it.', evidence);
    const known = snapshot.driver.poolBytes ?? 0;
    const isMuch = isMuchHidden(rest, snapshot) && known < rest;
    return applies({
      severity: 'notice',
      normal: !isMuch,
      bytes: isMuch ? rest : null,
      summary: isMuch
        ? `${formatBytes(rest)} are in no counter; how much of it GPU processes hold is not known here: ${plainReason(reason)}.`
        : `Which processes hold GPU memory is not known here: ${plainReason(reason)}.`,
      effect: UNKNOWN_EFFECT,
      evidence: () => [...evidence(), ...text('why', reason, 'NVML')],
      // If NVML itself fails, its own row says what to do.
      remedy:
        plainReason(reason) === reason
          ? advice('run umaprobe on the host, or start the container with --pid=host; otherwise: sudo umaprobe doctor')
          : null,
    });
  },
};

/** The driver holds memory that no process has: GPU memory of a program that ended badly, or managed memory. */
export const orphaned: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const rest = unattributed(snapshot);
    const evidence = () => notAttributed(snapshot);
    if (unifiedDevice(snapshot) === undefined)
      return orphanedOnDevice(snapshot) ?? notGpuMemory(snapshot, rest, evidence);
    if (snapshot.ledger.notSplit.length > 0)
      return unknown('what is in no counter cannot be told: counters that every kernel has are missing', evidence);
    if (rest < -GiB)
      return applies({
        severity: 'notice',
        bytes: -rest,
        summary: `The kernel counts ${formatBytes(-rest)} twice: the ledger is off by that much.`,
        evidence,
      });
    if (!isMuchHidden(rest, snapshot))
      return passed('The remainder is what a kernel and a driver usually use.', evidence);
    if (hasUnknownPools(snapshot)) return passed('See driver.pools.', evidence);
    if (unknownGpuMemory(snapshot) !== null)
      return unknown('which of it GPU processes hold is not known here', evidence);
    const names = (unifiedDevice(snapshot)?.processes ?? []).slice(0, NAMED).map(nameOf);
    return applies({
      severity: 'warning',
      bytes: rest,
      summary: `${formatBytes(rest)} are in no counter and no listed process.`,
      cause:
        names.length === 0
          ? 'No GPU process is listed: managed memory, which NVML does not list, a process that is just ending, or a program that ended badly.'
          : `A GPU process may hold it as managed memory, which NVML does not list: ${names.join(', ')}.`,
      effect: takes(rest),
      evidence,
      remedy: whoHolds(),
    });
  },
};

function whoHolds(): Remedy {
  return command('see who still has the GPU open; if nobody has, and it stays in use: reboot', WHO_OPENED_GPU, {
    needsRoot: true,
  });
}

/** Judges hosts whose memory no GPU shares: the remainder is not GPU memory, and a reboot would not help. */
function notGpuMemory(snapshot: Reading, rest: number, evidence: MakeEvidence): RowOutcome {
  const { devices, libraries } = snapshot;
  if (!isMuchHidden(rest, snapshot))
    return passed('The remainder is what a kernel and a driver usually use.', evidence);
  if (libraries.cuda.state === 'timeout' || devices.some(({ memoryModel }) => memoryModel === 'unknown'))
    return unknown(
      'much is in no counter; whether a GPU shares this memory is not known, because CUDA did not answer',
      evidence,
    );
  return passed(
    'Much is in no counter, but no GPU shares this memory: a file system with its own cache (ZFS), a balloon of the hypervisor or a driver holds it.',
    evidence,
  );
}

/** Used memory of a GPU with its own memory that is neither reserved nor held by a process. */
function orphanedOnDevice({ devices }: Reading): RowOutcome | null {
  const [most] = devices
    .flatMap((device) => {
      const { migMode, nvml, processes, processesComplete } = device;
      if (nvml === null || processes === null || processesComplete !== true || migMode?.current === true) return [];
      // A context without a process of its own, the display and the driver's channels take some 100 MiB.
      const cache = cacheOnNode(device);
      const rest = nvml.used - (nvml.reserved ?? 0) - sumOf(processes) - (cache ?? 0);
      const isMuch = rest >= Math.max(2 * GiB, nvml.total * HOG_SHARE);
      return isMuch ? [{ device, nvml, rest, cache, held: sumOf(processes) }] : [];
    })
    .sort((a, b) => b.rest - a.rest);
  if (most === undefined) return null;
  if (most.cache === null) {
    const { device, rest } = most;
    const why = `whether ${formatBytes(rest)} of GPU ${device.index}, which no listed process holds, are page cache on its NUMA node is not known`;
    return unknown(why, () => [bytes('used', most.nvml.used, 'NVML memory info')], { matters: true });
  }
  const { device, held, nvml, rest } = most;
  return applies({
    severity: 'warning',
    bytes: rest,
    summary: `${formatBytes(rest)} of GPU ${device.index} are used, and no listed process holds them.`,
    effect: takes(rest),
    evidence: () => [
      bytes('used', nvml.used, 'NVML memory info'),
      bytes('reserved', nvml.reserved ?? 0, 'NVML memory info'),
      bytes('GPU processes', held, 'NVML'),
    ],
    remedy: whoHolds(),
  });
}

/** Page cache on the GPU's NUMA node (GH200): used memory that no process holds, and that comes back. null: unknown. */
export function cacheOnNode({ allocatable: { afterReclaim, immediate }, memoryModel }: DeviceSnapshot): number | null {
  if (memoryModel !== 'coherent') return 0;
  return afterReclaim === null || immediate === null ? null : afterReclaim - immediate;
}

function nameOf({ name, pid }: GpuProcess): string {
  return `${clean(name ?? 'process')} (${pid})`;
}

function sumOf(processes: readonly GpuProcess[]): number {
  return processes.reduce((sum, { gpuBytes }) => sum + (gpuBytes ?? 0), 0);
}

/** Memory that programs hold on a GPU: of unified memory, else of the fullest GPU. */
export const programs: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const unified = unifiedDevice(snapshot);
    const candidates = unified === undefined ? snapshot.devices : [unified];
    const [most] = candidates
      .flatMap((device) => {
        const total = totalOf(device, snapshot);
        const held = heldOn(device, snapshot);
        return total !== null && held >= total * HOG_SHARE ? [{ device, held, total }] : [];
      })
      .sort((a, b) => b.held / b.total - a.held / a.total);
    if (most === undefined) return passed('No program holds much GPU memory.', () => notAttributed(snapshot));
    const { device, held, total } = most;
    const holders = (device.processes ?? []).filter(({ gpuBytes }) => (gpuBytes ?? 0) > 0);
    holders.sort((a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0));
    const where = unified === undefined ? ` of GPU ${device.index}` : '';
    const partly = device.processesComplete === true ? '' : 'At least ';
    const shared = held < sumOf(holders) ? ', some of it shared between them' : '';
    return applies({
      severity: 'notice',
      normal: true,
      bytes: held,
      summary: `${partly}${formatBytes(held)} of ${formatBytes(total)}${where} are held by ${holders.length === 1 ? 'a GPU program' : `${holders.length} GPU programs`}${shared}: ${namesOf(holders)}.`,
      effect: takes(held),
      evidence: () => holders.slice(0, NAMED).map((process) => bytes(nameOf(process), process.gpuBytes ?? 0, 'NVML')),
      remedy: advice('stop what you do not need; its memory comes back when it ends', { gains: held }),
    });
  },
};

/** Bytes that the listed processes hold, at most the used memory of the device, or the rest of the shared pool. */
export function heldOn(
  { memoryModel, migMode, nvml, processes }: DeviceSnapshot,
  { ledger }: Pick<Reading, 'ledger'>,
): number {
  const inPool = ledgerBytes(ledger, 'gpuProcesses') + ledgerBytes(ledger, 'unattributed');
  const own = migMode?.current === true ? null : (nvml?.used ?? null);
  return heldTogether(processes ?? [], memoryModel === 'unified' ? inPool : (own ?? Number.POSITIVE_INFINITY));
}

function namesOf(processes: readonly GpuProcess[]): string {
  const names = processes.slice(0, NAMED).map((process) => `${nameOf(process)} ${formatBytes(process.gpuBytes)}`);
  return names.join(', ') + (processes.length > NAMED ? ` and ${processes.length - NAMED} more` : '');
}

function totalOf({ cuda, memoryModel, migMode, nvml }: DeviceSnapshot, { host }: Reading): number | null {
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
export const twice: Row = {
  needs: ['cuda', 'processes'],
  judge({ processes, snapshot }) {
    if (unifiedDevice(snapshot) === undefined) return passed('No GPU here shares the host’s memory.');
    if (processes === null || processes === undefined) return unknown('which processes run is not known here');
    const found = processes.processes.filter(
      ({ file, gpuBytes }) =>
        file !== null && gpuBytes !== null && file >= MAPPED_WORTH && gpuBytes >= file * COPIED_SHARE,
    );
    found.sort((a, b) => (b.file ?? 0) - (a.file ?? 0));
    const [first] = found;
    if (first === undefined) return passed('No process maps a model that it also has on the GPU.');
    const sum = found.reduce((total, { file }) => total + (file ?? 0), 0);
    return applies({
      severity: 'notice',
      normal: true,
      bytes: sum,
      summary: `${nameOf(first)}${found.length > 1 ? ` and ${found.length - 1} more` : ''} has ${formatBytes(sum)} of mapped files in memory, and as much on the GPU: most likely the same model twice, because both are the same memory here.`,
      evidence: () =>
        found
          .slice(0, NAMED)
          .flatMap((process) => [
            bytes(`RssFile of ${nameOf(process)}`, process.file ?? 0, `/proc/${process.pid}/status`),
            bytes(`GPU memory of ${nameOf(process)}`, process.gpuBytes ?? 0, 'NVML'),
          ]),
      remedy: advice(
        'the kernel takes the file back when it needs to; to avoid it, load without mmap (llama.cpp: --no-mmap)',
        {
          gains: sum,
        },
      ),
    });
  },
};
