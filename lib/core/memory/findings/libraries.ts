/** Rows about NVIDIA's libraries and the driver: usable, answering, of matching versions. */

import type { CallFailure, Evidence, LibraryStatus, LoadEffect, Reading } from '../../../types/index.ts';
import { contextFailure, contextText, goneGpus, refusalMeaning, together, versionProblem } from '../device-health.ts';
import { answerText, meaningOf } from '../driver-status.ts';
import { refusesContexts } from '../quirks.ts';
import { noAnswerText, silentCall } from '../silent.ts';
import { isUntried } from '../untried-context.ts';
import {
  advice,
  applies,
  NOTHING,
  passed,
  REFUSES,
  type Row,
  type RowOutcome,
  text,
  UNKNOWN_EFFECT,
  unknown,
} from './row.ts';

export const cuda: Row = {
  needs: ['cuda', 'context'],
  judge({ snapshot }) {
    const status = snapshot.libraries.cuda;
    const problem =
      silence('CUDA', 'cuda', status, snapshot) ??
      refused('CUDA', status, snapshot, REFUSES, 'No program can use the GPU.') ??
      noContext(snapshot);
    if (problem !== null) return problem;
    // The source of a tried context says what it has left behind.
    const tried = snapshot.devices.filter((device) => device.cuda !== null);
    const evidence = () => [
      ...evidenceOf(status),
      ...tried.flatMap(({ from, index }) => text(`GPU ${index}`, from.cuda, 'cudaMemGetInfo')),
    ];
    if (status.state === 'missing') return missing('CUDA', snapshot);
    const untried = snapshot.devices.find(
      ({ cuda: memory, from }) => memory === null && /^ERR_UMA/.test(from.cuda ?? ''),
    );
    if (untried !== undefined)
      return applies({
        severity: 'warning',
        summary: 'CUDA answers, but whether a program can start on it could not be tried.',
        effect: UNKNOWN_EFFECT,
        evidence: () => text(`GPU ${untried.index}`, untried.from.cuda, 'cudaMemGetInfo'),
        remedy: advice('run it again; look at the limits of this process (ulimit -a)'),
      });
    const what = snapshot.devices.some(isUntried) ? ' Whether a CUDA program can start was not tried.' : '';
    return passed(`CUDA is installed and answers.${what}`, evidence);
  },
};

export const nvml: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const status = snapshot.libraries.nvml;
    const unseen = 'Which programs hold GPU memory is not known.';
    const problem =
      silence('NVML', 'nvml', status, snapshot) ?? refused('NVML', status, snapshot, UNKNOWN_EFFECT, unseen);
    if (problem !== null) return problem;
    return status.state === 'missing'
      ? missing('NVML', snapshot)
      : passed('NVML is installed and answers.', () => evidenceOf(status));
  },
};

/**
 * NVML blocked for 491 to 737 s in wedges of GB10s (MiaAI DeepSeek-v4.1-Flash #23). But a first start of CUDA takes
 * seconds too, so silence alone does not prove a hang; together with a memory stall the row `pressure` has decided.
 */
function silence(
  name: string,
  library: CallFailure['library'],
  status: LibraryStatus,
  { devices }: Reading,
): RowOutcome | null {
  // A library that has counted its devices is loaded, and may hang later: in a call for one device.
  const silent = status.state === 'timeout' ? { reason: status.reason } : silentCall(library, devices);
  if (silent === undefined) return null;
  return applies({
    severity: 'warning',
    summary: `${noAnswerText(name, silent.reason)}: slow or stuck. The kernel’s numbers are valid.`,
    effect: UNKNOWN_EFFECT,
    evidence: () => text(name, silent.reason ?? 'no answer', name),
    remedy: advice(
      'check again, then run: umaprobe doctor; if it happens again, look at the kernel log (dmesg, lines with NVRM or Xid)',
    ),
  });
}

/** Statuses of a library on a machine that has no NVIDIA GPU at all. */
const WITHOUT_GPU: Readonly<Record<CallFailure['library'], readonly number[]>> = { cuda: [34, 35, 100], nvml: [9, 12] };

/** A library that was found but refuses as a whole. */
function refused(
  name: string,
  status: LibraryStatus,
  snapshot: Reading,
  effect: LoadEffect,
  unseen: string,
): RowOutcome | null {
  if (status.state !== 'unusable') return null;
  // A lost GPU explains most refusals, and NVML may have named it.
  const lost = goneGpus(snapshot);
  const { cause, remedy } = refusalMeaning(status);
  const { failure } = status;
  const answer = failure === null ? '' : ` (${answerText(failure)})`;
  // No GPU: nothing is refused.
  const noGpu =
    snapshot.devices.length === 0 && failure !== null && WITHOUT_GPU[failure.library].includes(failure.status ?? -1);
  return applies({
    severity: 'warning',
    summary: `${name} cannot be used: ${lost === null ? `${cause}${answer}.` : lost.text}${noGpu ? '' : ` ${unseen}`}`,
    effect: noGpu ? UNKNOWN_EFFECT : effect,
    evidence: () => evidenceOf(status),
    remedy: advice(lost?.next ?? remedy),
  });
}

/** A GPU on which no CUDA context can be created. */
function noContext(snapshot: Reading): RowOutcome | null {
  const failed = snapshot.devices.filter((device) => contextFailure(device) !== undefined);
  const [first] = failed;
  const failure = first === undefined ? undefined : contextFailure(first);
  if (first === undefined || failure === undefined) return null;
  const { remedy } = meaningOf(failure, first.memoryModel);
  return applies({
    severity: 'warning',
    summary: together(failed, contextFailure, (device) => contextText(device, snapshot)),
    effect: failed.length === snapshot.devices.length ? REFUSES : NOTHING,
    evidence: () => text(`GPU ${first.index}`, failure.reason, failure.call),
    remedy: advice(remedy),
  });
}

function missing(name: 'CUDA' | 'NVML', { devices, libraries }: Reading): RowOutcome {
  const evidence = () => evidenceOf(libraries[name === 'CUDA' ? 'cuda' : 'nvml']);
  if (devices.length === 0)
    return applies({
      severity: 'warning',
      summary: `${name} was not found: there is no GPU, or no driver for it.`,
      effect: UNKNOWN_EFFECT,
      evidence,
      remedy: advice('install the NVIDIA driver; start a container with --gpus all'),
    });
  const [file, summary] =
    name === 'CUDA'
      ? ['libcuda.so.1', 'There is a GPU, but CUDA is not installed here: no program can use the GPU.']
      : ['libnvidia-ml.so.1', 'NVML is not installed here: which programs hold GPU memory is not known.'];
  return applies({
    severity: name === 'CUDA' ? 'warning' : 'notice',
    summary,
    effect: name === 'CUDA' ? REFUSES : UNKNOWN_EFFECT,
    evidence,
    remedy: advice(`install ${file} of the driver; in a container: set NVIDIA_DRIVER_CAPABILITIES=all`),
  });
}

export const versions: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { driver, libraries } = snapshot;
    const evidence = () => [
      ...text('runtime', libraries.cuda.version, 'cudaRuntimeGetVersion'),
      ...text('driver supports', libraries.cuda.driverVersion, 'cudaDriverGetVersion'),
      ...text('kernel module', driver.version, '/proc/driver/nvidia/version'),
      ...text('libraries', libraries.nvml.driverVersion, 'nvmlSystemGetDriverVersion'),
    ];
    const problem = versionProblem(snapshot);
    if (problem !== null)
      return applies({
        severity: 'warning',
        summary: `The driver does not fit: ${problem.cause} (${problem.evidence}).`,
        effect: UNKNOWN_EFFECT,
        evidence,
        remedy: advice(problem.remedy),
      });
    const { driverVersion, state, version } = libraries.cuda;
    if (version === null || driverVersion === null)
      return unknown(
        `the versions of runtime and driver are not both known${state === 'loaded' ? '' : `: CUDA ${STATES[state]}`}`,
        evidence,
      );
    return passed('The driver supports this runtime.', evidence);
  },
};

/** Only trying a context shows whether the driver refuses it here. */
export const refusingDriver: Row = {
  needs: ['cuda', 'context'],
  judge({ snapshot: { devices, driver } }) {
    const evidence = () => text('driver', driver.version, '/proc/driver/nvidia/version');
    const device = devices.find(isUntried);
    if (device?.memoryModel !== 'unified' || !refusesContexts(driver))
      return passed('This driver is not known to refuse contexts, or one was tried.', evidence);
    return applies({
      severity: 'warning',
      summary: `Whether a CUDA program can start was not tried, and driver ${driver.version} is reported to refuse every CUDA context (46, devices busy or unavailable).`,
      effect: UNKNOWN_EFFECT,
      evidence,
      remedy: advice('umaprobe doctor --only library.cuda, which tries one; if it fails, use another driver version'),
    });
  },
};

function evidenceOf({ driverVersion, path, reason, version }: LibraryStatus): Evidence[] {
  return [
    ...text('version', version, path ?? 'the library'),
    ...text('driver', driverVersion, path ?? 'the library'),
    ...text('file', path, 'dlopen'),
    ...text('reason', reason === null ? null : withoutSearch(reason), 'the library'),
  ];
}

const NO_FILE = /^\S*?([\w.-]+): cannot open shared object file: No such file or directory$/;

/** A library that is nowhere is one sentence, without the paths that the loader tried: the document has them. */
function withoutSearch(reason: string): string {
  return reason.replaceAll(
    /ERR_UMA_LIBRARY_MISSING: dlopen \S+ answered LIBRARY_MISSING: (.*?)(?=; ERR_UMA_|$)/g,
    (all, tried: string) => {
      if (/ is not installed on this simulated machine$/.test(tried)) return tried;
      const names = tried.split('; ').map((each) => NO_FILE.exec(each)?.[1]);
      return names.includes(undefined) ? all : `the file ${names[0]} is not on this computer`;
    },
  );
}

/** "CUDA sees no device, NVML is not installed": the libraries' own messages, with every path tried, are in the document. */
export function whyNoGpu({ libraries }: Pick<Reading, 'libraries'>): string {
  const { cuda: runtime, nvml: management } = libraries;
  if (runtime.state === 'missing' && management.state === 'missing') return 'neither CUDA nor NVML is installed here';
  return `CUDA ${STATES[runtime.state]}, NVML ${STATES[management.state]}`;
}

const STATES: Readonly<Record<LibraryStatus['state'], string>> = {
  loaded: 'sees no device',
  missing: 'is not installed',
  unusable: 'cannot be used',
  timeout: 'does not answer',
};
