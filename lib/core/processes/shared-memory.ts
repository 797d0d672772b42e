/** The places of shared memory: each tmpfs, and the segments of System V. */

import { statfs } from 'node:fs/promises';
import type { SharedMemory } from '../../types/index.ts';
import { kernelFiles } from '../host/files.ts';
import { parseSysvSegments, parseTmpfsMounts } from '../host/process-status.ts';
import type { NativeBinding } from '../native/contract.ts';

export const SYSTEM_V = 'System V segments';

/** The largest come first; empty ones are left out. */
export async function sharedMemoryOf(binding: NativeBinding): Promise<SharedMemory[]> {
  const [mounts, segments] = await kernelFiles(binding).read(['/proc/self/mountinfo', '/proc/sysvipc/shm']);
  const points = typeof mounts === 'string' ? parseTmpfsMounts(mounts) : [];
  const used = await Promise.all(
    points.map(async (name): Promise<SharedMemory | null> => {
      // A mount point that this user may not reach says nothing.
      const numbers = await statfs(name).catch(() => null);
      return numbers === null
        ? null
        : { name, bytes: (numbers.blocks - numbers.bfree) * numbers.bsize, from: 'statfs' };
    }),
  );
  const sysv = typeof segments === 'string' ? parseSysvSegments(segments) : null;
  const all = [...used, sysv === null ? null : { name: SYSTEM_V, bytes: sysv, from: '/proc/sysvipc/shm' }];
  return all
    .filter((entry): entry is SharedMemory => entry !== null && entry.bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
}
