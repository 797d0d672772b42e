/** Our declarations and the simulator's functions, compared with NVIDIA's headers where those are installed. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientsFolder } from '../../../../scripts/debian-clients.mjs';
import { CLIENTS, CUDA_TOOLKIT, compile, missingCompiler } from '../../../support/clients.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const include = join(CUDA_TOOLKIT, 'include');
const nvml = [include, join(clientsFolder('trixie'), 'usr/include')]
  .map((folder) => join(folder, 'nvml.h'))
  .find((header) => existsSync(header));
const unbuildable = missingCompiler();
const noCuda = unbuildable ?? (existsSync(join(include, 'cuda.h')) ? null : `no cuda.h under ${include}`);
const noNvml = unbuildable ?? (nvml ? null : `no nvml.h under ${include}, nor from npm run clients`);
const LIMIT_MS = 120_000;

const check = (source: string, options: readonly string[] = []) =>
  compile(['-std=c++17', '-fsyntax-only', '-Inative', `-I${include}`, ...options, join(CLIENTS, source)]);

/** Source files of the simulator that define functions of a library, with their names. */
function definitions(prefix: RegExp): [string, string[]][] {
  const folder = join(ROOT, 'native', 'sim', 'abi');
  return readdirSync(folder).flatMap((file): [string, string[]][] => {
    const text = /\.cc$|^nvml_functions\.h$/.test(file) ? readFileSync(join(folder, file), 'utf8') : '';
    const names = [
      ...text.matchAll(/^(?:UMASIM_API\s+(?:const\s+)?\w+\s*\*?\s*(?=\w+\()| {2}X\((?=\w+, ))(\w+)/gm),
    ].map((match) => String(match[1]));
    const ours = names.filter((name) => prefix.test(name));
    return ours.length > 0 ? [[file, ours]] : [];
  });
}

/** Compares the functions of one source file with headers; returns those that the headers do not have. */
function compare(
  file: string,
  names: readonly string[],
  headers: readonly string[],
  options: readonly string[],
): string[] {
  const text = headers.map((header) => readFileSync(header, 'utf8')).join('\n');
  const known = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  const list = join(temporaryFolder('abi'), 'names.h');
  writeFileSync(list, known.map((name) => `NAME(${name})\n`).join(''));
  check('abi_sim.cc', ['-Inative/sim/abi', `-DABI_SOURCE="${file}"`, `-DABI_NAMES="${list}"`, ...options]);
  return names.filter((name) => !known.includes(name));
}

describe.skipIf(noCuda !== null)(`CUDA${noCuda === null ? '' : ` (skipped: ${noCuda})`}`, () => {
  test(
    'constants, structs and function tables of native/ agree with cuda.h and cuda_runtime_api.h',
    () => {
      check('abi_cuda.cc');
    },
    LIMIT_MS,
  );

  test.each(definitions(/^cu/))(
    '%s of the simulator',
    (file, names) => {
      const headers = ['cuda.h', 'cuda_runtime_api.h', 'cuda_profiler_api.h'].map((name) => join(include, name));
      const missing = compare(file, names, headers, []);
      // Functions of CUDA 12 that CUDA 13 has removed.
      expect(['cudaMemPrefetchAsync_v2', 'cudaThreadSynchronize']).toEqual(expect.arrayContaining(missing));
    },
    LIMIT_MS,
  );
});

describe.skipIf(noNvml !== null)(`NVML${noNvml === null ? '' : ` (skipped: ${noNvml})`}`, () => {
  const header = [`-DNVIDIA_NVML_H="${nvml}"`];
  test(
    'constants, structs and function table of native/ agree with nvml.h',
    () => {
      check('abi_nvml.cc', header);
    },
    LIMIT_MS,
  );

  test.each(definitions(/^nvml/))(
    '%s of the simulator',
    (file, names) => {
      const missing = compare(file, names, [nvml ?? ''], header);
      // Headers before CUDA 13 do not have it.
      expect(['nvmlDeviceGetAddressingMode']).toEqual(expect.arrayContaining(missing));
    },
    LIMIT_MS,
  );
});
