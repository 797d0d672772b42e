/** Checks of NVIDIA's libraries: usable, and of matching versions. */

import { capitalized, formatPercent } from '../base/format.ts';
import { hasPools } from '../memory/headroom.ts';
import { noAnswerText } from '../memory/health.ts';
import { stalledPercent } from '../memory/pressure.ts';
import { STOP_LARGEST } from '../memory/remedies.ts';
import type { Finding, LibraryStatus, Pressure, Snapshot } from '../types/index.ts';
import { type Check, fail, pass, skip, warn } from './check.ts';

export const libraryChecks: readonly Check[] = [
  {
    id: 'library.cuda',
    title: 'CUDA can be used',
    needs: ['cuda', 'context'],
    run({ snapshot }) {
      const problem = libraryProblem('CUDA', snapshot.libraries.cuda, snapshot);
      if (problem !== null) return problem;
      const failed = snapshot.devices.find(
        ({ cuda, cudaIndex, from }) => cuda === null && cudaIndex !== null && /ERR_UMA/.test(from.cuda ?? ''),
      );
      if (failed === undefined) {
        const unread = snapshot.devices.some(({ cuda, cudaIndex }) => cuda === null && cudaIndex !== null);
        const note = unread ? '; cudaMemGetInfo was not read' : '';
        return pass(
          'The library is installed and answers.',
          describe(snapshot.libraries.cuda) + note + traces(snapshot),
        );
      }
      if (failed.from.cuda?.startsWith('ERR_UMA_TIMEOUT') === true)
        return noAnswer('CUDA (cudaMemGetInfo)', failed.from.cuda, snapshot.pressure);
      // cuMemGetInfo needs a context: OUT_OF_MEMORY with tens of GiB available (xr-ai PR 440), "busy" on 615 (llama.cpp
      // #24933).
      return warn(
        'CUDA answers, but cudaMemGetInfo failed: no context could be created.',
        `device ${failed.index}: ${failed.from.cuda ?? ''}`,
        'See the checks contiguity and memory.unattributed; a context needs free physical pages.',
      );
    },
  },
  {
    id: 'library.nvml',
    title: 'NVML can be used',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { nvml } = snapshot.libraries;
      return libraryProblem('NVML', nvml, snapshot) ?? pass('The library is installed and answers.', describe(nvml));
    },
  },
  {
    id: 'driver.match',
    title: 'Runtime and driver match',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { cuda, nvml } = snapshot.libraries;
      const module = snapshot.driver.version;
      if (module !== null && nvml.driverVersion !== null && module !== nvml.driverVersion) {
        return fail(
          'The loaded kernel module and the installed libraries have different versions: the driver was updated without a reboot.',
          `kernel module ${module}, libraries ${nvml.driverVersion}`,
          'Reboot.',
        );
      }
      if (cuda.version === null || cuda.driverVersion === null)
        return skip('The two versions are not known.', `CUDA ${cuda.state}`);
      const evidence = `runtime ${cuda.version}, driver supports ${cuda.driverVersion}${module === null ? '' : `, driver ${module}`}`;
      if (major(cuda.version) > major(cuda.driverVersion)) {
        return fail(
          'The CUDA runtime is newer than the driver.',
          evidence,
          'Update the driver, or use the CUDA runtime that it supports.',
        );
      }
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

/** null: the library is loaded. */
function libraryProblem(name: string, status: LibraryStatus, { devices, pressure }: Snapshot): Finding | null {
  const evidence = status.reason ?? describe(status);
  switch (status.state) {
    case 'loaded':
      return null;
    case 'timeout':
      return noAnswer(name, evidence, pressure);
    case 'unusable':
      return fail(
        `${name} is installed but cannot be used.`,
        evidence,
        'Install or load the matching NVIDIA driver; start a container with --gpus all.',
      );
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

function major(version: string): number {
  const number = Number.parseInt(version, 10);
  return Number.isNaN(number) ? 0 : number;
}
