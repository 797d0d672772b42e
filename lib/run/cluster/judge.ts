/** Rules that make an answer unusable. A usable one has the machine's own judgement. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { capitalized, clean, formatDuration } from '../../base/format.ts';
import { packageVersion } from '../../base/package-version.ts';
import { packageRoot } from '../../root.ts';
import type { ClusterMachine, ClusterState, Snapshot } from '../../types/index.ts';
import type { Found } from './documents.ts';

/** Answer of one machine. */
export interface MachineAnswer {
  host: string;
  found: readonly Found[];
  /** Time at which it came, by the clock of this machine, in milliseconds. */
  cameAt: number;
}

/** A reading takes less than a second, and two machines start at the same time: an older one is an earlier answer. */
const MOST_AGE_MS = 60_000;
/** Clocks without NTP differ by more. */
const MOST_AHEAD_MS = 5000;

const require = createRequire(import.meta.url);

/** True if a document is as its schema says; scripts/machine-validator.mjs made code of the schema. */
export function isValid(name: 'record' | 'snapshot', document: object): boolean {
  const validate = require(join(packageRoot(), `dist/${name}-validator.cjs`)) as (value: unknown) => boolean;
  return validate(document);
}

function isSnapshot(document: object): document is Snapshot {
  return isValid('snapshot', document);
}

export function unusable(
  host: string,
  state: Exclude<ClusterState, 'answered'>,
  because: string,
  next: string | null = null,
  ageMs: number | null = null,
): ClusterMachine {
  return { host, state, because: `${capitalized(clean(because)).replace(/\.$/, '')}.`, next, ageMs, snapshot: null };
}

/** One answer, without a look at the others. */
export function judgeAnswer(answer: MachineAnswer): ClusterMachine {
  const only = onlyDocument(answer, 'snapshot');
  return 'state' in only ? only : judgeDocument(answer.host, only.document, answer.cameAt);
}

/**
 * The one document that was printed, unless it says that umaprobe failed.
 *
 * @param noun the requested document: "snapshot".
 */
export function onlyDocument({ found, host }: MachineAnswer, noun: string): { document: object } | ClusterMachine {
  const [first, second] = found;
  if (first === undefined) return unusable(host, 'unreadable', `no ${noun} came: nothing that was printed is JSON`);
  if (first.problem !== null) return unusable(host, 'unreadable', `what came is no ${noun}: ${first.problem}`);
  if (second !== undefined)
    return unusable(host, 'unreadable', `${found.length} documents came, and one ${noun} was expected`);
  const { error, schema } = first.document as Record<string, unknown>;
  if (schema === 'umaprobe/error/1') return unusable(host, 'failed', `the umaprobe there failed: ${messageOf(error)}`);
  return first;
}

export const PRINT_ONE = 'let each rank print one: umaprobe snapshot --json';
const SAME_VERSION = 'install the same version there; with --hosts, --copy sends this one';

function judgeDocument(host: string, document: object, cameAt: number): ClusterMachine {
  const { schema, umaprobeVersion: version } = document as Record<string, unknown>;
  if (typeof schema !== 'string' || !/^umaprobe\/snapshot\/\d+$/.test(schema))
    return unusable(host, 'unreadable', 'what came is JSON, and no snapshot of umaprobe', PRINT_ONE);
  if (version !== packageVersion()) {
    const its = typeof version === 'string' ? `umaprobe ${version.slice(0, 40)}` : 'an older umaprobe';
    return unusable(host, 'other-version', `it has ${its}, and this is ${packageVersion()}`, SAME_VERSION);
  }
  if (!isSnapshot(document))
    return unusable(host, 'unreadable', 'what came is not a whole snapshot, although its version is the same');
  const ageMs = cameAt - Date.parse(document.at);
  const sync = 'set both clocks by NTP: timedatectl';
  if (!(ageMs <= MOST_AGE_MS))
    return unusable(host, 'stale', `its reading is ${formatDuration(ageMs)} old, or its clock is slow`, sync, ageMs);
  if (ageMs < -MOST_AHEAD_MS)
    return unusable(host, 'stale', `its clock is ${formatDuration(-ageMs)} ahead of this one`, sync, ageMs);
  return { host, state: 'answered', because: null, next: null, ageMs, snapshot: document };
}

function messageOf(error: unknown): string {
  const message: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : null;
  return typeof message === 'string' ? message.slice(0, 500) : 'without a reason';
}

/** The first of several answers from one machine counts: the memory behind it is there once. */
export function withoutDoubles(machines: readonly ClusterMachine[]): ClusterMachine[] {
  const seen = new Map<string, string>();
  return machines.map((machine) => {
    const { ageMs, host, snapshot } = machine;
    if (snapshot === null || machines.length === 1) return machine;
    const { bootId } = snapshot;
    if (bootId === null)
      return unusable(host, 'doubled', 'its boot id is unknown, so it may be a machine that has answered', null, ageMs);
    const other = seen.get(bootId);
    seen.set(bootId, other ?? host);
    if (other === undefined) return machine;
    const because = `it is the same machine as ${other}: their boot id is the same`;
    return unusable(host, 'doubled', because, 'name each machine once', ageMs);
  });
}
