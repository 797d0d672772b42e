/** Engines that start a program on several machines, where Debian has put them, and a Slurm of two nodes on this host. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { cliEnvironment } from './cli.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { waitFor } from './wait.ts';

export const ENGINE_PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`;
const has = (name: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH: ENGINE_PATH } }).status === 0;
/** The reason why the programs cannot be run; null: they can. */
export const lacking = (...names: string[]): string | null => {
  const missing = names.filter((name) => !has(name));
  return missing.length === 0 ? null : `no ${missing.join(', ')} here`;
};

/** The reason why there is no Slurm here; null: there is. */
export const missingSlurm: string | null =
  lacking('srun', 'slurmctld', 'slurmd') ?? (process.getuid?.() === 0 ? null : 'slurmd of this test needs root');

/** Slurm with two nodes on this host and no authentication: slurmctld and slurmd as root. */
export class TwoNodes {
  /** Its files. */
  readonly folder = temporaryFolder('slurm');
  readonly configuration = join(this.folder, 'slurm.conf');
  readonly env = cliEnvironment({ PATH: ENGINE_PATH, SLURM_CONF: this.configuration });
  readonly #daemons: ChildProcess[] = [];
  readonly #more: string;

  /** @param more lines of its configuration. */
  constructor(more = '') {
    this.#more = more;
  }

  async start(): Promise<void> {
    const { folder } = this;
    const [controller, first, second] = await freePorts(3);
    const [host = 'localhost'] = hostname().split('.');
    for (const name of ['state', 'n1', 'n2']) mkdirSync(join(folder, name), { recursive: true });
    const node = (name: string, port: number | undefined) =>
      `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port} CPUs=1 RealMemory=100 State=UNKNOWN\n`;
    writeFileSync(
      this.configuration,
      `ClusterName=test\nSlurmctldHost=${host}(127.0.0.1)\nSlurmctldPort=${controller}\nAuthType=auth/none\nCredType=cred/none\n` +
        `ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSlurmUser=root\nSlurmdUser=root\nMpiDefault=none\nReturnToService=2\n` +
        `StateSaveLocation=${folder}/state\nSlurmdSpoolDir=${folder}/%n\nSlurmdPidFile=${folder}/%n.pid\nSlurmctldPidFile=${folder}/ctld.pid\n` +
        `SelectType=select/cons_tres\n${node('n1', first)}${node('n2', second)}PartitionName=p Nodes=ALL Default=YES State=UP\n${this.#more}`,
    );
    const run = (program: string, ...args: string[]) =>
      this.#daemons.push(spawn(program, ['-D', '-f', this.configuration, ...args], { stdio: 'ignore', env: this.env }));
    run('slurmctld');
    for (const name of ['n1', 'n2']) run('slurmd', '-N', name);
    const states = () => this.ask('sinfo', '-h', '-N', '-o', '%T').trim();
    await waitFor('two nodes that are idle', states, (text) => text === 'idle\nidle');
  }

  ask(program: string, ...args: string[]): string {
    return spawnSync(program, args, { env: this.env, encoding: 'utf8' }).stdout ?? '';
  }

  /** Call it after its jobs: their rest waits for the daemons. */
  async stop(): Promise<void> {
    this.ask('scancel', '--user=root');
    await waitFor(
      'an empty queue',
      () => this.ask('squeue', '-h'),
      (jobs) => jobs === '',
    );
    for (const daemon of this.#daemons.toReversed()) {
      const ended = once(daemon, 'close');
      daemon.kill('SIGTERM');
      await ended;
    }
  }
}

/** Ports that nobody uses at present. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
