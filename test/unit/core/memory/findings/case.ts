/** A case of a row of the table of findings: a machine, and what the row says of it. */
import type { Failure } from '../../../../../lib/base/errors.ts';
import type { Facts } from '../../../../../lib/core/memory/findings/row.ts';
import { judged } from '../../../../../lib/core/memory/judge.ts';
import type {
  CheckStatus,
  DeviceFailure,
  FindingId,
  LoadEffect,
  ProcessesReport,
  ProcessMemory,
  Reading,
  Snapshot,
} from '../../../../../lib/types/index.ts';
import { deviceFailure } from '../../../../support/failures.ts';
import { changed, type MachineFixture, readingOf, snapshotOf } from '../../../../support/snapshots.ts';

/** What a finding has besides its status and its sentence. What is left out is not asked. */
export interface More {
  effect?: LoadEffect['does'];
  bytes?: number | null;
  /** Memory that programs use on purpose, or a lasting property. */
  normal?: boolean;
  cause?: RegExp | null;
  /** null: none. */
  remedy?: RegExp | null;
  command?: RegExp | null;
  gains?: number | null;
  /** Lines of the evidence: "name value source". */
  evidence?: RegExp;
}

/** `fail`: a danger, or a warning that refuses loads. `says`: the summary, or why it could not be judged. */
export type FindingCase = [
  id: FindingId,
  title: string,
  machine: Facts,
  status: CheckStatus,
  says: RegExp,
  more?: More,
];

/** A machine of the fixture. Of the other facts a snapshot is judged with the programs only. */
export function on(fixture: MachineFixture = {}, facts: Omit<Facts, 'snapshot'> = {}): Facts {
  const { programs } = facts;
  return { snapshot: judged(readingOf(fixture), programs === undefined ? {} : { programs }), ...facts };
}

/** A machine on which this has happened, too. */
export function after(change: (reading: Reading) => void, fixture: MachineFixture = {}): Facts {
  return { snapshot: changed(change, fixture) };
}

/** A call for a device that failed; cudaMemGetInfo is then not read. */
export function failing(reading: Reading, failure: DeviceFailure, index = 0): void {
  const device = reading.devices[index];
  if (device === undefined) throw new Error(`no device ${index}`);
  device.failures.push(failure);
  if (failure.path === 'cuda') Object.assign(device, { cuda: null, from: { ...device.from, cuda: failure.reason } });
}

/** A machine with failed calls on one device. */
export const failed = (calls: [path: string, failure: Failure][], fixture: MachineFixture = {}, index = 0) =>
  after((reading) => {
    for (const [path, failure] of calls) failing(reading, deviceFailure(path, failure), index);
  }, fixture);

/** The binary's reason with `--deadline 10ms`. */
export const SILENT = 'ERR_UMA_TIMEOUT: nvmlInit_v2 answered TIMEOUT: no answer within 10 ms: blocked in nvmlInit_v2';

/** A machine with more or less in no counter: it is taken off the free memory of the ledger. */
export function hiding(bytes: number, fixture: MachineFixture = {}): Facts {
  return after(({ ledger }) => {
    const rest = ledger.entries.find(({ label }) => label === 'unattributed');
    const free = ledger.entries.find(({ label }) => label === 'free');
    if (rest === undefined || free === undefined) throw new Error('the ledger has no such row');
    free.bytes -= bytes - rest.bytes;
    rest.bytes = bytes;
  }, fixture);
}

export function processOf(pid: number, values: Partial<ProcessMemory>): ProcessMemory {
  const unknown = { parentPid: 1, command: null, uid: 0, held: null, heldFrom: null, rss: null, swap: null } as const;
  const amounts = { anonymous: null, file: null, shared: null, locked: null, peakRss: null, pss: null, gpuBytes: null };
  return { pid, name: 'python3', group: `tree:${pid}`, ...unknown, ...amounts, ...values };
}

export function processesOf(list: ProcessMemory[], shared: ProcessesReport['sharedMemory'] = []): ProcessesReport {
  const none = { total: null, listed: 0, exact: true };
  return {
    schema: 'umaprobe/processes/1',
    at: '2026-10-07T12:34:56.789Z',
    simulated: null,
    memoryModel: 'unified',
    total: snapshotOf().host.total,
    available: null,
    groups: [],
    processes: list,
    sharedMemory: shared,
    totals: { anonymous: none, shared: none, gpu: none, swap: none },
    unattributed: 0,
    hiddenProcesses: 0,
    limits: [],
    from: {},
    durationMs: 1,
  };
}

/** The snapshot of the facts as it was judged. */
export function snapshotIn({ snapshot }: Facts): Snapshot {
  if (!('judgement' in snapshot)) throw new Error('not judged');
  return snapshot as Snapshot;
}
