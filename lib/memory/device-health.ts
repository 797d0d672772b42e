/**
 * What is wrong with GPUs and with NVIDIA's libraries: the problems that the verdict (health.ts), doctor and the
 * preflight of a probe name, in their common words. What a status means is in driver-status.ts.
 */

import { formatBytes } from '../base/format.ts';
import type { CallFailure, DeviceFailure, DeviceSnapshot, LibraryStatus, Snapshot } from '../types/index.ts';
import { answerText, meaningOf, type StatusMeaning } from './driver-status.ts';
import type { Rule } from './verdict.ts';

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
export const goneGpus: Rule = (snapshot) => {
  const { devices, libraries } = snapshot;
  const gone = devices.filter(({ failures }) => goneFailure(failures) !== null);
  const [first] = gone;
  if (first !== undefined) {
    const rest = devices.filter((device) => !gone.includes(device)).map(({ index }) => index);
    const others = rest.length === 0 ? '' : ` ${gpuList(rest)} ${rest.length === 1 ? 'answers' : 'answer'}.`;
    return {
      level: 'warning',
      text: `${together(gone, (device) => goneFailure(device.failures)?.failure, goneText)}${others}`,
      next: goneFailure(first.failures)?.meaning.remedy ?? null,
    };
  }
  // A library may refuse as a whole because of one GPU, and then lists none.
  const found = goneFailure([libraries.nvml.failure, libraries.cuda.failure].filter((failure) => failure !== null));
  if (found === null) return null;
  return { level: 'warning', text: goneSentence('A GPU', found), next: found.meaning.remedy };
};

/** The sentence of each device; devices with the same status share one. */
function together(
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

/** Statuses of a library on a machine that has no NVIDIA GPU at all. */
const WITHOUT_GPU: Readonly<Record<CallFailure['library'], readonly number[]>> = { cuda: [34, 35, 100], nvml: [9, 12] };

/** A library that was found but refuses as a whole. */
export const refusingLibraries: Rule = (snapshot) => {
  const { devices, libraries } = snapshot;
  const refusals = [refusal('CUDA', libraries.cuda), refusal('NVML', libraries.nvml)].filter((text) => text !== null);
  const [first] = refusals;
  if (first === undefined) return null;
  const failures = [libraries.cuda.failure, libraries.nvml.failure].filter((failure) => failure !== null);
  const noGpu = failures.every(({ library, status }) => WITHOUT_GPU[library].includes(status ?? -1));
  if (devices.length === 0 && noGpu) return null;
  const unseen =
    libraries.cuda.state === 'loaded'
      ? ' Which programs hold GPU memory is not known.'
      : ' No program can use the GPU.';
  return { level: 'warning', text: `${refusals.map(({ text }) => text).join(' ')}${unseen}`, next: first.remedy };
};

function refusal(name: string, status: LibraryStatus): { text: string; remedy: string } | null {
  if (status.state !== 'unusable') return null;
  const { cause, remedy } = refusalMeaning(status);
  const answer = status.failure === null ? '' : ` (${answerText(status.failure)})`;
  return { text: `${name} cannot be used: ${cause}${answer}.`, remedy };
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
export function contextText(device: DeviceSnapshot, { host }: Pick<Snapshot, 'host'>): string | null {
  const failure = contextFailure(device);
  if (failure === undefined) return null;
  const { cause } = meaningOf(failure, device.memoryModel);
  const available = device.memoryModel === 'unified' ? host.available : (device.nvml?.free ?? null);
  const though = failure.status !== 2 || available === null ? '' : `, though ${formatBytes(available)} are available`;
  const subject = failure.status === 2 ? 'no CUDA context can be created' : 'no CUDA program can use it';
  return `GPU ${device.index}: ${subject}, because ${cause}${though} (${answerText(failure)}).`;
}

/** GPUs on which no CUDA context can be created. */
export const failedContexts: Rule = (snapshot) => {
  const failed = snapshot.devices.filter((device) => contextFailure(device) !== undefined);
  const [first] = failed;
  const failure = first === undefined ? undefined : contextFailure(first);
  if (first === undefined || failure === undefined) return null;
  return {
    level: 'warning',
    text: together(failed, contextFailure, (device) => contextText(device, snapshot)),
    next: meaningOf(failure, first.memoryModel).remedy,
  };
};

/** The call that begins everything about a device: without it nothing else is read. */
const FIRST_CALLS: readonly string[] = ['cuInit', 'cuDeviceGet', 'nvmlDeviceGetHandleByIndex_v2'];

/** GPUs that a library lists and cannot reach. */
export const unreachableGpus: Rule = ({ devices }) => {
  for (const { failures, index } of devices) {
    const failure = failures.find(({ call, name }) => FIRST_CALLS.includes(call) && name !== 'TIMEOUT');
    if (failure === undefined) continue;
    const { cause, remedy } = meaningOf(failure);
    const library = failure.library === 'cuda' ? 'CUDA' : 'NVML';
    return {
      level: 'warning',
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
export const failedReadings: Rule = ({ devices }) => {
  for (const { failures, index } of devices) {
    const refused = failures.filter(({ name, path }) => name !== 'TIMEOUT' && path !== 'cuda');
    const [first] = refused;
    if (first === undefined) continue;
    const { cause, remedy } = meaningOf(first);
    const fields = new Set(
      refused.map(({ path }) => FIELD_NAMES[path] ?? path.replace(/^attributes\..*/, 'attributes')),
    );
    return {
      level: 'notice',
      text: `GPU ${index} does not report its ${[...fields].join(', ').replace(/, ([^,]+)$/, ' and $1')}: ${cause} (${answerText(first)}).`,
      next: remedy,
    };
  }
  return null;
};

/** One of the two libraries is not installed although the other one lists a GPU. */
export const missingLibraries: Rule = ({ devices, libraries: { cuda, nvml } }) => {
  if (devices.length === 0) return null;
  if (cuda.state === 'missing')
    return {
      level: 'warning',
      text: 'There is a GPU, but CUDA is not installed here: no program can use the GPU.',
      next: 'install libcuda.so.1 of the driver; in a container: set NVIDIA_DRIVER_CAPABILITIES=all',
    };
  if (nvml.state !== 'missing') return null;
  return {
    level: 'notice',
    text: 'NVML is not installed here: which programs hold GPU memory is not known.',
    next: 'install libnvidia-ml.so.1 of the driver; in a container: set NVIDIA_DRIVER_CAPABILITIES=all',
  };
};

/** Versions that do not fit together, although the libraries answer. */
export function versionProblem({ driver, libraries: { cuda, nvml } }: Pick<Snapshot, 'driver' | 'libraries'>): {
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

export const versionsThatDoNotFit: Rule = (snapshot) => {
  const problem = versionProblem(snapshot);
  if (problem === null) return null;
  const { cause, evidence, remedy } = problem;
  return { level: 'warning', text: `The driver does not fit: ${cause} (${evidence}).`, next: remedy };
};
