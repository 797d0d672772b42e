/** Checks of NVIDIA's libraries: usable, and of matching versions. */

import { capitalized, formatPercent } from '../base/format.ts';
import { contextFailure, contextText, goneGpus, refusalMeaning, versionProblem } from '../memory/device-health.ts';
import { meaningOf } from '../memory/driver-status.ts';
import { hasPools } from '../memory/headroom.ts';
import { stalledPercent } from '../memory/pressure.ts';
import { STOP_LARGEST } from '../memory/remedies.ts';
import { noAnswerText, silentCall } from '../memory/silent.ts';
import type { DeviceSnapshot, Finding, LibraryStatus, Pressure, Snapshot } from '../types/index.ts';
import { type Check, fail, pass, skip, warn } from './check.ts';

export const libraryChecks: readonly Check[] = [
  {
    id: 'library.cuda',
    title: 'CUDA can be used',
    needs: ['cuda', 'context'],
    run({ snapshot }) {
      const problem = libraryProblem('CUDA', snapshot.libraries.cuda, snapshot);
      if (problem !== null) return problem;
      const silent = silentCall('cuda', snapshot.devices);
      if (silent !== undefined)
        return noAnswer(`CUDA (${silent.call.replace(/ in a child process$/, '')})`, silent.reason, snapshot.pressure);
      const failed = snapshot.devices.find((device) => contextFailure(device) !== undefined);
      if (failed !== undefined) return noContext(failed, snapshot);
      const untried = snapshot.devices.find(({ cuda, from }) => cuda === null && /^ERR_UMA/.test(from.cuda ?? ''));
      if (untried !== undefined)
        return warn(
          'CUDA answers, but whether a program can start on it could not be tried.',
          `device ${untried.index}: ${untried.from.cuda}`,
          'Run it again; look at the limits of this process (ulimit -a).',
        );
      const unread = snapshot.devices.some(({ cuda, cudaIndex }) => cuda === null && cudaIndex !== null);
      const note = unread ? '; cudaMemGetInfo was not read' : '';
      return pass('The library is installed and answers.', describe(snapshot.libraries.cuda) + note + traces(snapshot));
    },
  },
  {
    id: 'library.nvml',
    title: 'NVML can be used',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { nvml } = snapshot.libraries;
      const problem = libraryProblem('NVML', nvml, snapshot);
      if (problem !== null) return problem;
      const silent = silentCall('nvml', snapshot.devices);
      if (silent !== undefined) return noAnswer('NVML', silent.reason, snapshot.pressure);
      return pass('The library is installed and answers.', describe(nvml));
    },
  },
  {
    id: 'driver.match',
    title: 'Runtime and driver match',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const problem = versionProblem(snapshot);
      if (problem !== null) {
        const { cause, evidence, remedy } = problem;
        return fail(sentence(cause), evidence, sentence(remedy));
      }
      const { cuda } = snapshot.libraries;
      const module = snapshot.driver.version;
      if (cuda.version === null || cuda.driverVersion === null)
        return skip('The two versions are not known.', `CUDA ${cuda.state}`);
      const evidence = `runtime ${cuda.version}, driver supports ${cuda.driverVersion}${module === null ? '' : `, driver ${module}`}`;
      return pass('The driver supports this runtime.', evidence);
    },
  },
];

/** What the context of this check has left behind: on drivers with pools its memory stays there. */
function traces({ devices, driver }: Snapshot): string {
  if (!hasPools(driver)) return '';
  const read = devices.filter(({ cuda, memoryModel }) => cuda !== null && memoryModel === 'unified');
  return read.map(({ from, index }) => `; device ${index}: ${from.cuda ?? ''}`).join('');
}

/** A full GPU has no room for one more context; everything else that refuses one stops every CUDA program. */
function noContext(device: DeviceSnapshot, snapshot: Snapshot): Finding {
  const failure = contextFailure(device);
  const { remedy } =
    failure === undefined ? refusalMeaning(snapshot.libraries.cuda) : meaningOf(failure, device.memoryModel);
  const answer = failure?.status === OUT_OF_MEMORY ? warn : fail;
  return answer(contextText(device, snapshot) ?? '', failure?.reason ?? '', sentence(remedy));
}

/** CUDA_ERROR_OUT_OF_MEMORY. */
const OUT_OF_MEMORY = 2;

/** "Reboot." from "reboot". */
function sentence(clause: string): string {
  return `${capitalized(clause)}.`;
}

/** null: the library is loaded. */
function libraryProblem(name: string, status: LibraryStatus, snapshot: Snapshot): Finding | null {
  const { devices, pressure } = snapshot;
  const evidence = status.reason ?? describe(status);
  switch (status.state) {
    case 'loaded':
      return null;
    case 'timeout':
      return noAnswer(name, evidence, pressure);
    case 'unusable': {
      const { cause, remedy } = refusalMeaning(status);
      // A lost GPU explains most refusals, and NVML may have named it.
      const lost = goneGpus(snapshot);
      return lost === null
        ? fail(`${name} is installed but cannot be used: ${cause}.`, evidence, sentence(remedy))
        : fail(`${name} cannot be used. ${lost.text}`, evidence, lost.next === null ? null : sentence(lost.next));
    }
    case 'missing':
      return devices.length > 0
        ? warn(`${name} was not found, though the GPU was.`, evidence, `Install the package that contains ${name}.`)
        : fail(`${name} was not found.`, evidence, 'Install the NVIDIA driver; start a container with --gpus all.');
  }
}

/**
 * A library that did not answer. A first start of CUDA after the driver was unloaded takes seconds, so this alone
 * proves nothing; together with a full memory stall it is the sign of a wedge of a Spark.
 */
function noAnswer(name: string, reason: string, pressure: Pressure | null): Finding {
  const sentence = noAnswerText(name, reason);
  const evidence = `${reason}; pressure full ${formatPercent(pressure?.full.avg10 ?? null)} of the last 10 s`;
  if (stalledPercent(pressure) !== null) {
    return fail(
      `${sentence}, and nothing else could run either: the driver hangs for lack of memory.`,
      evidence,
      `${capitalized(STOP_LARGEST)} now.`,
    );
  }
  return warn(
    `${sentence}: it is slow, as a first start can be, or it is stuck.`,
    evidence,
    'Run umaprobe doctor again in a minute. If it happens again, look at the check pressure and at the kernel log (dmesg, lines with NVRM or Xid).',
  );
}

/** "13.0, driver 580.142, /usr/lib/…". */
function describe({ path, version, driverVersion }: LibraryStatus): string {
  const parts = [version, driverVersion === null ? null : `driver ${driverVersion}`, path];
  return parts.filter((part) => part !== null).join(', ');
}
