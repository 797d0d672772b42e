/** What this process may see and do: device nodes, the kernel's knobs, and whether it sits in a container. */
import { formatBytes } from '../format.ts';
import { type Check, type CheckContext, fail, pass, skip, warn } from './types.ts';

export const accessChecks: readonly Check[] = [
  {
    id: 'permissions',
    title: 'Rights to the device and to the kernel’s knobs',
    async run(context) {
      const { snapshot, isRoot } = context;
      const knobs = isRoot
        ? 'root: drop_caches, compact_memory and debugfs are open'
        : 'not root: no drop_caches, no compact_memory, no driver pool sizes';
      if (snapshot.simulated !== null) return pass('A simulated machine has no device nodes to guard.', knobs);
      const nodes = (await context.listFiles('/dev'))?.filter((name) => /^nvidia(\d+|ctl|-uvm)$/.test(name)) ?? [];
      const closed = await closedNodes(context, nodes);
      if (closed.length > 0) {
        return fail(
          'Device nodes exist that this user may not open.',
          closed.join(', '),
          'Join the group that owns them (ls -l /dev/nvidia*), often video or render.',
        );
      }
      if (nodes.length === 0 && snapshot.devices.length === 0)
        return skip('There is no GPU whose nodes could be checked.', `no /dev/nvidia*; ${knobs}`);
      const evidence = `${nodes.length === 0 ? 'no /dev/nvidia*' : nodes.map((name) => `/dev/${name}`).join(', ')}; ${knobs}`;
      return pass(
        isRoot
          ? 'All device nodes and knobs can be used.'
          : 'All device nodes can be used; giving back cache takes root.',
        evidence,
      );
    },
  },
  {
    id: 'container',
    title: 'Container limits and process ids',
    run({ snapshot }) {
      const { cgroup, devices } = snapshot;
      const foreign = devices.flatMap((device) => device.processes ?? []).filter(({ name }) => name === null);
      if (foreign.length > 0) {
        return warn(
          'NVML lists processes of another PID namespace: they cannot be named or told apart from here.',
          `unresolvable pids ${foreign
            .slice(0, 5)
            .map(({ pid }) => pid)
            .join(', ')}`,
          'Run it on the host, or start the container with --pid=host.',
        );
      }
      const limits = [cgroup?.limit, cgroup?.high].filter((bytes) => bytes !== null && bytes !== undefined);
      // 12 GiB of CUDA memory under MemoryMax=8G was charged as 0.4 GiB and never killed (model-serving-minefield #57).
      if (cgroup !== null && limits.length > 0) {
        return warn(
          'A memory limit is set, but CUDA memory is not charged to it: it will not protect this machine.',
          `${cgroup.path}: limit ${formatBytes(cgroup.limit)}, high ${formatBytes(cgroup.high)}, used ${formatBytes(cgroup.current)}`,
          'Leave headroom in the program itself; take free memory from the host, not from the cgroup.',
        );
      }
      if (cgroup === null)
        return skip('The cgroup of this process cannot be read.', snapshot.from.cgroup ?? 'no cgroup');
      return pass('No memory limit, and all GPU processes can be named.', `cgroup v${cgroup.version} ${cgroup.path}`);
    },
  },
  {
    id: 'uvm.oversubscription',
    title: 'Managed memory beyond what there is',
    run({ readKernelFile }) {
      const file = '/sys/module/nvidia_uvm/parameters/uvm_global_oversubscription';
      const value = readKernelFile(file)?.trim();
      if (value === undefined) return skip('The parameter of nvidia_uvm is not readable here.', file);
      // open-gpu-kernel-modules #1358: 0 turned an unrecoverable hang into an OOM that killed sshd, but the box lived.
      return value === '0'
        ? pass('Running out ends in the OOM killer, which may take small bystanders such as sshd.', `${file} = 0`)
        : pass(
            'The default: managed memory may exceed what there is. Setting it to 0 trades a possible freeze for OOM kills.',
            `${file} = ${value}`,
          );
    },
  },
];

async function closedNodes(context: CheckContext, nodes: readonly string[]): Promise<string[]> {
  const closed: string[] = [];
  for (const name of nodes) {
    const path = `/dev/${name}`;
    if (!((await context.mayUse(path, 'read')) && (await context.mayUse(path, 'write')))) closed.push(path);
  }
  return closed;
}
