/** Reads other needs of a program that spans machines: an RDMA port with a link, lockable memory, /dev/shm. */

import type { Fact } from '../../base/errors.ts';
import { isFailure, reason } from '../../base/facts.ts';
import type { KernelFiles } from '../host/files.ts';
import { parseTmpfsSize } from '../host/process-status.ts';
import type { Readiness } from '../memory/findings/row.ts';

const DEVICES = '/sys/class/infiniband';
const LIMITS = '/proc/self/limits';
const STATUS = '/proc/self/status';
const USERS = '/proc/self/uid_map';
const MOUNTS = '/proc/self/mountinfo';
const SHARED = '/dev/shm';

/** Devices and ports of each that are looked at. A Spark has four devices of one port. */
const MOST = 64;

export async function readReadiness(files: KernelFiles): Promise<Readiness> {
  const [ports, [limits, status, users, mounts]] = await Promise.all([
    linkedPorts(files),
    files.read([LIMITS, STATUS, USERS, MOUNTS]),
  ]);
  const lock = lockable(limits, status, users);
  const shared = typeof mounts === 'string' ? parseTmpfsSize(mounts, SHARED) : null;
  return {
    linkedPorts: isFailure(ports) ? null : ports,
    lockable: lock?.bytes ?? null,
    sharedMemory: shared,
    from: {
      linkedPorts: isFailure(ports) ? reason(ports) : `${DEVICES}/*/ports/*/state`,
      lockable: lock?.from ?? (isFailure(limits) ? reason(limits) : `${LIMITS}: no line "Max locked memory"`),
      sharedMemory:
        shared === null && isFailure(mounts)
          ? reason(mounts)
          : shared === null
            ? `${MOUNTS}: no tmpfs at ${SHARED}`
            : MOUNTS,
    },
  };
}

/** A failure where no link is seen and a port could not be looked at. */
async function linkedPorts(files: KernelFiles): Promise<Fact<string[]>> {
  const devices = await files.list(DEVICES);
  // No driver of RDMA is loaded.
  if (isFailure(devices)) return devices.name === 'ENOENT' ? [] : devices;
  const known = devices.slice(0, MOST);
  const lists = await Promise.all(known.map((device) => files.list(`${DEVICES}/${device}/ports`)));
  const all = lists.flatMap((list, index) =>
    isFailure(list) ? [] : list.slice(0, MOST).map((port) => `${known[index]}/${port}`),
  );
  const states = await files.read(all.map((name) => `${DEVICES}/${name.replace('/', '/ports/')}/state`));
  // "4: ACTIVE"; of a port without a cable "1: DOWN".
  const linked = all.filter((_, index) => String(states[index]).startsWith('4:'));
  const failure = [...lists, ...states].find(isFailure);
  return linked.length === 0 && failure !== undefined ? failure : linked;
}

/** Bit of CAP_IPC_LOCK, with which the kernel asks for no limit (ib_umem_get). */
const IPC_LOCK = 14n;

function lockable(
  limits: Fact<string> | undefined,
  status: Fact<string> | undefined,
  users: Fact<string> | undefined,
): { bytes: number; from: string } | null {
  const [, capabilities = '0'] = (typeof status === 'string' && /^CapEff:\t([0-9a-f]{1,16})$/m.exec(status)) || [];
  // A capability lifts no limit of the machine in another user namespace, as of a rootless container.
  const isInitial = typeof users === 'string' && /^\s*0\s+0\s+4294967295\s*$/.test(users);
  if (isInitial && ((BigInt(`0x${capabilities}`) >> IPC_LOCK) & 1n) === 1n)
    return { bytes: Number.POSITIVE_INFINITY, from: `CAP_IPC_LOCK in ${STATUS}` };
  const [, soft] = (typeof limits === 'string' && /^Max locked memory +(unlimited|\d{1,20}) /m.exec(limits)) || [];
  if (soft === undefined) return null;
  return { bytes: soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft), from: LIMITS };
}
