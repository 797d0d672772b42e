/** memory.reclaim of cgroup v2: asking the kernel to take so much from the programs of one cgroup. */

import { invalidValue } from '../base/arguments.ts';
import { toUmaError, UmaError } from '../base/errors.ts';
import { isFailure, reason } from '../base/facts.ts';
import { parseCgroup, parseNumber } from '../host/procfs.ts';
import type { NativeBinding } from '../native/contract.ts';
import type { ReclaimOptions, ReclaimReport } from '../types/index.ts';
import { countNow, receipt } from './receipt.ts';
import type { System } from './system.ts';

const ROOT = '/sys/fs/cgroup';
/** The kernel goes on until it has the amount or finds no more; with swap on a slow disk that can take a while. */
const LIMIT_MS = 600_000;

export async function reclaimFrom(machine: System, { bytes, cgroup }: ReclaimOptions): Promise<ReclaimReport> {
  const started = performance.now();
  const at = new Date().toISOString();
  const { binding } = machine;
  const folder = cgroup === undefined ? ownFolder(binding) : cgroupFolder(cgroup);
  const before = usage(binding, folder);
  const counted = countNow(machine);
  const written = await binding.writeFile(`${folder}/memory.reclaim`, String(bytes), LIMIT_MS);
  // EAGAIN is an answer: less was found than was asked for, and what was found is gone all the same.
  const short = isFailure(written) && written.name === 'EAGAIN';
  if (isFailure(written) && !short) throw refused(folder, toUmaError(written));
  const after = usage(binding, folder);
  return {
    schema: 'umaprobe/cache-reclaim/1',
    at,
    simulated: machine.simulated,
    cgroup: folder,
    askedBytes: bytes,
    gotBytes: before - after,
    short,
    before,
    after,
    receipt: receipt(counted, countNow(machine)),
    durationMs: performance.now() - started,
  };
}

/** "/user.slice/x" as /proc/self/cgroup has it, or the folder itself; nothing that leads out of the cgroups. */
export function cgroupFolder(cgroup: string): string {
  const inside = cgroup === ROOT || cgroup.startsWith(`${ROOT}/`) ? cgroup.slice(ROOT.length) : cgroup;
  const parts = inside.split('/').filter((part) => part !== '');
  const plain = cgroup.startsWith('/') && !cgroup.includes('\0') && !parts.includes('..') && !parts.includes('.');
  if (plain && parts.length > 0) return [ROOT, ...parts].join('/');
  throw invalidValue(
    'cgroup',
    `a cgroup below the root, as /proc/self/cgroup has it (/user.slice/…) or as a folder under ${ROOT}`,
    cgroup,
  );
}

function ownFolder(binding: NativeBinding): string {
  const [text] = binding.readFiles(['/proc/self/cgroup']);
  const own = text === undefined || isFailure(text) ? null : parseCgroup(text);
  if (own?.version === 2 && own.path !== '/') return cgroupFolder(own.path);
  throw notSupported(
    own === null
      ? `the cgroup of this process is not known: ${isFailure(text) ? reason(text) : 'no line that names it'}`
      : own.version === 1
        ? 'memory is a matter of cgroup v1 here, which has no memory.reclaim: boot with systemd.unified_cgroup_hierarchy=1'
        : 'this process is in the root cgroup, which has no memory.reclaim; name one: --cgroup /user.slice/…',
  );
}

function usage(binding: NativeBinding, folder: string): number {
  const path = `${folder}/memory.current`;
  const [text] = binding.readFiles([path]);
  if (text === undefined || isFailure(text))
    throw notSupported(
      `${path} cannot be read (${text === undefined ? 'not read' : text.name}): no such cgroup, no memory controller in it, or cgroup v1`,
    );
  const bytes = parseNumber(text);
  if (bytes === null) throw notSupported(`${path} is no number`);
  return bytes;
}

function refused(folder: string, error: UmaError): UmaError {
  if (error.code === 'ERR_UMA_NOT_SUPPORTED')
    return notSupported(`${folder} has no memory.reclaim: it came with Linux 5.19, and the root cgroup has none`);
  if (error.code !== 'ERR_UMA_PERMISSION') return error;
  return new UmaError('ERR_UMA_PERMISSION', {
    source: error.source,
    call: error.call,
    status: error.status,
    name: error.nativeName,
    message: 'only the owner of the cgroup may (a user owns those below user@<uid>.service); nothing was changed',
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
