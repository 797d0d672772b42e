/**
 * The verdict over a snapshot: a level, a sentence, and what to do. Rules are listed in order of urgency; of those that
 * apply, the first of the highest level decides. Their thresholds, each with its evidence, are here and in findings/,
 * pressure.ts, low-memory.ts, contiguity.ts and headroom.ts; rules about GPUs and libraries are in device-health.ts.
 */

import { capitalized, clean, formatBytes } from '../base/format.ts';
import type { GpuProcess, Snapshot } from '../types/index.ts';
import { room } from './answer.ts';
import {
  failedContexts,
  failedReadings,
  goneGpus,
  missingLibraries,
  refusingLibraries,
  unreachableGpus,
  versionsThatDoNotFit,
} from './device-health.ts';
import { cachedText, pageCache } from './findings/cache.ts';
import { verdictOf } from './findings/finding.ts';
import { driverPools, orphanedGpuMemory } from './findings/gpu.ts';
import { fragmented, hugePages, phantom, pressure } from './findings/kernel.ts';
import { headroom, isMuchHidden, ownHeadrooms, unifiedDevice } from './headroom.ts';
import { nearlyOut } from './low-memory.ts';
import { fewLargeBlocks, swapFull } from './not-started.ts';
import { judgePressure } from './pressure.ts';
import { unknownProcesses } from './process-health.ts';
import { noAnswerText, silentLibraries } from './silent.ts';
import { notSplit, silentFiles, unknownAvailable } from './unreadable.ts';
import { isUntried, noBlockForContext, suspectDriver } from './untried-context.ts';
import type { HealthVerdict, Level, Rule, Topic } from './verdict.ts';
import { allHidden } from './visibility.ts';

/** In order of urgency, each with the part of a picture that shows its numbers. */
const RULES: readonly (readonly [Rule, Topic | undefined])[] = [
  [verdictOf(pressure), 'pressure'],
  [nearlyOut, 'processes'],
  [swapFull, 'pressure'],
  [goneGpus, undefined],
  [silentDriver, 'libraries'],
  [unknownAvailable, 'ledger'],
  [refusingLibraries, 'libraries'],
  [versionsThatDoNotFit, 'libraries'],
  [failedContexts, 'tools'],
  [noBlockForContext, 'pressure'],
  [suspectDriver, undefined],
  [unreachableGpus, undefined],
  [missingLibraries, 'libraries'],
  [failedReadings, undefined],
  [silentFiles, undefined],
  [gpuNearlyOut, 'processes'],
  [notSplit, 'ledger'],
  [unknownProcesses, 'processes'],
  [hidden, 'ledger'],
  [verdictOf(phantom), 'pressure'],
  [verdictOf(fragmented), 'pressure'],
  [reservedHugePages, 'tools'],
  [fewLargeBlocks, 'pressure'],
  [allHidden, undefined],
  [cached, undefined],
  [unknownPressure, 'pressure'],
];

const LEVELS: readonly Level[] = ['ok', 'notice', 'warning', 'danger'];

/** The verdict of the highest level; of several, the first. Low memory is always said. */
export function health(snapshot: Snapshot): HealthVerdict {
  let worst: HealthVerdict | null = null;
  for (const [rule, about] of RULES) {
    const verdict = rule(snapshot);
    if (verdict === null || (worst !== null && rank(verdict) <= rank(worst))) continue;
    worst = about === undefined ? verdict : { ...verdict, about };
  }
  if (worst === null) return noProblem(snapshot);
  const low = nearlyOut(snapshot);
  const unsaid = worst.level === 'warning' && low?.level === 'notice';
  return unsaid ? { ...worst, text: `${worst.text} ${low.text}` } : worst;
}

function rank({ level }: HealthVerdict): number {
  return LEVELS.indexOf(level);
}

/**
 * NVML blocked for 491 to 737 s in wedges of GB10s (MiaAI DeepSeek-v4.1-Flash #23). But a first start of CUDA takes
 * seconds too, so silence alone does not prove a hang; together with a memory stall the rule above has already decided.
 */
function silentDriver(snapshot: Snapshot): HealthVerdict | null {
  const sentences = silentLibraries(snapshot).map(({ name, reason }) => noAnswerText(name, reason));
  if (sentences.length === 0) return null;
  return {
    level: 'warning',
    text: `${sentences.join(', ')}: slow or stuck. The kernel’s numbers are valid.`,
    next: 'check again, then run: umaprobe doctor',
  };
}

/**
 * Shares of a GPU's own memory: the floor's, and that of 2 GiB on 64. Such memory is no host's: it holds nothing but
 * allocations, so its share says how full it is.
 */
const GPU_LOW_SHARE = 0.07;
const GPU_VERY_LOW_SHARE = 0.03;

/**
 * Little of a GPU's own memory is left, for the fullest GPU. At most a warning: an allocation fails there with an error
 * and the machine keeps running, and inference servers fill such a GPU on purpose.
 */
function gpuNearlyOut(snapshot: Snapshot): HealthVerdict | null {
  // Without a number after reclaim (GH200) little free memory does not mean that little can be allocated.
  const fullest = ownHeadrooms(snapshot).find(({ device }) => device.allocatable.afterReclaim !== null);
  if (fullest === undefined || fullest.bytes >= fullest.total * GPU_LOW_SHARE) return null;
  return {
    level: fullest.bytes < fullest.total * GPU_VERY_LOW_SHARE ? 'warning' : 'notice',
    text: `Only ${formatBytes(fullest.bytes)} of the ${formatBytes(fullest.total)} of GPU ${fullest.device.index} can still be allocated.${largestHolder(fullest.device.processes ?? [])}`,
    next: 'stop a program there before you load more',
  };
}

/** Driver pools are worth a verdict where they are much of the memory; what nobody holds is always much. */
function hidden(snapshot: Snapshot): HealthVerdict | null {
  if (!isUnified(snapshot)) return null;
  const facts = { snapshot, processes: null };
  const [pools, orphaned] = [driverPools(facts), orphanedGpuMemory(facts)];
  if ((orphaned?.bytes ?? 0) > (pools?.bytes ?? 0))
    return { level: 'warning', text: orphaned?.summary ?? '', next: 'umaprobe doctor' };
  return isMuchHidden(pools?.bytes ?? 0, snapshot) ? verdictOf(driverPools)(snapshot) : null;
}

function reservedHugePages(snapshot: Snapshot): HealthVerdict | null {
  return isUnified(snapshot) ? verdictOf(hugePages)(snapshot) : null;
}

function cached(snapshot: Snapshot): HealthVerdict | null {
  const verdict = verdictOf(pageCache)(snapshot);
  const finding = pageCache({ snapshot, processes: null });
  if (verdict === null || finding?.bytes === undefined || finding.bytes === null) return null;
  const { safe, total } = headroom(snapshot);
  const text = `${cachedText(finding.bytes, total)}; ${formatBytes(safe)} can be loaded.`;
  return { ...verdict, text, besideAnswer: finding.summary };
}

/**
 * All else is fine, but a stall could not be seen. It matters where the GPU uses the host's memory: there a shortage
 * freezes the machine.
 */
function unknownPressure(snapshot: Snapshot): HealthVerdict | null {
  const { level, next, state, text } = judgePressure(snapshot);
  if (state !== 'unknown' || !isUnified(snapshot)) return null;
  const answer = room(snapshot, formatBytes);
  const why = snapshot.from.pressure;
  const unknown = `${text}${why === undefined ? '' : ` (${clean(why)})`}.`;
  return {
    level,
    text: answer === null ? capitalized(unknown) : `${answer}, but ${unknown}`,
    besideAnswer: capitalized(unknown),
    next,
  };
}

function noProblem(snapshot: Snapshot): HealthVerdict {
  if (snapshot.devices.length === 0) {
    const { afterReclaim } = headroom(snapshot);
    const next = snapshot.simulated === null ? 'see a simulated one: umaprobe --sim gb10' : null;
    return {
      level: 'notice',
      text: `No GPU: ${whyNoGpu(snapshot)}. Programs can use ${formatBytes(afterReclaim)} of this machine's memory.`,
      besideAnswer: `No GPU: ${whyNoGpu(snapshot)}.`,
      next,
    };
  }
  const holder = largestHolder(snapshot.devices.flatMap((device) => device.processes ?? []));
  const gpuRoom = room(snapshot, formatBytes);
  if (gpuRoom === null) {
    return {
      level: 'notice',
      text: `How much can be allocated on the GPU is not known; nothing else stands in the way.${holder}`,
      besideAnswer: `Nothing else stands in the way.${holder}`,
      next: null,
    };
  }
  const unknown = unknownFacts(snapshot);
  if (unknown.length > 0)
    return {
      level: 'notice',
      text: `${gpuRoom}, but ${unknown.join(', and ')}.${holder}`,
      besideAnswer: `${capitalized(unknown.join(', and '))}.${holder}`,
      next: null,
    };
  return {
    level: 'ok',
    text: `${gpuRoom}, and nothing stands in the way.${untried(snapshot)}${holder}`,
    besideAnswer: `Nothing stands in the way.${untried(snapshot)}${holder}`,
    next: null,
  };
}

/** A reading without a context does not find out that none can be created. */
function untried({ devices }: Snapshot): string {
  return devices.some(isUntried) ? ' Whether a CUDA program can start was not tried: umaprobe doctor does that.' : '';
}

/** What had to be known to say that nothing stands in the way, besides pressure (pressure.ts). */
function unknownFacts(snapshot: Snapshot): string[] {
  const { contiguity, devices, from } = snapshot;
  const because = (reason: string | undefined) => (reason === undefined ? '' : ` (${clean(reason)})`);
  const model = devices.find(({ memoryModel }) => memoryModel === 'unknown');
  return [
    ...(model === undefined
      ? []
      : [
          `whether GPU ${model.index} shares the host's memory is not known${because(model.from['attributes.integrated'])}`,
        ]),
    ...(isUnified(snapshot) && contiguity === null
      ? [`whether free memory is fragmented is not known${because(from.contiguity)}`]
      : []),
  ];
}

/** The libraries' own messages, with every path tried, are in the document and below the headline. */
function whyNoGpu({ libraries: { cuda, nvml } }: Snapshot): string {
  if (cuda.state === 'missing' && nvml.state === 'missing') return 'neither CUDA nor NVML is installed here';
  const verbs = {
    loaded: 'sees no device',
    missing: 'is not installed',
    unusable: 'cannot be used',
    timeout: 'does not answer',
  };
  return `CUDA ${verbs[cuda.state]}, NVML ${verbs[nvml.state]}`;
}

/** " vllm (7) holds 60.0 GiB.": the process that holds the most GPU memory; '' if none is known to hold any. */
function largestHolder(processes: readonly GpuProcess[]): string {
  const holder = processes.reduce(
    (largest: GpuProcess | null, process) => ((process.gpuBytes ?? 0) > (largest?.gpuBytes ?? 0) ? process : largest),
    null,
  );
  return holder === null
    ? ''
    : ` ${clean(holder.name ?? 'Process')} (${holder.pid}) holds ${formatBytes(holder.gpuBytes)}.`;
}

function isUnified(snapshot: Snapshot): boolean {
  return unifiedDevice(snapshot) !== undefined;
}
