/** The other machines of a launch: each is asked for its snapshot, and judged for a rank as this machine is. */

import { hostname, networkInterfaces } from 'node:os';
import { MiB } from '../../base/format.ts';
import { readNamedFile } from '../../base/named-path.ts';
import { defined } from '../../base/objects.ts';
import type { ClusterMachine, LaunchRank, RecognisedCommand, Snapshot } from '../../types/index.ts';
import { checkHosts, hostsOfFile } from '../cluster/hosts.ts';
import { readMachines } from '../cluster/index.ts';
import type { LaunchAnswer } from './judge.ts';
import { isRefusal, verdictFor } from './plan.ts';

/** Names of the other machines: those that the caller names, else those of mpirun or srun. */
export function otherHosts(
  hosts: readonly string[] | undefined,
  { hostfile, hosts: named }: RecognisedCommand,
): string[] {
  const inFile =
    hosts === undefined && hostfile !== null
      ? hostsOfFile(readNamedFile('--hostfile', hostfile, MiB)).map(({ name }) => name)
      : [];
  const own = new Set(['localhost', ...ownNames()]);
  return [...new Set(hosts ?? [...named, ...inFile])].filter((host) => !own.has(host.toLowerCase()));
}

/** The host name, also without its domain, and every address: mpirun is often given those of the fast network. */
function ownNames(): string[] {
  const name = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  return [name, name.split('.')[0] ?? name, ...addresses];
}

/** @param judgeOn the answer for a rank on a machine. */
export async function askRanks(
  hosts: readonly string[],
  recognised: RecognisedCommand,
  judgeOn: (machine: Snapshot) => Promise<LaunchAnswer>,
  signal: AbortSignal | undefined,
): Promise<LaunchRank[]> {
  const problem = problemOf(hosts);
  if (problem !== null) return [problem];
  const machines = await readMachines({ hosts, ...defined({ signal }) });
  return Promise.all(machines.map((machine) => rankOf(machine, recognised, judgeOn)));
}

/** Names of a command line that ssh does not take; null: it takes all of them. The caller's were checked before. */
function problemOf(hosts: readonly string[]): LaunchRank | null {
  try {
    checkHosts(hosts, 'the list of machines in the command', () => 'a machine in the command');
    return null;
  } catch (error) {
    const next = 'name the machines by --hosts';
    const summary = `No other machine is asked: ${(error as Error).message}.`;
    return { host: hosts.join(', ').slice(0, 200), state: 'unreachable', verdict: null, refuses: true, summary, next };
  }
}

async function rankOf(
  { because, host, next, snapshot, state }: ClusterMachine,
  recognised: RecognisedCommand,
  judgeOn: (machine: Snapshot) => Promise<LaunchAnswer>,
): Promise<LaunchRank> {
  if (snapshot === null) return { host, state, verdict: null, refuses: true, summary: because ?? '', next };
  const { fit, noFit, unread } = await judgeOn(snapshot);
  const read = { ...recognised, unread: [...recognised.unread, ...unread] };
  const { summary, verdict } = verdictFor({ fit, noFit, machine: snapshot, recognised: read });
  const refuses = isRefusal(verdict, fit);
  const [remedy] = fit?.remedies ?? [];
  const simulated = snapshot.simulated === null ? '' : ` (simulated: ${snapshot.simulated})`;
  const text = `${summary}${simulated}`;
  return {
    host,
    state,
    verdict,
    refuses,
    summary: text,
    next: refuses ? (remedy?.text ?? snapshot.judgement.next) : null,
  };
}
