/** Can NVIDIA's libraries be used, and do they fit each other? */

import { formatPercent } from '../base/format.ts';
import { noAnswerText } from '../memory/health.ts';
import { stalledPercent } from '../memory/pressure.ts';
import type { LibraryStatus, Pressure, Snapshot } from '../types/index.ts';
import { type Check, type Finding, fail, pass, skip, warn } from './check.ts';

export const libraryChecks: readonly Check[] = [
  {
    id: 'library.cuda',
    title: 'CUDA can be used',
    needs: ['cuda', 'context'],
    run({ snapshot }) {
      const unusable = library('CUDA', snapshot.libraries.cuda, snapshot);
      if (unusable !== null) return unusable;
      const failed = snapshot.devices.find(
        ({ cuda, cudaIndex, from }) => cuda === null && cudaIndex !== null && /ERR_UMA/.test(from.cuda ?? ''),
      );
      if (failed === undefined) {
        const unread = snapshot.devices.some(({ cuda, cudaIndex }) => cuda === null && cudaIndex !== null);
        const note = unread ? '; cudaMemGetInfo was not read' : '';
        return pass('The library is there and answers.', found(snapshot.libraries.cuda) + note);
      }
      if (failed.from.cuda?.startsWith('ERR_UMA_TIMEOUT') === true)
        return silent('CUDA (cudaMemGetInfo)', failed.from.cuda, snapshot.pressure);
      // cuMemGetInfo needs a context: OUT_OF_MEMORY with tens of GiB available (xr-ai PR 440), "busy" on 615 (llama.cpp #24933).
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
      return library('NVML', nvml, snapshot) ?? pass('The library is there and answers.', found(nvml));
    },
  },
  {
    id: 'driver.match',
    title: 'Runtime and driver fit each other',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { cuda, nvml } = snapshot.libraries;
      const module = snapshot.driver.version;
      if (module !== null && nvml.driverVersion !== null && module !== nvml.driverVersion) {
        return fail(
          'The loaded kernel module and the installed libraries are of different versions: the driver was updated without a reboot.',
          `kernel module ${module}, libraries ${nvml.driverVersion}`,
          'Reboot.',
        );
      }
      if (cuda.version === null || cuda.driverVersion === null)
        return skip('There are no two versions to compare.', `CUDA ${cuda.state}`);
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

function library(name: string, status: LibraryStatus, { devices, pressure }: Snapshot): Finding | null {
  const evidence = status.reason ?? found(status);
  switch (status.state) {
    case 'loaded':
      return null;
    case 'timeout':
      return silent(name, evidence, pressure);
    case 'unusable':
      return fail(
        `${name} is installed but cannot be used.`,
        evidence,
        'Install or load the NVIDIA driver that fits; in a container start it with --gpus all.',
      );
    case 'missing':
      return devices.length > 0
        ? warn(`${name} was not found, though the GPU was.`, evidence, `Install the package that has ${name}.`)
        : fail(
            `${name} was not found.`,
            evidence,
            'Install the NVIDIA driver; in a container start it with --gpus all.',
          );
  }
}

/**
 * A first start of CUDA on a machine whose driver was unloaded takes seconds, so one silence proves nothing. Together
 * with tasks that are all stalled for want of memory it is how a wedge of a Spark looks.
 */
function silent(name: string, reason: string, pressure: Pressure | null): Finding {
  const sentence = noAnswerText(name, reason);
  const evidence = `${reason}; pressure full ${formatPercent(pressure?.full.avg10 ?? null)} of the last 10 s`;
  if (stalledPercent(pressure) !== null) {
    return fail(
      `${sentence}, and nothing else could run either: the driver hangs for want of memory.`,
      evidence,
      'Stop the largest GPU process now.',
    );
  }
  return warn(
    `${sentence}: it is slow, as a first start can be, or it is stuck.`,
    evidence,
    'Run umaprobe doctor again in a minute. If it is silent again, look at the check pressure and at the kernel log (dmesg, lines with NVRM or Xid).',
  );
}

function found({ path, version, driverVersion }: LibraryStatus): string {
  const parts = [version, driverVersion === null ? null : `driver ${driverVersion}`, path];
  return parts.filter((part) => part !== null).join(', ');
}

function major(version: string): number {
  const number = Number.parseInt(version, 10);
  return Number.isNaN(number) ? 0 : number;
}
