/**
 * The matrix of broken machines: every single fault, with the snapshot and doctor's rows of a machine that has it. The
 * reading is the built package's, in a process of its own; the verdict and the checks are computed here from it.
 */
import { checkResult } from '../../lib/core/doctor/report.ts';
import { FINDING_IDS, outcomeOf } from '../../lib/core/memory/findings/index.ts';
import { loadMachine, type Machine, type MachineEvent, type MachineFile, simulate } from '../../lib/sim.ts';
import type { CheckResult, Snapshot } from '../../lib/types/index.ts';
import { parseLines, requireSuccess, resultOf, startModule } from './processes.ts';
import { ROOT } from './root.ts';

/** Effect of a fault on a healthy machine. `harmless`: nothing that anyone needs; an older function helps. */
export type Effect = 'wrong' | 'harmless';

export interface FaultCase {
  name: string;
  effect: Effect;
  /** The machines on which it has no effect, as a test over the healthy machine. */
  unless?: (snapshot: Snapshot) => boolean;
  /** A call that hangs: the reading has a short deadline. */
  hangs?: true;
  apply(machine: Machine): Machine;
}

type Fault = { call: string; status?: number; ms?: number; device?: number };

/** Adds to lists of faults, so that the machine keeps its own. */
function withFaults(kind: keyof Machine['faults'], entries: readonly (Fault | string)[]): FaultCase['apply'] {
  return (machine) => {
    const before = machine.faults[kind] ?? [];
    const together = kind.startsWith('missing') ? [...new Set([...before, ...entries])] : [...entries, ...before];
    return { ...machine, faults: { ...machine.faults, [kind]: together } };
  };
}

const hasDevices = ({ devices }: Machine): boolean => devices.length > 0;

/** The runtime passes on what cuInit answers; the simulator's runtime does not call it. */
const INIT = ['cuInit', 'cudaGetDeviceCount'];
/** The calls that create a context or need one. */
const CONTEXT = ['cudaMemGetInfo', 'cudaSetDevice', 'cuDevicePrimaryCtxRetain', 'cuCtxCreate*', 'cuMemGetInfo*'];
const PROCESSES = ['nvmlDeviceGetComputeRunningProcesses_v3', 'nvmlDeviceGetComputeRunningProcesses_v2'];
const HANG_MS = 600_000;

const failing = (name: string, calls: readonly string[], status: number, effect: Effect = 'wrong'): FaultCase => ({
  name: `${name} answers ${status}`,
  effect,
  apply: withFaults(
    'fail',
    calls.map((call) => ({ call, status })),
  ),
});

const hanging = (name: string, calls: readonly string[]): FaultCase => ({
  name: `${name} hangs`,
  effect: 'wrong',
  hangs: true,
  apply: withFaults(
    'hang',
    calls.map((call) => ({ call, ms: HANG_MS })),
  ),
});

const lackingLibraries = (libraries: readonly string[], effect: Effect = 'wrong'): FaultCase => ({
  name: `no library ${libraries.join(', ')}`,
  effect,
  apply: withFaults('missingLibraries', libraries),
});

const lackingFunctions = (functions: readonly string[], effect: Effect): FaultCase => ({
  name: `no function ${functions.join(', ')}`,
  effect,
  apply: withFaults('missingSymbols', functions),
});

const replacing = (name: string, path: string, file: Partial<MachineFile>, effect: Effect): FaultCase => ({
  name,
  effect,
  apply: (machine) => ({ ...machine, files: [{ path, ...file }] }),
});

/** A file that never answers: every program that reads it hangs. */
const silent = (path: string): FaultCase => ({
  ...replacing(`${path} does not answer`, path, { hangMs: HANG_MS }, 'wrong'),
  hangs: true,
});

const lost = (cuInit: NonNullable<MachineEvent['cuInit']>): FaultCase => ({
  name: `device 0 is lost, cuInit ${cuInit}`,
  effect: 'wrong',
  apply: (machine) =>
    hasDevices(machine)
      ? {
          ...machine,
          events: [...machine.events, { atMs: 0, what: 'lost', device: 0, cuInit }],
        }
      : machine,
});

const hasOwnMemory = ({ devices }: Snapshot): boolean => devices.every(({ memoryModel }) => memoryModel !== 'unified');
const hasNvmlMemory = ({ devices }: Snapshot): boolean => devices.every(({ nvml }) => nvml !== null);

export const FAULTS: readonly FaultCase[] = [
  lackingLibraries(['cudart'], 'harmless'), // programs bring their own, and the driver has every fact
  lackingLibraries(['cuda']),
  lackingLibraries(['nvml']),
  lackingLibraries(['cudart', 'cuda']),
  lackingLibraries(['cudart', 'cuda', 'nvml']),

  lackingFunctions(['cuInit'], 'wrong'),
  lackingFunctions(['cuDeviceGetAttribute', 'cudaDeviceGetAttribute'], 'wrong'),
  lackingFunctions(['cuDeviceGetUuid_v2'], 'harmless'),
  lackingFunctions(['cuDevicePrimaryCtxGetState'], 'harmless'),
  lackingFunctions(['nvmlInit_v2'], 'wrong'),
  lackingFunctions(['nvmlDeviceGetHandleByIndex_v2'], 'wrong'),
  lackingFunctions(['nvmlDeviceGetMemoryInfo_v2'], 'harmless'),
  lackingFunctions(['nvmlDeviceGetComputeRunningProcesses_v3'], 'harmless'),
  lackingFunctions(['nvmlDeviceGetTemperature'], 'harmless'),
  lackingFunctions(['nvmlSystemGetDriverVersion'], 'harmless'),

  ...[3, 46, 100, 101, 304, 800, 802, 803, 804, 999].map((status) => failing('cuInit', INIT, status)),
  ...[2, 3, 46, 100, 101, 214, 304, 719, 802, 999].map((status) => failing('a context', CONTEXT, status)),
  failing('cuDeviceGet', ['cuDeviceGet'], 101),
  failing('cuDeviceGetAttribute', ['cuDeviceGetAttribute', 'cudaDeviceGetAttribute'], 999),
  ...[4, 9, 12, 15, 17, 18, 999].map((status) => failing('nvmlInit_v2', ['nvmlInit_v2'], status)),
  failing('nvmlDeviceGetCount_v2', ['nvmlDeviceGetCount_v2'], 999),
  ...[15, 16, 17, 999].map((status) =>
    failing('nvmlDeviceGetHandleByIndex_v2', ['nvmlDeviceGetHandleByIndex_v2'], status),
  ),
  ...[15, 16, 999].map((status) => failing('NVML memory info', ['nvmlDeviceGetMemoryInfo*'], status)),
  { ...failing('NVML memory info', ['nvmlDeviceGetMemoryInfo*'], 3, 'harmless'), unless: hasNvmlMemory },
  ...[4, 999].map((status) => failing('NVML process list', PROCESSES, status)),
  ...[4, 15, 999].map((status) => failing('NVML temperature', ['nvmlDeviceGetTemperature'], status)),
  failing('NVML temperature', ['nvmlDeviceGetTemperature'], 3, 'harmless'),

  ...(['UNKNOWN', 'NO_DEVICE', 'LEFT_OUT'] as const).map(lost),

  hanging('nvmlInit_v2', ['nvmlInit_v2']),
  hanging('nvmlDeviceGetHandleByIndex_v2', ['nvmlDeviceGetHandleByIndex_v2']),
  hanging('NVML temperature', ['nvmlDeviceGetTemperature']),
  hanging('cuInit', INIT),
  hanging('cuDeviceGetAttribute', ['cuDeviceGetAttribute']),
  hanging('a context', CONTEXT),

  {
    name: 'a runtime that is newer than the driver',
    effect: 'wrong',
    apply: (machine) =>
      withFaults('fail', [{ call: 'cudaGetDeviceCount', status: 35 }])({
        ...machine,
        driver: { ...machine.driver, runtimeVersion: 14_000 },
      }),
  },
  replacing(
    'a kernel module of another version',
    '/proc/driver/nvidia/version',
    { text: 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  999.99.01  Release Build\n' },
    'wrong',
  ),
  { ...replacing('no /proc/buddyinfo', '/proc/buddyinfo', { missing: true }, 'wrong'), unless: hasOwnMemory },
  {
    ...replacing('no /proc/pressure/memory', '/proc/pressure/memory', { missing: true }, 'wrong'),
    unless: hasOwnMemory,
  },
  {
    ...replacing('/proc/pressure/memory may not be read', '/proc/pressure/memory', { error: 'EACCES' }, 'wrong'),
    unless: hasOwnMemory,
  },
  ...['/proc/buddyinfo', '/proc/pressure/memory', '/proc/vmstat', '/proc/sys/vm/swappiness'].map(silent),
  replacing('no /proc/vmstat', '/proc/vmstat', { missing: true }, 'harmless'),
  replacing('no /proc/driver/nvidia/version', '/proc/driver/nvidia/version', { missing: true }, 'harmless'),
  replacing('no /proc/sys/vm/swappiness', '/proc/sys/vm/swappiness', { missing: true }, 'harmless'),
];

/** A machine of two GPUs with memory of their own. */
export function twoGpus(): Machine {
  const machine = loadMachine('h200-lost');
  return { ...machine, name: 'two-h200', events: [] };
}

/** The machine's own faults hang, also without another one. */
export function hangsByItself({ faults }: Machine): boolean {
  return faults.hang.length > 0;
}

export interface Diagnosis {
  snapshot: Snapshot;
  checks: CheckResult[];
}

const READ = `
  import { snapshot } from 'umaprobe';
  const { deadlineMs } = JSON.parse(process.argv[1]);
  console.log(JSON.stringify(await snapshot({ memGetInfo: 'inProcess', deadlineMs })));
  process.exit(0);`;

/** Time for a reading in which nothing hangs, however busy this computer is, and for one in which something does. */
const DEADLINE_MS = 20_000;
const HANG_DEADLINE_MS = 1000;
/** Simulated seconds per real one: a context takes 2 ms, and a hang 12 s. */
const SCALE = 50;

/** The context that the reading itself creates takes nothing, or else the numbers depend on when it is created. */
function withoutContextBytes(machine: Machine): Machine {
  if (!hasDevices(machine)) return machine;
  return { ...machine, devices: machine.devices.map((device) => ({ ...device, contextBytes: 0 })) };
}

/** Boots the machine for one reading, and judges it. */
export async function diagnose(machine: Machine, options: { hangs?: boolean } = {}): Promise<Diagnosis> {
  const simulation = simulate(withoutContextBytes(machine), { scale: SCALE });
  try {
    const deadlineMs = options.hangs === true ? HANG_DEADLINE_MS : DEADLINE_MS;
    const result = await resultOf(
      startModule(READ, {
        args: [JSON.stringify({ deadlineMs })],
        cwd: ROOT,
        env: { ...process.env, ...simulation.env },
        timeoutMs: 60_000,
      }),
    );
    requireSuccess(result);
    const [snapshot] = parseLines<Snapshot>(result.stdout);
    if (snapshot === undefined) throw new Error(`no snapshot: ${result.stderr}`);
    return { snapshot, checks: check(snapshot) };
  } finally {
    simulation.close();
  }
}

/** doctor's rows, with its readings besides a snapshot as on a healthy machine. */
function check(snapshot: Snapshot): CheckResult[] {
  const access = { nodes: [], closed: [], settings: {} };
  const facts = { snapshot, access, programs: new Set<string>(), oversubscription: '1', swapBytesPerSecond: 0 };
  return FINDING_IDS.map((id) => checkResult(id, outcomeOf(id, facts)));
}

/** Work on several cells at once: a reading mostly waits for its process to start. */
const AT_ONCE = 5;

export async function mapCells<T, R>(cells: readonly T[], work: (cell: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < cells.length; at = next++) results[at] = await work(cells[at] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

const LEVELS = ['ok', 'notice', 'warning', 'danger'];

/** Complaints about a diagnosis of a machine with a fault; [] if it is right. */
export function complaints(fault: FaultCase, broken: Diagnosis, healthy: Diagnosis): string[] {
  const found: string[] = [];
  const worst = LEVELS.indexOf(broken.snapshot.judgement.level);
  const { snapshot } = healthy;
  if (worst === 0 && snapshot.judgement.level !== 'ok') found.push('the verdict is ok, and was not without the fault');
  const matters = fault.effect === 'wrong' && snapshot.devices.length > 0 && fault.unless?.(snapshot) !== true;
  const harmless = fault.effect === 'harmless' && fault.unless?.(snapshot) !== true;
  if (matters && worst === 0) found.push('the verdict is ok');
  // A machine with a fault of its own may show nothing more; a library that is missing there has no further faults.
  const finds = broken.checks.some(
    (result, at) =>
      isWorse(result, healthy.checks[at]) ||
      result.status === 'warn' ||
      result.status === 'fail' ||
      (result.status === 'note' && result.id.startsWith('library.')),
  );
  if (matters && !finds) found.push('doctor finds nothing');
  if (
    harmless &&
    (worst > LEVELS.indexOf(snapshot.judgement.level) ||
      broken.checks.some(({ status }, at) => status === 'fail' && healthy.checks[at]?.status !== 'fail'))
  )
    found.push('worse than without the fault');
  // A lost GPU without an address may be any of the other library's GPUs without one.
  const ambiguous = snapshot.devices.some(({ pciBusId }) => pciBusId === null);
  if (!ambiguous && broken.snapshot.devices.length > snapshot.devices.length)
    found.push('more devices than without the fault');
  return found;
}

const STATUSES = ['pass', 'unknown', 'note', 'warn', 'fail'];

/** `unknown` counts: it says that a question cannot be answered here. */
function isWorse({ status, summary }: CheckResult, before: CheckResult | undefined): boolean {
  if (before === undefined || STATUSES.indexOf(status) > STATUSES.indexOf(before.status)) return true;
  return status !== 'pass' && summary !== before.summary;
}

/** A cell as lines of the golden table: the verdict, and the checks that find something, or else that cannot answer. */
export function goldenLines(fault: FaultCase, broken: Diagnosis, healthy: Diagnosis): string[] {
  const { because, level, next } = broken.snapshot.judgement;
  const changed = broken.checks.filter(({ status, summary }, at) => {
    const before = healthy.checks[at];
    return before?.summary !== summary || before.status !== status;
  });
  const findings = changed.filter(({ status }) => status === 'note' || status === 'warn' || status === 'fail');
  const lines = [
    `## ${fault.name}`,
    `${level}: ${because}`,
    ...(next === null ? [] : [`  → ${next}`]),
    ...(findings.length > 0 ? findings : changed.filter(({ status }) => status === 'unknown')).flatMap(
      ({ id, remedy, status, summary }) => [
        `${status} ${id}: ${summary}`,
        ...(remedy === null ? [] : [`  → ${remedy.text}`]),
      ],
    ),
  ];
  // The deadline passes a little later on a busy computer.
  return lines.map((line) => line.replaceAll(/within 1\.\d+ s/g, 'within 1.00 s'));
}
