/** The parent of every probe: checks the machine, keeps the journal, supervises the child, waits for the memory. */

import { isFailure } from '../../base/facts.ts';
import { defaultJournal, type Journal, openJournal } from '../journal/index.ts';
import { blockUse } from '../memory/contiguity.ts';
import { STALLED_PERCENT } from '../memory/pressure.ts';
import { native } from '../native/binding.ts';
import type { NativeAllocator } from '../native/contract.ts';
import { ProbeChild } from './child-process.ts';
import { ChildState } from './child-state.ts';
import type { RunLimits } from './context.ts';
import { probeHeader } from './header.ts';
import type { CheckedProbeOptions } from './options.ts';
import { type PreflightResult, preflight } from './preflight.ts';
import { type ChildRequest, GUARD_FD } from './protocol.ts';
import { settle } from './settle.ts';
import type { Baseline, ProbeRun, ProbeSpec } from './spec.ts';
import { type Supervisor, supervise } from './supervisor.ts';

/** If the memory is not free by then, the guard ends the process. */
const GUARD_EXIT_AFTER_MS = 200;

type AnySpec = ProbeSpec<unknown, unknown>;

/**
 * Runs a command's loop in a child process. Resolves when the child is gone and its memory has settled.
 *
 * @throws UmaError `ERR_UMA_FLOOR` if it is not safe to start, `ERR_UMA_JOURNAL`, `ERR_UMA_BUSY`, the code of a missing
 *   device or driver; and whatever the loop, `spec.request` or `spec.onEvent` throws.
 */
export async function runProbe<Request, Event, Result>(spec: ProbeSpec<Request, Event>): Promise<ProbeRun<Result>> {
  const started = performance.now();
  const machine = await preflight(spec);
  const journal = openRunJournal(spec, machine);
  try {
    const baseline: Baseline = {
      ...machine,
      timeScale: timeScale(machine.snapshot.simulated),
      journalNotes: journal?.notes ?? [],
      unfinished: journal?.unfinished ?? null,
    };
    const { allocator, ...run } = await runInChild<Result>(baseline, spec as AnySpec, journal);
    const settled = await settle(baseline.snapshot, ordinalOf(baseline));
    const header = probeHeader(baseline, allocator, journal?.path ?? null);
    return { ...run, header: { ...header, durationMs: performance.now() - started }, settled };
  } finally {
    journal?.close();
  }
}

/** CUDA's number of the probed device: the preflight has found it there. */
function ordinalOf({ device }: Pick<PreflightResult, 'device'>): number {
  return device.cudaIndex ?? device.index;
}

function openRunJournal({ command, options }: Pick<AnySpec, 'command' | 'options'>, machine: PreflightResult) {
  if (options.journal === false) return null;
  const { bootId, simulated } = machine.snapshot;
  const heading = { command, device: ordinalOf(machine), simulated, bootId };
  return openJournal(options.journal ?? defaultJournal(simulated), heading);
}

type ChildRun<Result> = Pick<ProbeRun<Result>, 'end' | 'guard' | 'reason' | 'result'> & {
  allocator: NativeAllocator | null;
};

async function runInChild<Result>(
  baseline: Baseline,
  spec: AnySpec,
  journal: Journal | null,
): Promise<ChildRun<Result>> {
  let supervisor: Supervisor | undefined;
  const state = new ChildState<Result>(
    (event) => spec.onEvent(event),
    () => supervisor?.stop('aborted'),
  );
  let child: ProbeChild;
  try {
    const request = childRequest(baseline, spec, journal);
    const { device, floor, journalNotes, others, share, unfinished } = baseline;
    const { memoryModel } = device;
    await spec.options.onEvent?.({
      type: 'started',
      floor,
      journalNotes: [...journalNotes],
      memoryModel,
      others,
      share,
      unfinished,
    });
    child = await ProbeChild.start(request, journal?.fd ?? null, {
      message(message) {
        supervisor?.noteActivity();
        state.receive(message);
      },
      guardLine: (line) => state.receiveGuardLine(line),
    });
  } catch (error) {
    // The run would count as live for as long as this process lives without this record.
    journal?.gone('not started');
    throw error;
  }
  supervisor = supervise(child, {
    floor: baseline.floor?.bytes ?? null,
    timeoutMs: spec.options.timeoutMs,
    signal: spec.options.signal,
    isDone: () => state.isDone,
  });
  const { end, exit, guard, reason } = await supervisor.verdict;
  // A child that could not be killed still holds its memory: its run stays open in the journal.
  if (exit !== null) journal?.gone(reason ?? end);
  await state.throwIfFailed();
  return { end, reason, result: state.result, allocator: state.allocator, guard: guard ?? state.guard() };
}

function childRequest(baseline: Baseline, spec: AnySpec, journal: Journal | null): ChildRequest {
  const { device, floor, snapshot } = baseline;
  const { options } = spec;
  const pressureFull = pressureLimit(baseline, options);
  const limits: RunLimits = {
    device: ordinalOf(baseline),
    memoryModel: device.memoryModel,
    hostTotal: snapshot.host.total,
    stuck: snapshot.contiguity === null ? null : blockUse(snapshot.host, snapshot.contiguity).stuck,
    floor: floor?.bytes ?? null,
    pressureFull,
    stepTimeoutMs: options.stepTimeoutMs,
    timeScale: baseline.timeScale,
  };
  return {
    command: spec.command,
    limits,
    guard: {
      floorBytes: floor?.bytes ?? 0,
      pressureFullPercent: pressureFull ?? 0,
      parent: process.pid,
      exitAfterMs: GUARD_EXIT_AFTER_MS,
      reportFd: GUARD_FD,
    },
    journal: journal === null ? null : { path: journal.path, run: { run: journal.run, bootId: snapshot.bootId } },
    request: spec.request(baseline),
  };
}

/** null if the run takes no host memory, or if the caller accepted pressure that was there before the start. */
export function pressureLimit(
  { floor, snapshot }: Pick<Baseline, 'floor' | 'snapshot'>,
  { acceptAFrozenMachine }: Pick<CheckedProbeOptions, 'acceptAFrozenMachine'>,
): number | null {
  if (floor === null) return null;
  const now = snapshot.pressure?.full.avg10 ?? 0;
  return acceptAFrozenMachine && now >= STALLED_PERCENT ? null : STALLED_PERCENT;
}

/** Simulated milliseconds per real one, from the simulated machine's record; null on real hardware. */
function timeScale(simulated: string | null): number | null {
  if (simulated === null) return null;
  const { UMAPROBE_SIM = '', UMAPROBE_SIM_LIBRARY = '' } = native().machineVariables();
  const record = native().simRecord(UMAPROBE_SIM_LIBRARY, UMAPROBE_SIM);
  if (isFailure(record)) return null;
  const { scale } = JSON.parse(record) as { scale?: number };
  return scale ?? null;
}
