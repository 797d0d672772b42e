/**
 * Why memory is gone, or looks gone: the one table of findings. The verdict of a snapshot (health.ts) takes its rules about
 * memory from here; explain() lists all that apply.
 */

import type { MemoryFinding, Snapshot } from '../../types/index.ts';
import { plainReason } from '../gpu-processes.ts';
import { unifiedDevice, unknownGpuMemory } from '../headroom.ts';
import { judgePressure } from '../pressure.ts';
import { dirtyCache, pageCache } from './cache.ts';
import type { FindingFacts, FindingRule } from './finding.ts';
import { driverPools, gpuProcesses, modelTwice, orphanedGpuMemory } from './gpu.ts';
import { fragmented, hugePages, phantom, pressure, pressureRising, swapFull, swapUsed, watermarks } from './kernel.ts';
import { containerLimit, hostSmallerThanGpus, lockedMemory, mappedFiles, programs, sharedMemory } from './programs.ts';

const RULES: readonly FindingRule[] = [
  pressure,
  pressureRising,
  pageCache,
  dirtyCache,
  driverPools,
  orphanedGpuMemory,
  gpuProcesses,
  modelTwice,
  phantom,
  hugePages,
  fragmented,
  watermarks,
  swapFull,
  swapUsed,
  programs,
  sharedMemory,
  lockedMemory,
  mappedFiles,
  containerLimit,
  hostSmallerThanGpus,
];

/** All findings: dangers first, then by bytes at stake; those without an amount last. */
export function findings(facts: FindingFacts): MemoryFinding[] {
  return RULES.map((rule) => rule(facts))
    .filter((finding) => finding !== null)
    .sort((a, b) => rank(b) - rank(a));
}

function rank({ bytes, severity }: MemoryFinding): number {
  return severity === 'danger' ? Number.MAX_VALUE : (bytes ?? -1);
}

/** What the table could not judge, and why: an empty list of findings is then no proof. */
export function notJudged({ processes, snapshot }: FindingFacts): string[] {
  const { contiguity, from, host, ledger } = snapshot;
  const unified = unifiedDevice(snapshot) !== undefined;
  const held = unknownGpuMemory(snapshot);
  const reason = (path: string) => (from[path] === undefined ? '' : ` (${plainReason(from[path])})`);
  return [
    ...(host.available === null ? [`how much is available${reason('host.available')}`] : []),
    ...(judgePressure(snapshot).state === 'unknown' ? [`whether tasks wait for memory${reason('pressure')}`] : []),
    ...(unified && contiguity === null ? [`whether free memory is fragmented${reason('contiguity')}`] : []),
    ...(held === null ? [] : [`all that GPU processes hold (${plainReason(held)})`]),
    ...(ledger.notSplit.length === 0 ? [] : [`what is in no counter (${ledger.notSplit.join('; ')})`]),
    ...(processes === null ? ['which programs hold it: processes were not read'] : []),
    ...(modelUnknown(snapshot) ? ['whether a GPU shares the host’s memory: CUDA did not answer'] : []),
  ];
}

function modelUnknown({ devices }: Snapshot): boolean {
  return devices.some(({ memoryModel }) => memoryModel === 'unknown');
}
