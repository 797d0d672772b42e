/** Programs of Debian that `npm run clients` has put into build-clients, for tests to run on simulated machines. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Simulation } from '../../lib/sim.ts';
import { clientsFolder, clientVersions } from '../../scripts/debian-clients.mjs';
import { CLIENTS, unsanitizedEnvironment } from './clients.ts';

export type Release = 'bookworm' | 'trixie';

/** The reason why the programs of a release cannot be run; null: they can. */
export function missingClients(release: Release): string | null {
  return clientVersions(release) === null ? `no programs of Debian ${release} here: npm run clients` : null;
}

/** The upstream version of a package, such as "3.2.0" of "3.2.0-1". */
export function clientVersion(release: Release, name: string): string {
  const version: unknown = clientVersions(release)?.[name];
  if (typeof version !== 'string') throw new Error(`scripts/debian-clients.mjs has no package ${name} of ${release}`);
  return version.replace(/^\d+:/, '').replace(/-[^-]*$/, '');
}

/** The file that starts a program of a release. */
export function clientPath(release: Release, program: string): string {
  return join(clientsFolder(release), 'run', program);
}

/** The environment of a program of Debian on a simulated machine, as `umaprobe sim run` sets it. */
export function clientEnvironment(simulation: Simulation): NodeJS.ProcessEnv {
  return { ...unsanitizedEnvironment(), LANG: 'C.UTF-8', ...simulation.foreignEnv() };
}

export interface ClientResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program of Debian on a simulated machine and waits for its end. */
export function runClient(
  simulation: Simulation,
  release: Release,
  program: string,
  args: readonly string[] = [],
): ClientResult {
  const ran = spawnSync(clientPath(release, program), args, {
    encoding: 'utf8',
    timeout: 30_000,
    env: clientEnvironment(simulation),
  });
  if (ran.error !== undefined) throw ran.error;
  return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

/** Runs `use` while another process holds memory of the machine's first device; `pid` is that process. */
export async function whileHolding<T>(
  simulation: Simulation,
  bytes: number,
  use: (pid: number) => T | Promise<T>,
): Promise<T> {
  const args = [join(CLIENTS, 'hold.py'), String(bytes)];
  const holder = spawn(clientPath('trixie', 'python3'), args, { env: clientEnvironment(simulation) });
  const ended = new Promise((resolve) => holder.once('close', resolve));
  try {
    const said = await new Promise((resolve) => {
      holder.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
      holder.once('close', (code) => resolve(`ended with ${code}`));
    });
    if (String(said).trim() !== 'held') throw new Error(`hold.py ${bytes}: ${said}`);
    return await use(holder.pid ?? 0);
  } finally {
    holder.stdin.end();
    await ended;
  }
}
