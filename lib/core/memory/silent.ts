/** Libraries that do not answer in time. */

import { formatDuration } from '../../base/format.ts';
import type { CallFailure, DeviceFailure, DeviceSnapshot, LibraryStatus, Reading } from '../../types/index.ts';

/** The libraries that did not answer in time, and the reason of each. */
export function silentLibraries({
  libraries: { cuda, nvml },
  devices,
}: Reading): { name: string; reason: string | null }[] {
  // A library that has counted its devices is loaded, and may hang later: in a call for one device, or because
  // cudaMemGetInfo needs a context.
  const silent = (library: CallFailure['library'], { state, reason }: LibraryStatus) =>
    state === 'timeout' ? { reason } : silentCall(library, devices);
  return [
    { name: 'NVML', call: silent('nvml', nvml) },
    { name: 'CUDA', call: silent('cuda', cuda) },
  ].flatMap(({ name, call }) => (call === undefined ? [] : [{ name, reason: call.reason }]));
}

/** The call for a device that did not return in time. */
export function silentCall(
  library: CallFailure['library'],
  devices: readonly DeviceSnapshot[],
): DeviceFailure | undefined {
  return devices
    .flatMap(({ failures }) => failures)
    .find((call) => call.library === library && call.name === 'TIMEOUT');
}

/** "NVML did not answer within 2.00 s", with the time from the reason of the timeout. */
export function noAnswerText(name: string, reason: string | null): string {
  const ms = /(?:within|blocked for) (\d+(?:\.\d+)?) ms/.exec(reason ?? '')?.[1];
  return `${name} did not answer ${ms === undefined ? 'in time' : `within ${formatDuration(Number(ms))}`}`;
}
