/** The parent of every probe: judges the machine, keeps the journal, watches the child, waits for the memory. */

import { isFailure } from '../base/facts.ts';
import { defaultJournal, type Journal, openJournal } from '../journal/index.ts';
import { STALLED_PERCENT } from '../memory/pressure.ts';
import { native } from '../native/binding.ts';
import type { NativeAllocator } from '../native/contract.ts';
import { ProbeChild } from './child-process.ts';
import { ChildState } from './child-state.ts';
import type { RunLimits } from './context.ts';
import { probeHeader } from './header.ts';
import type { CheckedProbeOptions } from './options.ts';
import { type Preflight, preflight } from './preflight.ts';
import { type ChildRequest, WORDS_FD } from './protocol.ts';
import { settle } from './settle.ts';
import type { Baseline, ProbeRun, ProbeSpec } from './spec.ts';
import { type Supervisor, supervise } from './supervisor.ts';

/** Without JavaScript, 200 times a second; 1 % of a core at the most. */
const GUARD_INTERVAL_US = 5_000;
const GUARD_LEAVES_AFTER_MS = 200;

/**
 * Runs a command's loop in a child process and comes back when the child is gone and its memory has settled.
 *
 * @throws UmaError `ERR_UMA_FLOOR` where the machine is not fit for it, `ERR_UMA_JOURNAL`, `ERR_UMA_BUSY`, the code of a
 *   device or driver that is not there; and whatever the loop, `plan.request` or `plan.onEvent` throws.
 */
export async function runProbe<Request, Event, Result>(plan: ProbeSpec<Request, Event>): Promise<ProbeRun<Result>> {
  const started = performance.now();
  const safe = await preflight(plan);
  const journal = begin(plan, safe);
  try {
    const ground = { ...safe, timeScale: timeScale(safe.snapshot.simulated), unfinished: journal?.unfinished ?? null };
    plan.options.onStart?.({ floor: ground.floor, unfinished: ground.unfinished });
    const child = await runChild<Result>(ground, plan as ProbeSpec<unknown, unknown>, journal);
    const settled = await settle(ground.snapshot, plan.options.device);
    const header = probeHeader(ground, child.allocator, journal?.path ?? null);
    const { end, guard, reason, result } = child;
    return { header: { ...header, durationMs: performance.now() - started }, end, reason, result, guard, settled };
  } finally {
    journal?.close();
  }
}

function begin({ command, options }: Pick<ProbeSpec<unknown, unknown>, 'command' | 'options'>, safe: Preflight) {
  if (options.journal === false) return null;
  const { bootId, simulated } = safe.snapshot;
  const heading = { command, device: options.device, simulated, bootId };
  return openJournal(options.journal ?? defaultJournal(simulated), heading);
}

type ChildRun<Result> = Pick<ProbeRun<Result>, 'end' | 'guard' | 'reason' | 'result'> & {
  allocator: NativeAllocator | null;
};

async function runChild<Result>(
  ground: Baseline,
  plan: ProbeSpec<unknown, unknown>,
  journal: Journal | null,
): Promise<ChildRun<Result>> {
  const heard = new ChildState<Result>((event) => plan.onEvent(event));
  let supervisor: Supervisor | undefined;
  let request: ChildRequest;
  try {
    request = requestFor(ground, plan, journal);
  } catch (error) {
    journal?.gone('not started');
    throw error;
  }
  const child = new ProbeChild(request, journal?.fd ?? null, {
    message(message) {
      supervisor?.heard();
      if (!heard.receive(message)) supervisor?.stop('aborted');
    },
    guard: (line) => heard.guardLine(line),
  });
  supervisor = supervise(child, {
    floor: ground.floor?.bytes ?? null,
    timeoutMs: plan.options.timeoutMs,
    signal: plan.options.signal,
    isDone: () => heard.isOver,
  });
  const { end, exit, guard, reason } = await supervisor.verdict;
  // One that could not be killed still holds what it holds: its run stays a live one.
  if (exit !== null) journal?.gone(reason ?? end);
  heard.throwIfFailed();
  return { end, reason, result: heard.result, allocator: heard.allocator, guard: guard ?? heard.guard() };
}

function requestFor(ground: Baseline, plan: ProbeSpec<unknown, unknown>, journal: Journal | null): ChildRequest {
  const { device, floor, snapshot } = ground;
  const { options } = plan;
  const pressureFull = pressureLimit(ground, options);
  const limits: RunLimits = {
    device: options.device,
    memoryModel: device.memoryModel,
    hostTotal: snapshot.host.total,
    floor: floor?.bytes ?? null,
    pressureFull,
    stepDeadlineMs: options.stepDeadlineMs,
    timeScale: ground.timeScale,
  };
  return {
    command: plan.command,
    limits,
    guard: {
      floor: floor?.bytes ?? 0,
      pressureFull: pressureFull ?? 0,
      intervalUs: GUARD_INTERVAL_US,
      parent: process.pid,
      exitAfterMs: GUARD_LEAVES_AFTER_MS,
      wordsFd: WORDS_FD,
    },
    journal: journal === null ? null : { path: journal.path, run: { run: journal.run, bootId: snapshot.bootId } },
    request: plan.request(ground),
  };
}

/** Where nothing is taken from the host its pressure is not ours; where it was accepted at the start it cannot end the run. */
function pressureLimit({ floor, snapshot }: Baseline, { acceptAFrozenMachine }: CheckedProbeOptions): number | null {
  if (floor === null) return null;
  const now = snapshot.pressure?.full.avg10 ?? 0;
  return acceptAFrozenMachine && now >= STALLED_PERCENT ? null : STALLED_PERCENT;
}

/** Simulated milliseconds per real one, as the machine's record has it; null on real hardware. */
export function timeScale(simulated: string | null): number | null {
  if (simulated === null) return null;
  const { UMAPROBE_SIM = '', UMAPROBE_SIM_LIBRARY = '' } = native().machineVariables();
  const record = native().simRecord(UMAPROBE_SIM_LIBRARY, UMAPROBE_SIM);
  if (isFailure(record)) return null;
  const { scale } = JSON.parse(record) as { scale?: number };
  return scale ?? null;
}
