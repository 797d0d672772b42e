/** Two snapshots: the answer, the ledger, who holds GPU memory, and the settings that numbers depend on. */

import { formatBytes } from '../../base/format.ts';
import { answer } from '../../core/memory/answer.ts';
import { headroom, totalOf, unifiedDevice } from '../../core/memory/headroom.ts';
import type { ComparedRow, ComparedSide, CompareReport, DeviceSnapshot, Level, Snapshot } from '../../types/index.ts';
import { differing, directionOf, holdingRows, holdings, row, textOf } from './rows.ts';
import { changeSentence, grewSentence } from './sentences.ts';

export function compareSnapshots(a: Snapshot, b: Snapshot): CompareReport {
  const both = [a, b] as const;
  const pair = <T>(of: (snapshot: Snapshot) => T): readonly [T, T] => [of(a), of(b)];
  const number = (section: string, name: string, of: (snapshot: Snapshot) => number | null | undefined, path: string) =>
    row(section, name, 'bytes', pair(of), path);
  // GPUs with memory of their own do not share the host's.
  const host = both.every((each) => unifiedDevice(each) !== undefined) ? '' : 'host, ';
  const answers = [
    number('answer', 'can be loaded', ({ judgement }) => judgement.safe.bytes, 'judgement.safe.bytes'),
    number('answer', `${host}can become free`, (each) => headroom(each).afterReclaim, 'host.available'),
    number('answer', `${host}free this instant`, (each) => headroom(each).immediate, 'host.free'),
    number('answer', 'swap used', ({ host }) => less(host.swapTotal, host.swapFree), 'host.swapTotal - host.swapFree'),
    row(
      'answer',
      'stalled, last 10 s',
      'percent',
      pair(({ pressure }) => pressure?.full.avg10),
      'pressure.full.avg10',
    ),
  ];
  const holders = programRows(a, b);
  const all = [...answers, ...holders, ...ledgerRows(a, b), ...deviceRows(a, b), ...settingRows(a, b)];
  const [safe] = answers as [ComparedRow];
  const same = safe.a === safe.b ? 'As much can be loaded in both.' : changeSentence(safe, 'can be loaded');
  const summary = [same, grewSentence(holders, 'GPU memory')].filter((text) => text !== null).join(' ');
  return {
    schema: 'umaprobe/compare/1',
    kind: 'snapshot',
    a: sideOf(a),
    b: sideOf(b),
    summary,
    direction: directionOf(safe),
    ...differing(all),
    findings: [...findingsOf('a', a, b), ...findingsOf('b', b, a)],
    notes: [...identityNotes(a, b), ...both.flatMap((each, index) => listNotes(index === 0 ? 'A' : 'B', each))],
  };
}

const LEVELS: readonly Level[] = ['ok', 'notice', 'warning', 'danger'];

function less(total: number | null, free: number | null): number | null {
  return total === null || free === null ? null : total - free;
}

function sideOf(snapshot: Snapshot): ComparedSide {
  const { at, devices, judgement, simulated } = snapshot;
  const device = unifiedDevice(snapshot) ?? devices[0];
  const text = `${answer(snapshot, formatBytes)}. ${judgement.because}`;
  const level = LEVELS.includes(judgement.level) ? judgement.level : null;
  return { at: textOf(at) ?? '', simulated: textOf(simulated), device: textOf(device?.name), verdict: { level, text } };
}

/** A pid is one program within one boot; across two the name has to do. */
function programRows(a: Snapshot, b: Snapshot): ComparedRow[] {
  const oneBoot = a.bootId !== null && a.bootId === b.bootId;
  const held = ({ devices }: Snapshot) =>
    holdings(
      devices.flatMap(({ processes }) =>
        (processes ?? []).map(({ gpuBytes, name, pid }) => {
          const key = oneBoot ? `${name ?? 'unnamed'} (${pid})` : (name ?? 'unnamed');
          return [key, gpuBytes] as const;
        }),
      ),
    );
  const complete = ({ devices }: Snapshot) => devices.every(({ processesComplete }) => processesComplete === true);
  return holdingRows('programs', [held(a), held(b)], [complete(a), complete(b)], 'devices[].processes[].gpuBytes');
}

function ledgerRows(a: Snapshot, b: Snapshot): ComparedRow[] {
  const labels = new Set([...a.ledger.entries, ...b.ledger.entries].map(({ label }) => label));
  const bytes = ({ ledger }: Snapshot, label: string) => ledger.entries.find((entry) => entry.label === label)?.bytes;
  return [
    row('memory', 'total', 'bytes', [a.ledger.total, b.ledger.total], 'ledger.total'),
    ...[...labels].map((label) => row('memory', label, 'bytes', [bytes(a, label), bytes(b, label)], `ledger.${label}`)),
  ];
}

/** GPUs with memory of their own, by their UUID where both have one. */
function deviceRows(a: Snapshot, b: Snapshot): ComparedRow[] {
  const own = ({ devices }: Snapshot) => devices.filter(({ memoryModel }) => memoryModel !== 'unified');
  const partnerOf = ({ index, uuid }: DeviceSnapshot, others: readonly DeviceSnapshot[]) =>
    others.find((other) => uuid !== null && other.uuid === uuid) ?? others.find((other) => other.index === index);
  const ofB = own(b);
  const pairs = own(a).map((device) => [device, partnerOf(device, ofB)] as const);
  const matched = new Set(pairs.map(([, partner]) => partner));
  const left = ofB.filter((device) => !matched.has(device)).map((device) => [undefined, device] as const);
  return [...pairs, ...left].flatMap(([x, y]) => {
    const section = `GPU ${(x ?? y)?.index}`;
    const at = `devices[${(x ?? y)?.index}]`;
    return [
      row(section, 'can be loaded', 'bytes', [x?.allocatable.safe, y?.allocatable.safe], `${at}.allocatable.safe`),
      row(
        section,
        'free',
        'bytes',
        [x?.allocatable.immediate, y?.allocatable.immediate],
        `${at}.allocatable.immediate`,
      ),
      row(section, 'used', 'bytes', [x?.nvml?.used, y?.nvml?.used], `${at}.nvml.used`),
      row(
        section,
        'total',
        'bytes',
        [x === undefined ? null : totalOf(x, a.host.total), y === undefined ? null : totalOf(y, b.host.total)],
        `${at}.nvml.total`,
      ),
    ];
  });
}

function settingRows(a: Snapshot, b: Snapshot): ComparedRow[] {
  const text = (name: string, of: (snapshot: Snapshot) => string | null, path: string) =>
    row('settings', name, 'text', [of(a), of(b)], path);
  const count = (name: string, of: (snapshot: Snapshot) => number | null, path: string) =>
    row('settings', name, 'count', [of(a), of(b)], path);
  return [
    text('driver', ({ driver }) => driver.version, 'driver.version'),
    text('CUDA', ({ libraries }) => libraries.cuda.version, 'libraries.cuda.version'),
    text('kernel', ({ kernel }) => kernel.release, 'kernel.release'),
    text('CUDA_VISIBLE_DEVICES', (each) => each.cudaVisibleDevices, 'cudaVisibleDevices'),
    text('transparent huge pages', ({ kernel }) => kernel.transparentHugePages, 'kernel.transparentHugePages'),
    count('vm.swappiness', ({ kernel }) => kernel.swappiness, 'kernel.swappiness'),
    count('watermark_scale_factor', ({ kernel }) => kernel.watermarkScaleFactor, 'kernel.watermarkScaleFactor'),
    row('settings', 'min_free_kbytes', 'bytes', [a.kernel.minFree, b.kernel.minFree], 'kernel.minFree'),
    row('settings', 'limit of the cgroup', 'bytes', [a.cgroup?.limit, b.cgroup?.limit], 'cgroup.limit'),
  ];
}

function findingsOf(side: 'a' | 'b', from: Snapshot, other: Snapshot): CompareReport['findings'] {
  const ids = new Set(other.judgement.findings.map(({ id }) => id));
  return from.judgement.findings.filter(({ id }) => !ids.has(id)).map(({ id, summary }) => ({ id, in: side, summary }));
}

function identityNotes(a: Snapshot, b: Snapshot): string[] {
  const uuids = ({ devices }: Snapshot) => devices.map(({ uuid }) => uuid).join(' ');
  if (uuids(a) !== uuids(b)) return ['The two are of different GPUs.'];
  if (a.bootId === null || b.bootId === null)
    return ['Whether the machine was restarted between the two is not known.'];
  return a.bootId === b.bootId ? [] : ['The two are of different boots: programs are matched by name.'];
}

function listNotes(side: string, { devices, ledger }: Snapshot): string[] {
  const bound = ledger.entries.find(({ label }) => label === 'gpuProcesses')?.bound;
  const bounds =
    bound === undefined ? [] : [`${side}: GPU memory is ${bound === 'atMost' ? 'at most' : 'at least'} what is shown.`];
  const lists = devices
    .filter(({ processesComplete }) => processesComplete !== true)
    .map(
      ({ from, index }) =>
        `${side}: not every program on GPU ${index} is known: ${from.processesComplete ?? from.processes ?? 'the driver did not say'}.`,
    );
  return [...bounds, ...lists];
}
