/** The DaemonSet of monitoring/, read from its file, and its pod without Kubernetes. */

import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findTool } from '../../scripts/run.mjs';
import { ROOT } from './root.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface Mount {
  name: string;
  mountPath: string;
  subPath?: string;
  readOnly?: boolean;
}
interface Variable {
  name: string;
  value?: string;
  valueFrom?: { fieldRef: { fieldPath: string } };
}
interface Probe {
  httpGet: { path: string; port: string };
}
export interface Container {
  command: string[];
  args: string[];
  env: Variable[];
  ports: { name: string; containerPort: number }[];
  readinessProbe: Probe;
  livenessProbe: Probe;
  resources: { limits: { memory: string } };
  securityContext: Record<string, unknown>;
  volumeMounts: Mount[];
}
export interface DaemonSet {
  kind: string;
  spec: {
    selector: { matchLabels: object };
    template: {
      metadata: { labels: object };
      spec: {
        hostPID: boolean;
        hostNetwork?: boolean;
        containers: [Container];
        volumes: { name: string; hostPath?: { path: string }; secret?: object }[];
      };
    };
  };
}
export interface PodMonitor {
  kind: string;
  spec: { selector: { matchLabels: object }; podMetricsEndpoints: [{ port: string; authorization: object }] };
}

/** Documents read by Python's parser; null: this machine has none. */
export function kubernetesDocuments(): [DaemonSet, PodMonitor] | null {
  const script = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))';
  const file = join(ROOT, 'monitoring/kubernetes/umaprobe.yml');
  const { status, stdout } = spawnSync('python3', ['-c', script, file], { encoding: 'utf8' });
  return status === 0 ? (JSON.parse(stdout) as [DaemonSet, PodMonitor]) : null;
}

/** The reason why no pod can be started here; null: one can. */
export function whyNoPod(): string | null {
  if (process.geteuid?.() !== 0) return 'only root makes mount namespaces';
  if (findTool('chroot') === null || findTool('setpriv') === null) return 'no chroot or setpriv here';
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
    ? null
    : 'no mount namespace can be made here';
}

/** Its arguments: the folder of the root, sources and targets of mounts, "--", and the program in it. */
const IN_NAMESPACE = `
root=$1; shift
mount -t tmpfs -o mode=755 pod "$root"
for path in proc sys dev; do mkdir "$root/$path"; mount --rbind "/$path" "$root/$path"; done
while [ "$1" != -- ]; do
  mkdir -p "$(dirname "$root$2")"
  if [ -d "$1" ]; then mkdir -p "$root$2"; else : > "$root$2"; fi
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
  shift 2
done
shift
mount -o remount,ro "$root"
exec "$@"`;

const SETPRIV = '/setpriv';

/**
 * The command of the container with its arguments, and no variable but its own, in a root that cannot be written: its
 * mounts, what its program is linked with, and the /proc of the machine, as hostPID has it. It is root without a
 * capability, and cannot get one.
 *
 * @param sourceOf what is mounted of a volume.
 */
export function startPod(
  { args, command, env, volumeMounts }: Container,
  address: string,
  sourceOf: (volume: string) => string,
): ChildProcessWithoutNullStreams {
  const textOf = ({ value, valueFrom }: Variable): string => {
    if (value !== undefined) return value;
    if (valueFrom?.fieldRef.fieldPath === 'status.podIP') return address;
    throw new Error(`the pod without Kubernetes has no ${JSON.stringify(valueFrom)}`);
  };
  const variables = env.map((variable): [string, string] => [variable.name, textOf(variable)]);
  const expanded = (word: string): string =>
    variables.reduce((text, [name, value]) => text.replaceAll(`$(${name})`, value), word);
  const [program = '', ...words] = [...command, ...args].map(expanded);
  const mounts = volumeMounts.map(({ mountPath, name }): [string, string] => [sourceOf(name), mountPath]);
  const [folder, path] = mounts.find(([, target]) => program.startsWith(`${target}/`)) ?? ['', ''];
  const setpriv = findTool('setpriv') as string;
  const addons = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.glibc.node'),
  );
  const binaries = [program.slice(path.length), ...addons].map((file) => join(folder, file));
  const linked = new Set([setpriv, ...binaries].flatMap(librariesOf));
  const all = [...mounts, [setpriv, SETPRIV], ...[...linked].map((library) => [library, library])];
  // It has no variable of the tests, and ends with them all the same.
  const inside = [
    SETPRIV,
    '--pdeathsig=KILL',
    '--no-new-privs',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--ambient-caps=-all',
  ];
  const root = temporaryFolder('pod');
  return spawn('unshare', [
    ...['--mount', '--propagation', 'private', 'sh', '-euc', IN_NAMESPACE, 'sh', root, ...all.flat(), '--'],
    ...['/usr/bin/env', '-i', ...variables.map((pair) => pair.join('=')), findTool('chroot') as string, root],
    ...[...inside, program, ...words],
  ]);
}

function librariesOf(program: string): string[] {
  return execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+(?= \(0x)/g) ?? [];
}
