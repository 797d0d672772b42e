/** memory.reclaim of cgroup v2: asks the kernel to reclaim memory from the programs of one cgroup. */

import { abortable } from '../../base/abort.ts';
import { invalidValue } from '../../base/arguments.ts';
import { type Failure, toUmaError, UmaError } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import { type CheckedOf, checkOptions } from '../../base/options.ts';
import type { ReclaimReport } from '../../types/index.ts';
import { kernelFiles } from '../host/files.ts';
import { parseCgroup, parseNumber } from '../host/procfs.ts';
import type { NativeBinding } from '../native/contract.ts';
import { RECLAIM, type ReclaimOptions } from './options.ts';
import { currentCounters, receipt } from './receipt.ts';
import type { System } from './system.ts';

const ROOT = '/sys/fs/cgroup';
/** The kernel reclaims until it has the amount or finds no more; with swap on a slow disk that takes minutes. */
const LIMIT_MS = 600_000;

export async function reclaimFrom(system: System, given: ReclaimOptions): Promise<ReclaimReport> {
  const options = checkOptions('reclaim()', given, RECLAIM);
  return abortable(options.signal, () => reclaimNow(system, options));
}

async function reclaimNow(
  system: System,
  { bytes, cgroup, signal }: CheckedOf<typeof RECLAIM>,
): Promise<ReclaimReport> {
  const started = performance.now();
  const at = new Date().toISOString();
  const { binding } = system;
  const folder = cgroup === undefined ? await processFolder(binding) : cgroupFolder(cgroup);
  const before = await currentBytes(binding, folder, cgroup !== undefined);
  const countersBefore = await currentCounters(system);
  signal?.throwIfAborted();
  const written = await binding.writeFile(`${folder}/memory.reclaim`, String(bytes), LIMIT_MS);
  // EAGAIN is a result: the kernel has reclaimed less than requested.
  const short = isFailure(written) && written.name === 'EAGAIN';
  if (isFailure(written) && !short) throw reclaimError(folder, written);
  const after = await currentBytes(binding, folder, false);
  return {
    schema: 'umaprobe/cache-reclaim/1',
    at,
    simulated: system.simulated,
    cgroup: folder,
    bytes,
    gotBytes: before - after,
    short,
    before,
    after,
    receipt: receipt(countersBefore, await currentCounters(system)),
    durationMs: performance.now() - started,
  };
}

/** The folder of "/user.slice/x" or of an absolute folder. A path that leaves the cgroups is refused. */
export function cgroupFolder(cgroup: string): string {
  const relative = cgroup === ROOT || cgroup.startsWith(`${ROOT}/`) ? cgroup.slice(ROOT.length) : cgroup;
  const parts = relative.split('/').filter((part) => part !== '');
  const isPlain = cgroup.startsWith('/') && !cgroup.includes('\0') && !parts.includes('..') && !parts.includes('.');
  if (isPlain && parts.length > 0) return [ROOT, ...parts].join('/');
  throw invalidValue(
    'cgroup',
    `a cgroup below the root, as in /proc/self/cgroup (/user.slice/…) or as a folder under ${ROOT}`,
    cgroup,
  );
}

async function processFolder(binding: NativeBinding): Promise<string> {
  const [text] = await kernelFiles(binding).read(['/proc/self/cgroup']);
  const cgroup = text === undefined || isFailure(text) ? null : parseCgroup(text);
  if (cgroup?.version === 2 && cgroup.path !== '/') return cgroupFolder(cgroup.path);
  if (cgroup === null) {
    const cause = isFailure(text) ? reason(text) : '/proc/self/cgroup does not name it';
    throw notSupported(`the cgroup of this process is not known: ${cause}`);
  }
  if (cgroup.version === 1)
    throw notSupported(
      'memory is managed by cgroup v1 here, which has no memory.reclaim: boot with systemd.unified_cgroup_hierarchy=1',
    );
  throw notSupported(
    'this process is in the root cgroup, which has no memory.reclaim; name one: --cgroup /user.slice/…',
  );
}

/** @param isNamed the caller named the cgroup. */
async function currentBytes(binding: NativeBinding, folder: string, isNamed: boolean): Promise<number> {
  const path = `${folder}/memory.current`;
  const [text] = await kernelFiles(binding).read([path]);
  if (isFailure(text) && text.name === 'TIMEOUT') throw toUmaError(text);
  if (isFailure(text) && text.name === 'ENOENT' && isNamed && (await hasCgroups(binding)))
    throw new UmaError('ERR_UMA_NOT_FOUND', {
      ...text,
      message: `there is no cgroup ${folder}, or it has no memory controller`,
    });
  if (text === undefined || isFailure(text))
    throw notSupported(
      `${path} cannot be read (${text === undefined ? 'not read' : text.name}): no such cgroup, no memory controller in it, or cgroup v1`,
    );
  const bytes = parseNumber(text);
  if (bytes === null) throw notSupported(`${path} does not contain a number`);
  return bytes;
}

/** Tells whether cgroup v2 is mounted: without it no cgroup is found, whatever its name. */
async function hasCgroups(binding: NativeBinding): Promise<boolean> {
  const [controllers] = await kernelFiles(binding).read([`${ROOT}/cgroup.controllers`]);
  return typeof controllers === 'string';
}

function reclaimError(folder: string, failure: Failure): UmaError {
  if (failure.name === 'ENOENT')
    return notSupported(`${folder} has no memory.reclaim: it exists since Linux 5.19, and not in the root cgroup`);
  const error = toUmaError(failure);
  if (error.code !== 'ERR_UMA_PERMISSION') return error;
  return new UmaError('ERR_UMA_PERMISSION', {
    ...failure,
    message:
      'only the owner of the cgroup may reclaim from it (a user owns the cgroups below user@<uid>.service); nothing was changed',
  });
}

function notSupported(message: string): UmaError {
  return new UmaError('ERR_UMA_NOT_SUPPORTED', {
    source: 'kernel',
    call: 'memory.reclaim',
    status: null,
    name: 'NOT_SUPPORTED',
    message,
  });
}
