/** Checks of what this process may do and see: device nodes, kernel files, container limits, pids. */

import { formatBytes } from '../base/format.ts';
import { FIRST_PID_NAMESPACE, PID_NAMESPACE } from '../host/process.ts';
import type { Finding } from '../types/index.ts';
import { type Check, type CheckContext, fail, pass, skip, warn } from './check.ts';

/** Kernel files that need privileges, and the access that umaprobe needs. */
const KERNEL_FILES = [
  { name: 'drop_caches', path: '/proc/sys/vm/drop_caches', mode: 'write' },
  { name: 'compact_memory', path: '/proc/sys/vm/compact_memory', mode: 'write' },
  { name: 'driver pool sizes (debugfs)', path: '/sys/kernel/debug/shrinker', mode: 'read' },
] as const;

export const accessChecks: readonly Check[] = [
  {
    id: 'permissions',
    title: 'Access to device nodes and kernel settings',
    needs: [],
    async run(context) {
      // The simulated kernel allows everything; permissions on the real one do not apply.
      if (context.snapshot.simulated !== null)
        return pass('A simulated machine has no device nodes.', 'device nodes and rights are not simulated');
      const { text: rights, mayDrop } = await kernelRights(context);
      const nodes = (await context.listFiles('/dev'))?.filter((name) => /^nvidia(\d+|ctl|-uvm)$/.test(name)) ?? [];
      const closed = await closedNodes(context, nodes);
      if (closed.length > 0) {
        return fail(
          'Device nodes exist that this user may not open.',
          closed.join(', '),
          'Join the group that owns them (ls -l /dev/nvidia*), often video or render.',
        );
      }
      if (nodes.length === 0) return skip('There are no device nodes to check.', `no /dev/nvidia*; ${rights}`);
      return pass(
        mayDrop
          ? 'All device nodes can be used, and this process may drop caches.'
          : 'All device nodes can be used; dropping caches needs root and a writable /proc/sys.',
        `${nodes.map((name) => `/dev/${name}`).join(', ')}; ${rights}`,
      );
    },
  },
  {
    id: 'container',
    title: 'Container limits and process ids',
    needs: ['cuda', 'nvml'],
    async run({ snapshot, readLink }) {
      const { cgroup, devices, simulated } = snapshot;
      const limits = [cgroup?.limit, cgroup?.high].filter((bytes) => bytes !== null && bytes !== undefined);
      // 12 GiB of CUDA memory under MemoryMax=8G was charged as 0.4 GiB and never killed (model-serving-minefield #57).
      const limited =
        cgroup === null || limits.length === 0
          ? null
          : warn(
              'A memory limit is set, but CUDA memory is not charged to it: it will not protect this machine.',
              `${cgroup.path}: limit ${formatBytes(cgroup.limit)}, high ${formatBytes(cgroup.high)}, used ${formatBytes(cgroup.current)}`,
              'Leave headroom in the program itself; take free memory from the host, not from the cgroup.',
            );
      // Processes on a simulated machine are real ones of this namespace. Without a GPU no process is named.
      const namespace = simulated !== null || devices.length === 0 ? null : await readLink(PID_NAMESPACE);
      const foreignPids =
        namespace === null || namespace === FIRST_PID_NAMESPACE
          ? null
          : warn(
              'This process is in its own PID namespace, but NVML reports pids of the first one: GPU processes cannot be named from here, and may not be listed at all.',
              `${PID_NAMESPACE} is ${namespace}, the first one ${FIRST_PID_NAMESPACE}`,
              'Run it on the host, or start the container with --pid=host.',
            );
      if (foreignPids !== null && limited !== null) return both(foreignPids, limited);
      const finding = foreignPids ?? limited;
      if (finding !== null) return finding;
      if (cgroup === null)
        return skip('The cgroup of this process cannot be read.', snapshot.from.cgroup ?? 'no cgroup');
      return pass('No memory limit, and GPU processes can be named.', `cgroup v${cgroup.version} ${cgroup.path}`);
    },
  },
  {
    id: 'uvm.oversubscription',
    title: 'Managed memory beyond physical memory',
    needs: [],
    async run({ readKernelFile }) {
      const file = '/sys/module/nvidia_uvm/parameters/uvm_global_oversubscription';
      const value = (await readKernelFile(file))?.trim();
      if (value === undefined) return skip('The parameter of nvidia_uvm is not readable here.', file);
      // open-gpu-kernel-modules #1358: with 0 an unrecoverable hang became an OOM kill of sshd, and the machine kept
      // running.
      return value === '0'
        ? pass(
            'Running out of memory ends in the OOM killer, which may kill unrelated processes such as sshd.',
            `${file} = 0`,
          )
        : pass(
            'The default: managed memory may exceed physical memory. Setting it to 0 trades a possible freeze for OOM kills.',
            `${file} = ${value}`,
          );
    },
  },
];

/** By access(2), not by user id: root in a container with a read-only /proc/sys may not write there. */
async function kernelRights({ mayUse }: CheckContext): Promise<{ text: string; mayDrop: boolean }> {
  const rights: string[] = [];
  let mayDrop = false;
  for (const { name, path, mode } of KERNEL_FILES) {
    const allowed = await mayUse(path, mode);
    if (name === 'drop_caches') mayDrop = allowed;
    rights.push(`${name} ${allowed ? 'open' : 'closed'}`);
  }
  return { text: rights.join(', '), mayDrop };
}

function both(a: Finding, b: Finding): Finding {
  return warn(`${a.cause} ${b.cause}`, `${a.evidence}; ${b.evidence}`, `${a.remedy} ${b.remedy}`);
}

async function closedNodes(context: CheckContext, nodes: readonly string[]): Promise<string[]> {
  const closed: string[] = [];
  for (const name of nodes) {
    const path = `/dev/${name}`;
    if (!((await context.mayUse(path, 'read')) && (await context.mayUse(path, 'write')))) closed.push(path);
  }
  return closed;
}
