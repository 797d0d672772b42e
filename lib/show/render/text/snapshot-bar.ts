/** The memory in plain words: a bar of all of it, and its parts. The whole ledger is in snapshot-memory.ts. */
import { clean, formatBoth, formatCount } from '../../../base/format.ts';
import { hasPools, isMuchHidden, unifiedDevice, unknownGpuMemory } from '../../../core/memory/headroom.ts';
import type { GpuProcess, LedgerLabel, Snapshot } from '../../../types/index.ts';
import { amount, type RenderOptions } from '../options.ts';
import { table, truncate } from '../text-layout.ts';
import { flow } from './frame.ts';
import { bytesOf, type Group, labelsOf, mark, poolBar } from './snapshot-memory.ts';

/** A part of the bar, and its explanation for a person. */
interface Part extends Group {
  note: string;
}

/** Parts in the order of the bar: from memory that is hardest to free, on the left, to free memory. */
function partsOf(snapshot: Snapshot): Part[] {
  const part = (
    letter: string,
    style: Part['style'],
    name: string,
    labels: readonly LedgerLabel[],
    note = '',
  ): Part => ({
    letter,
    style,
    rows: [{ name, labels }],
    note,
  });
  const apart = unattributedNote(snapshot);
  return [
    part('G', 'gpu', 'GPU programs', ['gpuProcesses'], holders(snapshot)),
    part('D', 'unattributed', 'GPU driver', ['driverPools'], 'freed GPU memory; the next GPU program gets it first'),
    ...(apart === null ? [] : [part('?', 'unattributed', 'not known', ['unattributed'], apart)]),
    part('P', 'anonymous', 'programs', ['anonymous', 'swapCache', 'shmem', 'zram']),
    part('H', 'huge', 'huge pages', ['hugePages'], 'reserved; GPU memory never comes from them'),
    part('S', 'kernel', 'system', [
      ...(['slabUnreclaimable', 'kernelStack', 'pageTables', 'percpu', 'zswap', 'hardwareCorrupted'] as const),
      ...(apart === null ? (['unattributed'] as const) : []),
    ]),
    part(
      'C',
      'cache',
      'files in cache',
      ['pageCache', 'buffers', 'kernelReclaimable'],
      'given back when a program needs the memory',
    ),
    part('.', 'free', 'free', ['free', 'freeInCpuLists']),
  ];
}

/** Likely content of the remainder if it is no ordinary use by kernel and driver; null: it is. */
function unattributedNote(snapshot: Snapshot): string | null {
  const { ledger } = snapshot;
  const bytes = bytesOf(['unattributed'], ledger);
  if (ledger.notSplit.length > 0) return 'a counter is missing: see below';
  if (bytes < 0) return 'counted twice by the kernel';
  if (!isMuchHidden(bytes, snapshot)) return null;
  if (unifiedDevice(snapshot) === undefined) return 'drivers and kernel';
  if (unknownGpuMemory(snapshot) !== null) return 'GPU programs and driver';
  return hasPools(snapshot.driver) ? 'the driver and its pools' : 'in no counter and no program';
}

/** The largest holders of the shared memory, by name. */
function holders(snapshot: Snapshot): string {
  const list: GpuProcess[] = [...(unifiedDevice(snapshot)?.processes ?? [])].sort(
    (a, b) => (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0),
  );
  const named = list.slice(0, 2).map(({ name, pid }) => `${truncate(clean(name ?? 'process'), 24)} (${pid})`);
  return `${named.join(', ')}${list.length > 2 ? ` and ${list.length - 2} more` : ''}`;
}

export function barLines(snapshot: Snapshot, options: RenderOptions): string[] {
  return [titleLine(snapshot, options), poolBar(snapshot.ledger, options, partsOf(snapshot))];
}

/** The parts of the bar with their bytes, which add up to the total. Parts of 0 are left out. */
export function poolParts(snapshot: Snapshot): (Part & { name: string; bytes: number })[] {
  return partsOf(snapshot)
    .map((part) => ({ ...part, name: part.rows[0]?.name ?? '', bytes: bytesOf(labelsOf(part), snapshot.ledger) }))
    .filter(({ bytes }) => bytes !== 0);
}

/** The legend of the bar. */
export function legendLines(snapshot: Snapshot, options: RenderOptions): string[] {
  const rows = poolParts(snapshot).map((part) => [
    mark(part, options),
    part.name,
    amount(part.bytes, options),
    part.note,
  ]);
  return table(['left', 'left', 'right', 'optional'], rows, options.cut);
}

/** The same in as few lines as it takes, without notes. */
export function legendLine(snapshot: Snapshot, options: RenderOptions): string[] {
  const parts = poolParts(snapshot).map((part) => `${mark(part, options)} ${part.name} ${amount(part.bytes, options)}`);
  return flow(parts, options, { dots: false });
}

function titleLine(snapshot: Snapshot, options: RenderOptions): string {
  const { total } = snapshot.ledger;
  const title = poolTitle(snapshot, options.exact ? `${formatCount(total)} B` : formatBoth(total));
  return options.paint('heading', truncate(title, options.cut));
}

/** @param total MemTotal as a text. */
export function poolTitle(snapshot: Snapshot, total: string): string {
  const device = unifiedDevice(snapshot);
  return device === undefined
    ? `The host has ${total}`
    : `CPU and GPU share ${total}, ${clean(device.name ?? 'unnamed')}`;
}
