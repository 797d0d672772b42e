/** The CUDA runtime of the simulated machine as programs of several CUDA versions meet it. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { CLIENTS, compileC, missingCompiler, unsanitizedEnvironment } from '../../support/clients.ts';
import { machineWith, withMachine } from '../../support/machines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const unbuildable = missingCompiler();
const folder = temporaryFolder('cudart');

describe.skipIf(unbuildable !== null)(
  `the libcudart of CUDA 11, 12 and 13${unbuildable === null ? '' : ` (skipped: ${unbuildable})`}`,
  () => {
    const program = join(folder, 'cudart_versions');
    beforeAll(() => compileC(join(CLIENTS, 'cudart_versions.c'), program, ['-ldl']));

    const lines = (runtimeVersion: number, preload: boolean) =>
      withMachine(
        machineWith('gb10', { driver: { runtimeVersion } }),
        ({ foreignEnv }) => {
          const env = { ...unsanitizedEnvironment(), ...foreignEnv({ preload }) };
          const { status, stdout, stderr } = spawnSync(program, { encoding: 'utf8', env });
          expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
          return stdout.trim().split('\n');
        },
        { scale: 1000 },
      );

    /** The struct has 728, 1032 and 1008 bytes; not a byte more is written, or the caller's stack is smashed. */
    const expected = (how: string, versions: readonly number[]) => [
      `${how} libcudart.so.12 cudaRuntimeGetVersion 0 ${versions[1]}`,
      `${how} libcudart.so.12 cudaGetDeviceProperties 0 728 bytes: NVIDIA GB10`,
      `${how} libcudart.so.12 cudaGetDeviceProperties_v2 0 1032 bytes: NVIDIA GB10`,
      `${how} libcudart.so.11.0 cudaRuntimeGetVersion 0 ${versions[0]}`,
      `${how} libcudart.so.11.0 cudaGetDeviceProperties 0 728 bytes: NVIDIA GB10`,
      `${how} libcudart.so.13 cudaRuntimeGetVersion 0 ${versions[2]}`,
      `${how} libcudart.so.13 cudaGetDeviceProperties 0 1008 bytes: NVIDIA GB10`,
    ];

    test.each([
      [13_010, true, [11_080, 12_090, 13_010]],
      [12_060, true, [11_080, 12_060, 13_000]],
      [13_010, false, [11_080, 12_090, 13_010]],
    ])('on a machine with runtime %i, preloaded: %s', async (runtimeVersion, preload, versions) => {
      const all = [...expected('opened', versions), ...expected('linked', versions)];
      expect(await lines(runtimeVersion, preload)).toEqual(all);
    });
  },
);
