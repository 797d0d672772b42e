/** The other machines of a launch: each is asked for its snapshot, and judged for a rank as this machine is. */

import { hostname } from 'node:os';
import { MiB } from '../base/format.ts';
import { readNamedFile } from '../base/named-path.ts';
import { hostsOfFile } from '../cluster/hosts.ts';
import { readMachines } from '../cluster/index.ts';
import type { ClusterMachine, LaunchRank, RecognisedCommand, Snapshot } from '../types/index.ts';
import type { Answer } from './judge.ts';
import { isRefusal, verdictFor } from './plan.ts';

/** Names of the other machines: those that the caller names, else those of mpirun. */
export function otherHosts(
  hosts: readonly string[] | undefined,
  { hostfile, hosts: named }: RecognisedCommand,
): string[] {
  const inFile =
    hosts === undefined && hostfile !== null ? hostsOfFile(readNamedFile('--hostfile', hostfile, MiB)) : [];
  const own = new Set([
    'localhost',
    '127.0.0.1',
    '::1',
    hostname().toLowerCase(),
    hostname().toLowerCase().split('.')[0],
  ]);
  return [...new Set(hosts ?? [...named, ...inFile])].filter((host) => !own.has(host.toLowerCase()));
}

/** @param judgeOn the answer for a rank on a machine. */
export async function askRanks(
  hosts: readonly string[],
  recognised: RecognisedCommand,
  judgeOn: (machine: Snapshot) => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<LaunchRank[]> {
  const machines = await readMachines({ hosts, ...(signal === undefined ? {} : { signal }) });
  return Promise.all(machines.map((machine) => rankOf(machine, recognised, judgeOn)));
}

async function rankOf(
  { because, host, next, snapshot, state }: ClusterMachine,
  recognised: RecognisedCommand,
  judgeOn: (machine: Snapshot) => Promise<Answer>,
): Promise<LaunchRank> {
  if (snapshot === null) return { host, state, verdict: null, refuses: true, summary: because ?? '', next };
  const { fit, noFit, unread } = await judgeOn(snapshot);
  const read = { ...recognised, unread: [...recognised.unread, ...unread] };
  const { summary, verdict } = verdictFor({ fit, noFit, machine: snapshot, recognised: read });
  const refuses = isRefusal(verdict, fit);
  const [remedy] = fit?.remedies ?? [];
  return { host, state, verdict, refuses, summary, next: refuses ? (remedy?.text ?? snapshot.judgement.next) : null };
}
