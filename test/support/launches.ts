/** A made-up launch of a model on a simulated GB10: planned by the library's own rules, run with computed numbers. */
import { judge } from '../../lib/run/launch/judge.ts';
import { planOf } from '../../lib/run/launch/plan.ts';
import { receiptOf } from '../../lib/run/launch/receipt.ts';
import { recognise } from '../../lib/run/launch/recognise.ts';
import type { GuardReport, LaunchReport } from '../../lib/types/index.ts';
import { QWEN3_8B } from './qwen.ts';
import { snapshotOf } from './snapshots.ts';
import { GiB } from './units.ts';

const START = Date.parse('2026-11-20T18:00:00.000Z');
const FLOOR = { bytes: 8.4 * GiB, from: 'the larger of 8.0 GiB and 7 % of MemTotal' };

const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

/** vLLM takes half of the memory within two minutes, and ends after ten. */
export async function launchOf(overrides: Partial<LaunchReport> = {}): Promise<LaunchReport> {
  const machine = { ...snapshotOf(), simulated: 'gb10' };
  const command = ['vllm', 'serve', 'org/model', '--max-model-len', '32768', '--gpu-memory-utilization', '0.5'];
  const recognised = { ...recognise(command, {}).command, limits: ['After SIGKILL the container runs on.'] };
  const judgement = await judge({ kind: 'model', model: { config: QWEN3_8B } }, recognised, machine);
  const plan = planOf({
    command,
    recognised,
    ...judgement,
    machine,
    floor: FLOOR,
    prepare: true,
    anyway: false,
    ranks: [],
    record: { folder: '/home/someone/.local/state/umaprobe/record', problem: null },
  });
  const before = { available: 112 * GiB, free: 110 * GiB };
  const available = (seconds: number): number => (112 - Math.min(60, seconds / 2)) * GiB;
  const readings = Array.from({ length: 6000 }, (_, index) => ({
    at: at(index / 10),
    available: available(index / 10),
    free: available(index / 10) - 2 * GiB,
  }));
  const lowest = Math.min(...readings.map((reading) => reading.available));
  const receipt = receiptOf({
    before,
    readings,
    loadedAt: at(150),
    lowest,
    after: { available: 111 * GiB, free: 109 * GiB },
    total: machine.host.total,
    floor: FLOOR,
    own: { bytes: 3 * GiB, gpuBytes: 57 * GiB },
    expected: plan.expected,
    command: recognised,
    isStopped: false,
    gpus: { gpus: [], gpuProblem: null },
    planned: plan.flags,
  });
  return {
    schema: 'umaprobe/launch/1',
    at: at(0),
    simulated: 'gb10',
    outcome: 'exited',
    summary: 'It ended with exit code 0.',
    plan: { ...plan, steps: plan.steps.map((step) => ({ ...step, state: 'complete' as const })) },
    prepare: null,
    guard: guardOf(command, before, lowest),
    record: { folder: '/home/someone/.local/state/umaprobe/record', failure: null },
    receipt,
    durationMs: 605_000,
    ...overrides,
  };
}

function guardOf(command: readonly string[], before: GuardReport['before'], lowest: number): GuardReport {
  const evidence = {
    available: 20 * GiB,
    free: 2 * GiB,
    slope: -GiB,
    secondsToFloor: 12,
    pressureFull: 3,
    freeBlocks: GiB,
    swapFree: 0,
    freeInCpuLists: null,
    groupBytes: 3 * GiB,
    groupGpuBytes: 57 * GiB,
    othersGrewBytes: null,
  };
  return {
    schema: 'umaprobe/guard/1',
    simulated: 'gb10',
    command,
    target: null,
    watches: 'host',
    outcome: 'exited',
    exitCode: 0,
    signal: null,
    reason: null,
    sentence: null,
    floor: FLOOR,
    killBelowBytes: 2 * GiB,
    startedAt: at(0),
    endedAt: at(600),
    durationMs: 600_000,
    before,
    lowest: { available: lowest, free: lowest - 2 * GiB },
    after: { available: 111 * GiB, free: 109 * GiB },
    highestPressure: 4,
    peak: { groupBytes: 3 * GiB, groupGpuBytes: 57 * GiB },
    leftBehind: [],
    evictedBytes: 0,
    notified: [],
    actions: [
      {
        type: 'action',
        at: at(90),
        action: 'drop',
        reason: 'loading',
        sentence: 'Caches are dropped: 2.0 GiB are free while it loads.',
        target: null,
        evidence,
        dryRun: false,
        failure: null,
      },
    ],
    readings: 60_000,
    cpuMs: 900,
  };
}
