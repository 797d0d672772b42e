/** What this process may see and do: device nodes, the kernel's knobs, and whether it sits in a container. */
import { formatBytes } from '../base/format.ts';
import { FIRST_PID_NAMESPACE, PID_NAMESPACE } from '../host/process.ts';
import { type Check, type CheckContext, type Finding, fail, pass, skip, warn } from './check.ts';

const KNOBS = [
  { name: 'drop_caches', path: '/proc/sys/vm/drop_caches', mode: 'write' },
  { name: 'compact_memory', path: '/proc/sys/vm/compact_memory', mode: 'write' },
  { name: 'driver pool sizes (debugfs)', path: '/sys/kernel/debug/shrinker', mode: 'read' },
] as const;

export const accessChecks: readonly Check[] = [
  {
    id: 'permissions',
    title: 'Rights to the device and to the kernel’s knobs',
    needs: [],
    async run(context) {
      // The simulated kernel lets everybody do everything: rights on the real one say nothing about it.
      if (context.snapshot.simulated !== null)
        return pass('A simulated machine has no device nodes to guard.', 'device nodes and rights are not simulated');
      const { words: knobs, cache } = await rightsToKnobs(context);
      const nodes = (await context.listFiles('/dev'))?.filter((name) => /^nvidia(\d+|ctl|-uvm)$/.test(name)) ?? [];
      const closed = await closedNodes(context, nodes);
      if (closed.length > 0) {
        return fail(
          'Device nodes exist that this user may not open.',
          closed.join(', '),
          'Join the group that owns them (ls -l /dev/nvidia*), often video or render.',
        );
      }
      if (nodes.length === 0) return skip('There are no device nodes to check.', `no /dev/nvidia*; ${knobs}`);
      return pass(
        cache
          ? 'All device nodes can be used, and cache can be given back from here.'
          : 'All device nodes can be used; giving back cache takes root, and a /proc/sys that is not read-only.',
        `${nodes.map((name) => `/dev/${name}`).join(', ')}; ${knobs}`,
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
      // Simulated processes are real ones of this namespace. Without a GPU there is nobody to be named.
      const namespace = simulated !== null || devices.length === 0 ? null : await readLink(PID_NAMESPACE);
      const apart =
        namespace === null || namespace === FIRST_PID_NAMESPACE
          ? null
          : warn(
              'This is a PID namespace of its own, and NVML’s pids are of the first one: GPU processes cannot be named from here, and may not be listed at all.',
              `${PID_NAMESPACE} is ${namespace}, the first one ${FIRST_PID_NAMESPACE}`,
              'Run it on the host, or start the container with --pid=host.',
            );
      if (apart !== null && limited !== null) return both(apart, limited);
      const found = apart ?? limited;
      if (found !== null) return found;
      if (cgroup === null)
        return skip('The cgroup of this process cannot be read.', snapshot.from.cgroup ?? 'no cgroup');
      return pass('No memory limit, and GPU processes can be named.', `cgroup v${cgroup.version} ${cgroup.path}`);
    },
  },
  {
    id: 'uvm.oversubscription',
    title: 'Managed memory beyond what there is',
    needs: [],
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

/** Asked of the kernel: root in a container with a read-only /proc/sys may not write there, whatever its user id says. */
async function rightsToKnobs({ mayUse }: CheckContext): Promise<{ words: string; cache: boolean }> {
  const rights: string[] = [];
  let cache = false;
  for (const { name, path, mode } of KNOBS) {
    const may = await mayUse(path, mode);
    if (name === 'drop_caches') cache = may;
    rights.push(`${name} ${may ? 'open' : 'closed'}`);
  }
  return { words: rights.join(', '), cache };
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
