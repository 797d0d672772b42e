/** Rows about memory that is left: of the host, or of the pool that it shares with a GPU, and of a GPU of its own. */

import { capitalized, clean, formatBytes } from '../../../base/format.ts';
import type { GpuProcess, Reading } from '../../../types/index.ts';
import { lowMemory } from '../floor.ts';
import { headroom, unifiedDevice, visibleHeadrooms } from '../headroom.ts';
import { judgePressure } from '../pressure.ts';
import { reserveFor } from '../safe.ts';
import {
  advice,
  applies,
  bytes,
  command,
  type MakeEvidence,
  meminfo,
  ofTotal,
  passed,
  REFUSES,
  type Row,
  type RowOutcome,
  takes,
  UNKNOWN_EFFECT,
} from './row.ts';

/**
 * Unified memory is low when a program can load nothing without taking the host below its floor; stress then refuses to
 * start. Low memory alone is a notice: healthy machines rest there. It is a warning if tasks wait for memory; a stall
 * besides is for the row `pressure`.
 */
export const available: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { afterReclaim, total } = headroom(snapshot);
    const unified = unifiedDevice(snapshot) !== undefined;
    const { critical, low } = lowMemory(total);
    const reserve = () => reserveFor(total, null, null);
    const evidence = () => [
      ...meminfo(snapshot, 'available', 'free', 'total'),
      bytes('free in the processors’ lists', snapshot.kernel.freeInCpuLists ?? 0, '/proc/zoneinfo'),
      unified ? bytes('stays for the host', reserve().bytes, reserve().from) : bytes('low below', low, 'memory/floor'),
    ];
    if (afterReclaim === null || snapshot.host.available === null) return unknownAvailable(snapshot, unified, evidence);
    // If nothing is safe for another reason, such as fragmentation, its own row says so.
    const nothingSafe = unifiedDevice(snapshot)?.allocatable.safeHigh === 0;
    if (afterReclaim >= low && !nothingSafe) return passed('Enough memory is left.', evidence);
    const only = `Only ${formatBytes(afterReclaim)} of ${unified ? 'the unified memory' : 'the host’s memory'} can still be allocated`;
    const effect = nothingSafe ? REFUSES : takes(low - afterReclaim);
    if (afterReclaim <= critical)
      return applies({
        severity: 'danger',
        summary: `${only}.${unified ? ' Running out of it can freeze this machine instead of failing an allocation.' : ''}`,
        effect,
        evidence,
        remedy: advice('stop a program before you start another'),
      });
    const { state, text } = judgePressure(snapshot);
    const waits = state === 'waiting' || state === 'spike' || state === 'longSpike';
    const seen = state === 'none' ? 'No task waits for it' : capitalized(text);
    return applies({
      severity: waits ? 'warning' : 'notice',
      summary: `${only}: the host needs them. ${seen}.`,
      effect,
      evidence,
      remedy: advice(
        `stop a program before you load a model, and leave at least ${formatBytes(unified ? reserve().floor.bytes : low)} available`,
      ),
    });
  },
};

/** Handles missing MemAvailable: nothing then says how much can be allocated, and no floor can be kept. */
function unknownAvailable({ from }: Reading, unified: boolean, evidence: MakeEvidence): RowOutcome {
  const why = from['host.available'];
  return applies({
    severity: 'warning',
    summary: `How much ${unified ? 'of the unified memory' : "of the host's memory"} can be allocated is not known: MemAvailable cannot be read${why === undefined ? '' : ` (${clean(why)})`}.`,
    effect: UNKNOWN_EFFECT,
    evidence,
    remedy: command('', 'head -3 /proc/meminfo'),
  });
}

/**
 * Shares of a GPU's own memory: the floor's, and that of 2 GiB on 64. That memory belongs to no host: it holds only
 * allocations, so its share says how full it is.
 */
const GPU_LOW_SHARE = 0.07;
const GPU_VERY_LOW_SHARE = 0.03;

/**
 * Little of a GPU's own memory is left, for the fullest GPU. It is at most a warning: an allocation fails there with an
 * error and the machine keeps running, and inference servers fill such a GPU on purpose.
 */
export const ownMemory: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    // A GH200 has no number after reclaim: little free memory does not mean that little can be allocated.
    const gpus = visibleHeadrooms(snapshot);
    const fullest = gpus.find(({ device }) => device.allocatable.afterReclaim !== null);
    if (fullest === undefined) return passed('No GPU here has memory of its own, or none of known size.');
    const { bytes: left, device, total } = fullest;
    const evidence = () => [bytes(`free on GPU ${device.index}`, left, device.from.allocatable ?? 'NVML memory info')];
    if (left >= total * GPU_LOW_SHARE)
      return passed(`${ofTotal(left, total)} of GPU ${device.index} is free.`, evidence);
    return applies({
      severity: left < total * GPU_VERY_LOW_SHARE ? 'warning' : 'notice',
      summary: `Only ${formatBytes(left)} of the ${formatBytes(total)} of GPU ${device.index} is still free.${largestHolder(device.processes ?? [])}`,
      effect: gpus.every((gpu) => gpu.device.allocatable.safeHigh === 0) ? REFUSES : takes(total - left),
      bytes: total - left,
      evidence,
      remedy: advice('stop a program there before you load more'),
    });
  },
};

/** " vllm (7) holds 60.0 GiB.": the process that holds the most GPU memory; '' if none is known to hold any. */
export function largestHolder(processes: readonly GpuProcess[]): string {
  const holder = processes.reduce(
    (largest: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (largest?.gpuBytes ?? 0) ? process : largest),
    null,
  );
  return holder === null
    ? ''
    : ` ${clean(holder.name ?? 'Process')} (${holder.pid}) holds ${formatBytes(holder.gpuBytes)}.`;
}

/** The counters that every Linux has and that split MemTotal: without one the remainder is not memory that nobody accounts for. */
export const counters: Row = {
  needs: [],
  judge({ snapshot }) {
    const { from, host, ledger } = snapshot;
    const evidence = () => meminfo(snapshot, 'total', 'free', 'cached', 'anonPages');
    if (ledger.notSplit.length === 0) return passed('Every counter that splits MemTotal is there.', evidence);
    const [why] = (
      ['free', 'cached', 'buffers', 'anonPages', 'shmem', 'sUnreclaim', 'pageTables', 'sReclaimable'] as const
    )
      .filter((field) => host[field] === null)
      .map((field) => from[`host.${field}`]);
    return applies({
      severity: 'notice',
      summary: `The use of the memory cannot be split: ${ledger.notSplit.join(', ')}${why === undefined ? '' : ` (${clean(why)})`}.`,
      effect: { does: 'unknown' },
      evidence,
      remedy: advice('umaprobe snapshot --json (the record from has each reason)'),
    });
  },
};

/** `reason()` of a file of the kernel that did not answer in time; one that was not tried behind it is no such file. */
const SILENT_FILE = /^ERR_UMA_TIMEOUT: (?:read|list) (\/\S+) answered TIMEOUT(?!: not tried)/;

/** Kernel files that do not answer: served by a file system in user space that hangs, or behind a lock of the kernel. */
export const kernelFiles: Row = {
  needs: [],
  judge({ snapshot: { from } }) {
    const silent = Object.values(from).filter((source) => source.startsWith('ERR_UMA_TIMEOUT'));
    const files = [...new Set(silent.flatMap((source) => SILENT_FILE.exec(source)?.[1] ?? []))];
    const [first] = files;
    if (first === undefined) return passed('Every file of /proc and /sys that is read answers.');
    const others =
      files.length === 1 ? '' : ` and ${files.length - 1} other ${files.length === 2 ? 'file' : 'files'} of the kernel`;
    const one = files.length === 1;
    return applies({
      severity: 'warning',
      summary: `${first}${others} ${one ? 'does' : 'do'} not answer: what ${one ? 'it says' : 'they say'} is not known, and every program that reads ${one ? 'it' : 'them'} hangs.`,
      effect: { does: 'unknown' },
      evidence: () =>
        files.map((file) => ({
          name: file,
          value: 'no answer within the limit of the reading',
          unit: 'text',
          from: file,
        })),
      remedy: command('find out what serves it (in a container: lxcfs)', `findmnt --target ${first}`),
    });
  },
};
