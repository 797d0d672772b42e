/**
 * systemd as the first process of namespaces of its own: units run as on a real machine, with processes, cgroups, mounts and
 * the host name apart from those of this one. The kernel and its memory are shared.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTool } from '../../scripts/run.mjs';
import { temporaryFolder } from './temporary-folder.ts';
import { waitFor } from './wait.ts';

const SYSTEMD = ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].find((path) => existsSync(path)) ?? null;
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((path) => existsSync(join(path, 'cgroup.procs')));

/** The reason why it cannot be started here; null: it can be tried. */
export function missingSystemd(): string | null {
  if (SYSTEMD === null || findTool('systemctl') === null)
    return 'systemd is not installed (Debian: apt-get install systemd)';
  if (process.getuid?.() !== 0) return 'only root may start it';
  if (CGROUPS === undefined) return 'no cgroup v2';
  return ['unshare', 'nsenter'].every((name) => findTool(name) !== null) ? null : 'util-linux is not installed';
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class Systemd {
  readonly #child: ChildProcess;
  readonly #cgroup: string;
  readonly #pid: number;

  private constructor(child: ChildProcess, cgroup: string, pid: number) {
    this.#child = child;
    this.#cgroup = cgroup;
    this.#pid = pid;
  }

  /**
   * @param units text by name; a name with a slash is a drop-in: "a.service.d/test.conf".
   * @returns a reason where it does not start, as in a container that may not mount.
   */
  static async start(units: Readonly<Record<string, string>>): Promise<Systemd | string> {
    const folder = temporaryFolder('systemd');
    const targets = ['sysinit', 'basic', 'shutdown', 'multi-user', 'local-fs', 'umaprobe-test'];
    const all = {
      ...Object.fromEntries(targets.map((name) => [`${name}.target`, `[Unit]\nDescription=${name}\n`])),
      ...units,
    };
    for (const [name, text] of Object.entries(all)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const cgroup = join(CGROUPS ?? '', `umaprobe-systemd-${process.pid}`);
    const console = join(folder, 'console.log');
    writeFileSync(console, '');
    const inner = [
      'mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /var/cache',
      'umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup',
      `mount --bind '${console}' /dev/console && mount --bind /dev/null /dev/kmsg`,
      // A container: it then leaves the settings of the kernel alone.
      `exec env -i container=umaprobe PATH="$PATH" SYSTEMD_UNIT_PATH='${folder}' '${SYSTEMD}' --system ` +
        '--log-target=console --show-status=no --unit=umaprobe-test.target',
    ].join(' && ');
    const outer = `mkdir -p '${cgroup}' && echo $$ > '${cgroup}/cgroup.procs' && exec unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup sh -c "$1"`;
    const child = spawn('sh', ['-c', outer, 'sh', inner], { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const first = (): number | null => {
      const parent = child.pid ?? 0;
      const path = `/proc/${parent}/task/${parent}/children`;
      const pid = existsSync(path) ? Number(readFileSync(path, 'utf8').trim().split(' ')[0]) : 0;
      return pid > 0 ? pid : null;
    };
    let systemd: Systemd | null = null;
    const isUp = (): boolean => {
      const pid = first();
      if (pid === null) return false;
      systemd = new Systemd(child, cgroup, pid);
      return systemd.run('systemctl', 'is-active', 'umaprobe-test.target').stdout === 'active\n';
    };
    await waitFor('the units of systemd, or its end', () => child.exitCode !== null || isUp());
    if (systemd !== null && child.exitCode === null) return systemd;
    return `systemd does not start in namespaces here: ${stderr.trim().split('\n').at(-1) ?? ''}`;
  }

  /** Runs a program beside the units. */
  run(...[file, ...args]: readonly [string, ...string[]]): Ran {
    const options = { encoding: 'utf8', timeout: 60_000, maxBuffer: 2 ** 26 } as const;
    const inside = ['-t', String(this.#pid), '-a', 'env', 'SYSTEMD_PAGER=', file, ...args];
    const { status, stderr, stdout } = spawnSync('nsenter', inside, options);
    return { code: status, stdout, stderr };
  }

  /** A property of a unit. */
  property(unit: string, name: string): string {
    return this.run('systemctl', 'show', '--value', `--property=${name}`, unit).stdout.trim();
  }

  /** Ends all that runs in it. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    // The first process of a namespace takes all others with it.
    process.kill(this.#pid, 'SIGKILL');
    await ended;
    await waitFor(`an empty ${this.#cgroup}`, () => removeTree(this.#cgroup));
  }
}

/** A cgroup can be removed once its processes and those below it are gone. */
function removeTree(folder: string): boolean {
  if (!existsSync(folder)) return true;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) removeTree(join(folder, entry.name));
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
