/** Memory that is free this instant, memory that can become free, and the tools that see each. */
import { formatBytes } from '../../../base/format.ts';
import { cmaPhantom } from '../../../core/memory/cma.ts';
import { contextFailure, goneFailure } from '../../../core/memory/device-health.ts';
import { shareFor } from '../../../core/memory/others.ts';
import type { DeviceSnapshot, Snapshot, ViewName } from '../../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import { hanging, padEnd, padStart } from '../text-layout.ts';
import { TOOLS } from './snapshot-tools.ts';

interface NumberRow {
  label: string;
  bytes: number | null;
  text: string;
}

export const FREE = 'Free this instant';
export const CAN_BE = 'Can become free';

/** @param brief without the tools, one line each. */
export function numberLines(snapshot: Snapshot, options: RenderOptions, { brief = false } = {}): string[] {
  const { devices, host } = snapshot;
  if (devices.length === 0)
    return rowLines(
      [
        { label: FREE, bytes: host.free, text: 'for programs; there is no GPU' },
        { label: CAN_BE, bytes: host.available, text: 'with files in cache given back' },
      ],
      options,
    );
  // A GPU that is gone has no numbers beside others; its line below says so.
  const present = devices.filter(({ failures }) => goneFailure(failures)?.meaning.gone === undefined);
  const shown = present.length > 0 ? present : devices;
  return shown.flatMap((device) => {
    const rows = rowsOf(device, snapshot).map((row) => (brief ? { ...row, text: '' } : row));
    const name = shown.length === 1 || rows.length === 0 ? [] : [options.paint('dim', `GPU ${device.index}`)];
    return [...name, ...rowLines(rows, options)];
  });
}

function rowsOf(device: DeviceSnapshot, snapshot: Snapshot): NumberRow[] {
  const { afterReclaim, immediate, safe } = device.allocatable;
  const gone = goneFailure(device.failures)?.meaning.gone;
  if (gone !== undefined) return [{ label: FREE, bytes: null, text: `the GPU ${gone}` }];
  const isRefused = contextFailure(device) !== undefined;
  const refused = isRefused ? 'but no CUDA program can start now' : '';
  // Readings of tools are no answer if none of them can start.
  const seen = seenBy(isRefused ? {} : device.views);
  const now = { label: FREE, bytes: immediate };
  const later = { label: CAN_BE, bytes: afterReclaim };
  switch (device.memoryModel) {
    case 'unified': {
      const phantom = cmaPhantom(snapshot.host);
      const without = phantom === 0 ? '' : `without ${formatBytes(phantom)} that cannot be pinned`;
      const only = immediate !== null && safe !== null && immediate < safe ? ' only' : '';
      const reserve = isRefused ? '' : reserveText(device, snapshot);
      return [
        { ...now, text: joined(refused, without, seen.take(immediate, `see${only} this`)) },
        { ...later, text: joined('files in cache given back', seen.take(afterReclaim, 'see this'), reserve) },
        ...seen.rest(),
      ];
    }
    case 'unknown':
      return [
        { ...now, text: immediate === null ? 'NVML may report a carve-out' : 'as CUDA reports' },
        { ...later, text: 'it is unknown whether the GPU shares host memory' },
      ];
    case 'coherent':
      return [
        { ...now, text: joined(refused, seen.take(immediate, 'see this')) },
        { ...later, text: 'page cache on the GPU is not counted' },
        ...seen.rest(),
      ];
    case 'discrete': {
      const share = shareFor(null, device.others);
      const left = share === null ? '' : `${formatBytes(share.bytes)} of it stay for the GPU's other users`;
      return [{ ...now, text: joined(refused, seen.take(immediate, 'see this'), left) }, ...seen.rest()];
    }
  }
}

/** Reason why less can be loaded than can become free. */
function reserveText({ allocatable: { afterReclaim, safe } }: DeviceSnapshot, snapshot: Snapshot): string {
  if (safe === null || afterReclaim === null) return '';
  if (snapshot.judgement.findings.some(({ id }) => id === 'fragmentation'))
    return 'too little of it in large enough blocks';
  return safe === 0 ? '' : `${formatBytes(afterReclaim - safe)} stay for the system`;
}

function joined(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('; ');
}

/** Two numbers are the same answer if they differ by less than this share: readings are not of one instant. */
const SAME_SHARE = 0.01;

/** The tools that report a number for this device, grouped by it. */
function seenBy(views: Partial<DeviceSnapshot['views']>): {
  take(bytes: number | null, verb: string): string;
  rest(): NumberRow[];
} {
  const left = new Map<ViewName, number>();
  for (const name of Object.keys(TOOLS) as ViewName[]) {
    const bytes = views[name] ?? null;
    if (bytes !== null) left.set(name, bytes);
  }
  const takeNear = (bytes: number): string[] => {
    const near = [...left].filter(([, seen]) => Math.abs(seen - bytes) <= bytes * SAME_SHARE).map(([name]) => name);
    for (const name of near) left.delete(name);
    return near.map((name) => TOOLS[name]);
  };
  return {
    take(bytes, verb) {
      const names = bytes === null ? [] : takeNear(bytes);
      return names.length === 0 ? '' : `${listed(names)} ${names.length === 1 ? verb.replace('see', 'sees') : verb}`;
    },
    rest() {
      const rows: NumberRow[] = [];
      for (const bytes of new Set(left.values())) {
        const names = takeNear(bytes);
        if (names.length > 0) rows.push({ label: 'Some tools say', bytes, text: listed(names) });
      }
      return rows;
    },
  };
}

/** "a", "a and b", "a, b and c". */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function rowLines(rows: readonly NumberRow[], options: RenderOptions): string[] {
  const labelWidth = Math.max(...rows.map(({ label }) => label.length)) + 2;
  const amounts = rows.map(({ bytes }) => amount(bytes, options));
  const amountWidth = Math.max(...amounts.map((text) => text.length));
  return rows.flatMap(({ label, text }, index) => {
    const number = padStart(amounts[index] ?? '', amountWidth);
    const head = `${padEnd(label, labelWidth)}${number}`;
    const [first = '', ...more] = hanging(`${head}  `, text, options.width);
    return [options.paint('strong', first.slice(0, head.length)) + first.slice(head.length), ...more].map((line) =>
      line.trimEnd(),
    );
  });
}
