/** Page cache of the machine, of each model store or path, and the files with the most. */
import {
  clean,
  formatBoth,
  formatBytes,
  formatCount,
  formatDuration,
  inGB,
  inGiB,
  share,
} from '../../../base/format.ts';
import type { CachedFile, CacheSplit, CacheStatus, CacheTarget } from '../../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging, truncate, truncateStart, wrap } from '../text-layout.ts';
import { headedTable, labelled, sections, simulatedBand } from './frame.ts';

export function statusPage(status: CacheStatus, options: RenderOptions): string[] {
  const { paint, width } = options;
  const { files, limits, machine, simulated, targets } = status;
  const noStore = targets.length === 0 && simulated === null;
  return sections(
    [...simulatedBand(simulated, options), ...(machine === null ? [] : answerLines(machine, status, options))],
    machine === null ? [] : splitTable(machine, status, options),
    targets.flatMap((target) => targetLines(target, options)),
    noStore ? hanging('', 'No model store was found. Name files or folders: umaprobe cache status <path>…', width) : [],
    fileTable(files, options),
    [
      ...limits.flatMap((limit) => hanging('note  ', clean(limit), width)),
      paint(
        'dim',
        `${status.method === null ? '' : `read with ${status.method}, `}took ${formatDuration(status.durationMs)}`,
      ),
    ],
  );
}

function answerLines(
  { modelFiles, otherFiles }: CacheSplit,
  { targets }: CacheStatus,
  options: RenderOptions,
): string[] {
  const named = modelFiles === null ? '' : `, ${formatBoth(modelFiles)} of them ${namedText(targets)}`;
  const sentence = `${formatBoth((modelFiles ?? 0) + otherFiles)} of files are in the page cache${named}.`;
  return labelled('CACHED', 'notice', sentence, options);
}

/** The files that were looked at. */
function namedText(targets: readonly CacheTarget[]): string {
  const unseen = targets.some(({ unseenFiles }) => unseenFiles > 0) ? ' that you can see' : '';
  return (targets.some(({ store }) => store !== null) ? 'model files' : 'the files below') + unseen;
}

/** The whole cache of the machine, in parts that add up. */
function splitTable(machine: CacheSplit, { targets }: CacheStatus, { cut, paint, width }: RenderOptions): string[] {
  const rows: [string, number | null][] = [
    [namedText(targets), machine.modelFiles],
    [machine.modelFiles === null ? 'files' : 'other files, block devices', machine.otherFiles],
    ['shared memory, tmpfs', machine.shmem],
    ['kernel caches (slab)', machine.slabReclaimable],
    ['page cache and slab', machine.total],
  ];
  const cells = rows
    .filter(([, bytes]) => bytes !== null)
    .map(([label, bytes]) => [label, inGiB(bytes), inGB(bytes), share(bytes ?? 0, machine.total)]);
  const lines = headedTable(['left', 'right', 'right', 'right'], [['', 'GiB', 'GB', '%'], ...cells], cut, paint);
  const unwritten = `including ${formatBytes(machine.dirty)} dirty, ${formatBytes(machine.writeback)} under writeback`;
  return [...lines, ...wrap(unwritten, width).map((line) => paint('dim', line))];
}

function targetLines(target: CacheTarget, { cut, paint, width }: RenderOptions): string[] {
  const {
    bytes,
    cachedBytes,
    dirtyBytes,
    files,
    links,
    mappedBytes,
    memoryBytes,
    special,
    store,
    unseenBytes,
    unseenFiles,
  } = target;
  const name = store === null ? '' : `${store.name} (${store.from})  `;
  // It is unknown whether files that the kernel hides are cached: they are left out of the share.
  const shown = bytes - unseenBytes;
  const parts = [
    cachedBytes === null
      ? `unknown how much of ${formatBytes(bytes)} is cached`
      : `${formatBoth(cachedBytes)} of ${formatBytes(shown)}${unseenFiles > 0 ? ' that you can see' : ''} cached${shown > 0 ? `, ${cachedShare(cachedBytes, shown)} %` : ''}`,
    `${formatCount(files)} ${files === 1 ? 'file' : 'files'}`,
    (mappedBytes ?? 0) > 0 ? `${formatBytes(mappedBytes)} mapped` : null,
    (dirtyBytes ?? 0) > 0 ? `${formatBytes(dirtyBytes)} dirty` : null,
    (memoryBytes ?? 0) > 0 ? `${formatBytes(memoryBytes)} on tmpfs, which is memory` : null,
    unseenFiles > 0 ? `${formatCount(unseenFiles)} not visible to you` : null,
    special > 0 ? `${formatCount(special)} special` : null,
    links > 0 ? `${formatCount(links)} links` : null,
  ];
  const facts = parts.filter((part) => part !== null).join(', ');
  return [
    paint('strong', truncate(name + clean(target.path), cut)),
    ...hanging('  ', facts, width),
    ...problemLines(target, width),
  ];
}

/** Percent. Whole pages are cached, so a small file has more in cache than its length. */
function cachedShare(cached: number, bytes: number): string {
  return share(cached, Math.max(bytes, cached));
}

/** Problems listed of each target. */
const SHOWN_PROBLEMS = 5;

/** Paths that could not be read, and why. */
export function problemLines({ problems, problemCount }: CacheTarget, width: number): string[] {
  const lines = problems
    .slice(0, SHOWN_PROBLEMS)
    .flatMap(({ path, reason }) => hanging('  skipped  ', `${clean(path)}: ${clean(reason)}`, width));
  const more = problemCount - Math.min(problems.length, SHOWN_PROBLEMS);
  return more > 0 ? [...lines, `  and ${formatCount(more)} more; --json lists up to 100`] : lines;
}

/** Columns of the table besides the path, gaps included. */
const OTHER_COLUMNS = 52;
const MIN_PATH_WIDTH = 24;

function fileTable(files: readonly CachedFile[], { cut, paint }: RenderOptions): string[] {
  if (files.length === 0) return [];
  const rows = files.map(({ bytes, cachedBytes, dirtyBytes, mappedBy, path }) => [
    formatBytes(cachedBytes),
    cachedBytes === null ? '' : `${cachedShare(cachedBytes, bytes)} %`,
    (dirtyBytes ?? 0) > 0 ? formatBytes(dirtyBytes) : '',
    truncate(mappedBy.map(({ name, pid }) => `${clean(name ?? 'pid')} (${pid})`).join(', '), 24),
    truncateStart(clean(path), Math.max(MIN_PATH_WIDTH, cut - OTHER_COLUMNS)),
  ]);
  return headedTable(
    ['right', 'right', 'right', 'left', 'flexible'],
    [['cached', '', 'dirty', 'mapped by', 'file'], ...rows],
    cut,
    paint,
  );
}
