/** Rows about the GPUs themselves: each one answers, and programs find it. */

import { clean } from '../../../base/format.ts';
import type { DeviceSnapshot, Evidence, Reading } from '../../../types/index.ts';
import { failedReadings, goneFailure, goneGpus, unreachableGpus } from '../device-health.ts';
import { hidesAll, invisibleDevices, mayHideAll, misleadingEntry, variableText } from '../visibility.ts';
import { advice, applies, NOTHING, passed, REFUSES, type Row, type RowOutcome, text, unknown } from './row.ts';

export const state: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { devices } = snapshot;
    const evidence = () => evidenceOf(snapshot);
    const broken = goneGpus(snapshot) ?? unreachableGpus(snapshot);
    const problem = broken ?? failedReadings(snapshot);
    if (problem === null) {
      if (devices.length === 0) return passed('There is no GPU to ask.', evidence);
      return passed(devices.length === 1 ? 'The GPU answers.' : `All ${devices.length} GPUs answer.`, evidence);
    }
    const all = devices.every(({ failures }) => goneFailure(failures) !== null);
    return applies({
      severity: problem.severity,
      summary: problem.text,
      effect: broken !== null && all ? REFUSES : NOTHING,
      evidence,
      remedy: problem.next === null ? null : advice(problem.next),
    });
  },
};

function evidenceOf({ devices, libraries }: Reading): Evidence[] {
  const failures = [
    ...devices.flatMap((device) =>
      device.failures.map(({ call, reason }) => [`GPU ${device.index}`, reason, call] as const),
    ),
    ...[libraries.cuda.failure, libraries.nvml.failure].flatMap((failure) =>
      failure === null ? [] : [[failure.library, failure.reason, failure.call] as const],
    ),
  ];
  if (failures.length > 0) return failures.flatMap(([name, reason, from]) => text(name, reason, from));
  return devices.flatMap(({ from, index, name }) => text(`GPU ${index}`, name ?? 'unnamed', from.name ?? 'NVML'));
}

const SHOW_ALL = advice('unset CUDA_VISIBLE_DEVICES, or name the GPUs that programs should find, by index or UUID');

/** CUDA_VISIBLE_DEVICES: what it hides, and why a value hides more than was meant. */
export const visible: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const { cudaVisibleDevices, devices } = snapshot;
    const invisible = invisibleDevices(snapshot);
    const evidence = () => [
      ...text('CUDA_VISIBLE_DEVICES', cudaVisibleDevices, 'the environment'),
      ...devices.flatMap((device) => text(`GPU ${device.index}`, describe(device), device.from.visible ?? 'CUDA')),
    ];
    const warn = (summary: string, remedy = SHOW_ALL, effect = NOTHING): RowOutcome =>
      applies({ severity: 'warning', summary, effect, evidence, remedy });
    if (mayHideAll(snapshot))
      return warn(`CUDA shows no GPU to programs that are started here, and ${variableText(snapshot)} may hide some.`);
    if (devices.length === 0) return passed('There is no GPU.', evidence);
    if (devices.some((device) => device.visible === null)) return unknown('CUDA could not be asked', evidence);
    const misleading = misleadingEntry(snapshot);
    if (hidesAll(snapshot)) {
      const which =
        devices.length === 1 ? 'the GPU' : devices.length === 2 ? 'both GPUs' : `all ${devices.length} GPUs`;
      const why = misleading === null ? '' : ` The entry ${misleading}.`;
      return warn(
        `${variableText(snapshot)} hides ${which} of this machine from programs that are started here.${why}`,
        SHOW_ALL,
        REFUSES,
      );
    }
    if (misleading !== null) return warn(`In CUDA_VISIBLE_DEVICES the entry ${misleading}.`);
    if (invisible.length === 0) return passed('Programs started here find every GPU.', evidence);
    if (invisible.every(({ failures }) => goneFailure(failures) !== null))
      return passed('Programs started here find every GPU that works.', evidence);
    if (cudaVisibleDevices === null)
      return warn(
        'NVML lists a GPU that CUDA does not, and CUDA_VISIBLE_DEVICES is not set.',
        advice('see umaprobe doctor --only permissions,library.cuda; in a container, see which devices it was given'),
      );
    return passed(
      `CUDA_VISIBLE_DEVICES hides ${invisible.length} of ${devices.length} GPUs from programs started here.`,
      evidence,
    );
  },
};

/** "NVIDIA GB10, CUDA device 0", "NVIDIA H200: CUDA_VISIBLE_DEVICES="0" hides it". */
function describe({ cudaIndex, from, name }: DeviceSnapshot): string {
  const gpu = clean(name ?? 'unnamed');
  return cudaIndex === null ? `${gpu}: ${from.visible ?? 'CUDA does not list it'}` : `${gpu}, CUDA device ${cudaIndex}`;
}
