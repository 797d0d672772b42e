/**
 * Faults of GPUs and of NVIDIA's libraries that the table of findings and the preflight of a probe name. The meaning of
 * a status is in driver-status.ts.
 */

import { formatBytes } from '../../base/format.ts';
import type {
  CallFailure,
  DeviceFailure,
  DeviceSnapshot,
  LibraryStatus,
  Reading,
  Severity,
} from '../../types/index.ts';
import { answerText, meaningOf, type StatusMeaning } from './driver-status.ts';

/** A problem as a sentence, and what to do about it as a clause; null: nothing. */
export interface Problem {
  severity: Severity;
  text: string;
  next: string | null;
}

/** A GPU that works again only after a reset or a reboot: its failure and what that means; null: it is not one. */
export function goneFailure(failures: readonly CallFailure[]): { failure: CallFailure; meaning: StatusMeaning } | null {
  for (const failure of failures) {
    const meaning = meaningOf(failure);
    if (meaning.gone !== undefined) return { failure, meaning };
  }
  return null;
}

/** "GPU 1 is lost: it has fallen off the bus … (nvmlDeviceGetHandleByIndex_v2 answered GPU_IS_LOST, 15)."; null: it is not. */
export function goneText({ failures, index }: Pick<DeviceSnapshot, 'failures' | 'index'>): string | null {
  const found = goneFailure(failures);
  return found === null ? null : goneSentence(`GPU ${index}`, found);
}

function goneSentence(gpu: string, { failure, meaning }: { failure: CallFailure; meaning: StatusMeaning }): string {
  return `${gpu} ${meaning.gone}: ${meaning.cause} (${answerText(failure)}).`;
}

/** Lost GPUs, and GPUs that must be reset. */
export const goneGpus = (snapshot: Pick<Reading, 'devices' | 'libraries'>): Problem | null => {
  const { devices, libraries } = snapshot;
  const gone = devices.filter(({ failures }) => goneFailure(failures) !== null);
  const [first] = gone;
  if (first !== undefined) {
    const rest = devices.filter((device) => !gone.includes(device)).map(({ index }) => index);
    const others = rest.length === 0 ? '' : ` ${gpuList(rest)} ${rest.length === 1 ? 'answers' : 'answer'}.`;
    return {
      severity: 'warning',
      text: `${together(gone, (device) => goneFailure(device.failures)?.failure, goneText)}${others}`,
      next: goneFailure(first.failures)?.meaning.remedy ?? null,
    };
  }
  // A library may refuse as a whole because of one GPU, and then lists none.
  const found = goneFailure([libraries.nvml.failure, libraries.cuda.failure].filter((failure) => failure !== null));
  if (found === null) return null;
  return { severity: 'warning', text: goneSentence('A GPU', found), next: found.meaning.remedy };
};

/** The sentence of each device; devices with the same status share one. */
export function together(
  devices: readonly DeviceSnapshot[],
  failureOf: (device: DeviceSnapshot) => CallFailure | undefined,
  textOf: (device: DeviceSnapshot) => string | null,
): string {
  const byStatus = new Map<string, DeviceSnapshot[]>();
  for (const device of devices) {
    const failure = failureOf(device);
    const key = `${failure?.library} ${failure?.status}`;
    byStatus.set(key, [...(byStatus.get(key) ?? []), device]);
  }
  return [...byStatus.values()]
    .map(([first, ...others]) => {
      const text = first === undefined ? '' : textOf(first);
      return others.length === 0 ? text : `${text} The same on ${gpuList(others.map(({ index }) => index))}.`;
    })
    .join(' ');
}

/** "GPU 0", "GPU 0 and 2". */
function gpuList(indexes: readonly number[]): string {
  return `GPU ${indexes.join(', ').replace(/, (\d+)$/, ' and $1')}`;
}

/** Cause and remedy of a library in state `unusable`. */
export function refusalMeaning({ failure }: LibraryStatus): StatusMeaning {
  return failure === null
    ? { cause: 'it gives no reason', remedy: 'see umaprobe snapshot --json' }
    : meaningOf(failure);
}

/** The failure of cudaMemGetInfo or of the context that it needs; undefined: none, or no answer in time. */
export function contextFailure({ failures }: Pick<DeviceSnapshot, 'failures'>): DeviceFailure | undefined {
  return failures.find(({ path, name }) => path === 'cuda' && name !== 'TIMEOUT');
}

/** "No CUDA program can start on GPU 0: … (cudaMemGetInfo answered cudaErrorMemoryAllocation, 2)."; null: one can. */
export function contextText(device: DeviceSnapshot, { host }: Pick<Reading, 'host'>): string | null {
  const failure = contextFailure(device);
  if (failure === undefined) return null;
  const { cause } = meaningOf(failure, device.memoryModel);
  const available = device.memoryModel === 'unified' ? host.available : (device.nvml?.free ?? null);
  const though = failure.status !== 2 || available === null ? '' : `, though ${formatBytes(available)} are available`;
  const subject = failure.status === 2 ? 'no CUDA context can be created' : 'no CUDA program can use it';
  return `GPU ${device.index}: ${subject}, because ${cause}${though} (${answerText(failure)}).`;
}

/** The call that begins everything about a device: without it nothing else is read. */
const FIRST_CALLS: readonly string[] = ['cuInit', 'cuDeviceGet', 'nvmlDeviceGetHandleByIndex_v2'];

/** GPUs that a library lists and cannot reach. */
export const unreachableGpus = ({ devices }: Pick<Reading, 'devices'>): Problem | null => {
  for (const { failures, index } of devices) {
    const failure = failures.find(({ call, name }) => FIRST_CALLS.includes(call) && name !== 'TIMEOUT');
    if (failure === undefined) continue;
    const { cause, remedy } = meaningOf(failure);
    const library = failure.library === 'cuda' ? 'CUDA' : 'NVML';
    return {
      severity: 'warning',
      text: `${library} cannot reach GPU ${index}: ${cause} (${answerText(failure)}).`,
      next: remedy,
    };
  }
  return null;
};

const FIELD_NAMES: Readonly<Record<string, string>> = {
  nvml: 'memory by NVML',
  addressingMode: 'addressing mode',
  migMode: 'MIG mode',
  utilizationPercent: 'utilization',
  temperatureC: 'temperature',
  powerW: 'power',
  smClockMHz: 'clock',
  uuid: 'UUID',
  pciBusId: 'PCI address',
  memoryModel: 'memory model',
  computeCapability: 'compute capability',
};

/** Single readings that failed while the rest of the device answers. */
export const failedReadings = ({ devices }: Pick<Reading, 'devices'>): Problem | null => {
  for (const { failures, index } of devices) {
    const refused = failures.filter(({ name, path }) => name !== 'TIMEOUT' && path !== 'cuda');
    const [first] = refused;
    if (first === undefined) continue;
    const { cause, remedy } = meaningOf(first);
    const fields = new Set(
      refused.map(({ path }) => FIELD_NAMES[path] ?? path.replace(/^attributes\..*/, 'attributes')),
    );
    return {
      severity: 'notice',
      text: `GPU ${index} does not report its ${[...fields].join(', ').replace(/, ([^,]+)$/, ' and $1')}: ${cause} (${answerText(first)}).`,
      next: remedy,
    };
  }
  return null;
};

/** Versions that do not fit together, although the libraries answer. */
export function versionProblem({ driver, libraries: { cuda, nvml } }: Pick<Reading, 'driver' | 'libraries'>): {
  cause: string;
  evidence: string;
  remedy: string;
} | null {
  if (driver.version !== null && nvml.driverVersion !== null && driver.version !== nvml.driverVersion) {
    return {
      cause:
        'the loaded kernel module and the installed libraries have different versions, as after an update without a reboot',
      evidence: `kernel module ${driver.version}, libraries ${nvml.driverVersion}`,
      remedy: 'reboot this machine',
    };
  }
  if (cuda.version !== null && cuda.driverVersion !== null && major(cuda.version) > major(cuda.driverVersion)) {
    return {
      cause: 'the CUDA runtime is newer than the driver',
      evidence: `runtime ${cuda.version}, driver supports ${cuda.driverVersion}`,
      remedy: 'update the driver, or use the CUDA runtime that it supports',
    };
  }
  return null;
}

function major(version: string): number {
  const number = Number.parseInt(version, 10);
  return Number.isNaN(number) ? 0 : number;
}
