/** Rows about needs besides memory of a program that spans machines: it fails while tens of GiB are free. */

import { formatBytes, GiB } from '../../../base/format.ts';
import type { Severity } from '../../../types/index.ts';
import { unifiedDevice } from '../headroom.ts';
import { ENLARGE_SHM, LOCK_ANY_AMOUNT } from '../remedies.ts';
import { advice, applies, bytes, type Facts, passed, type Row, text, unknown } from './row.ts';

/**
 * A limit of locked memory below which registering buffers fails: it did with 64 KiB (openucx/ucx #8229) and with 8 MiB
 * (NVIDIA/nccl-tests #206). NCCL registers 4 MiB (NCCL_BUFFSIZE) for each channel, direction and peer. Its documentation asks
 * for no limit at all; what it takes on a pair of Sparks was not measured.
 */
const REGISTERED = GiB;

/** Amount that NCCL's documentation asks for (docker run --shm-size=1g). The default of a container is 64 MiB. */
const SHARED = GiB;
/** A machine without much memory has a small /dev/shm: the kernel's default is half of it. */
const SHARED_SHARE = 0.25;

/** A Spark's RDMA ports are for another Spark; other machines may have such a card for their usual network. */
function severityOf({ readiness, snapshot }: Facts): Severity {
  const isLinked = (readiness?.linkedPorts ?? []).length > 0;
  return isLinked && unifiedDevice(snapshot) !== undefined ? 'warning' : 'notice';
}

/** RLIMIT_MEMLOCK of this process, which programs started from here inherit. */
export const lockedLimit: Row = {
  needs: ['cuda', 'readiness'],
  judge(facts) {
    const { readiness } = facts;
    if (readiness === undefined) return unknown('the limit of locked memory was not looked at');
    const { from, linkedPorts, lockable } = readiness;
    if (linkedPorts === null) return unknown(`whether an RDMA port has a link is not known (${from.linkedPorts})`);
    if (linkedPorts.length === 0) return passed('No RDMA port has a link, so nothing is registered for one.');
    const ports = () => text('RDMA ports with a link', linkedPorts.join(', '), from.linkedPorts);
    if (lockable === null) return unknown(`the limit of locked memory is not known (${from.lockable})`, ports);
    const isLimited = Number.isFinite(lockable);
    const limit = isLimited ? [bytes('limit', lockable, from.lockable)] : text('limit', 'none', from.lockable);
    const evidence = () => [...limit, ...ports()];
    if (!isLimited) return passed('Programs that are started here may lock any amount of memory.', evidence);
    const amount = formatBytes(lockable);
    if (lockable >= REGISTERED)
      return passed(`Programs that are started here may lock ${amount}: more than NCCL's own buffers.`, evidence);
    return applies({
      severity: severityOf(facts),
      bytes: lockable,
      summary: `A program that is started here may lock only ${amount}: NCCL and UCX then cannot register their buffers, and end with "ibv_reg_mr failed: Cannot allocate memory", whatever is free.`,
      evidence,
      remedy: advice(LOCK_ANY_AMOUNT),
    });
  },
};

/** "Unexpected bus error encountered in worker": a DataLoader, or NCCL, wrote to a /dev/shm that was full. */
export const sharedSize: Row = {
  needs: ['cuda', 'nvml', 'readiness'],
  judge(facts) {
    const { readiness, snapshot } = facts;
    if (readiness === undefined) return unknown('/dev/shm was not looked at');
    const { from, sharedMemory: size } = readiness;
    if (snapshot.devices.length === 0) return passed('No GPU is seen here, so no program shares tensors for one.');
    if (size === 'half')
      return passed('/dev/shm may take half of memory.', () => text('/dev/shm', 'half', from.sharedMemory));
    if (size === null)
      return snapshot.simulated === null
        ? unknown(`the size of /dev/shm is not known (${from.sharedMemory})`)
        : passed('This simulated machine has no /dev/shm.');
    const evidence = () => [bytes('/dev/shm', size, from.sharedMemory)];
    // Size 0 is no limit.
    if (size === 0 || size >= Math.min(SHARED, snapshot.host.total * SHARED_SHARE))
      return passed(`/dev/shm may take ${size === 0 ? 'any amount of memory' : formatBytes(size)}.`, evidence);
    return applies({
      severity: severityOf(facts),
      bytes: size,
      summary: `/dev/shm has room for ${formatBytes(size)} only: workers of a DataLoader and ranks of NCCL share their data there, and end with "bus error" or "No space left on device" when it is full.`,
      evidence,
      remedy: advice(ENLARGE_SHM),
    });
  },
};
