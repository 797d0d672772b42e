/** What is in the page cache, drawn. */

import { clean, formatBoth, formatBytes, formatCount, formatDuration, inGB, inGiB, share } from '../../base/format.ts';
import type { CachedFile, CacheSplit, CacheStatus, CacheTarget } from '../../types/index.ts';
import type { RenderOptions } from '../options.ts';
import { hanging, padEnd, table, truncate, truncateStart } from '../text-layout.ts';

/** Where nothing comes from hardware, the first line says so. */
export function simulatedBand(simulated: string | null, { paint, width }: RenderOptions): string[] {
  if (simulated === null) return [];
  const words = ` SIMULATED  machine ${clean(simulated)}: none of these numbers comes from hardware `;
  return [paint('simulated', padEnd(truncate(words, width), width)), ''];
}

export function statusPage(status: CacheStatus, options: RenderOptions): string {
  const { paint, width } = options;
  const lines = simulatedBand(status.simulated, options);
  if (status.machine !== null) lines.push(...split(status.machine, status, options), '');
  for (const target of status.targets) lines.push(...targetLines(target, options));
  if (status.targets.length > 0) lines.push('');
  else if (status.simulated === null)
    lines.push(
      ...hanging('', 'No model store was found. Name files or folders: umaprobe cache status <path>…', width),
      '',
    );
  lines.push(...fileTable(status.files, options));
  for (const limit of status.limits) lines.push(...hanging('note  ', clean(limit), width));
  lines.push(paint('dim', method(status)));
  return `${lines.join('\n')}\n`;
}

function method({ method: by, durationMs }: CacheStatus): string {
  return by === null ? `took ${formatDuration(durationMs)}` : `read with ${by}, took ${formatDuration(durationMs)}`;
}

function split(machine: CacheSplit, { targets }: CacheStatus, { paint, width }: RenderOptions): string[] {
  const asked = targets.some(({ store }) => store !== null) ? 'model files' : 'the files below';
  const rows: [string, number | null][] = [
    [asked, machine.modelFiles],
    [machine.modelFiles === null ? 'files' : 'other files, block devices', machine.otherFiles],
    ['shared memory, tmpfs', machine.shmem],
    ['reclaimable slab', machine.slabReclaimable],
    ['page cache and slab', machine.total],
  ];
  const cells = rows
    .filter(([, bytes]) => bytes !== null)
    .map(([label, bytes]) => [label, inGiB(bytes), inGB(bytes), share(bytes ?? 0, machine.total)]);
  const right = { align: 'right' } as const;
  const [heading = '', ...lines] = table(
    [{ align: 'left' }, right, right, right],
    [['', 'GiB', 'GB', '%'], ...cells],
    width,
  );
  const waiting = `of it dirty ${formatBytes(machine.dirty)}, being written ${formatBytes(machine.writeback)}`;
  return [paint('heading', heading), ...lines, paint('dim', waiting)];
}

function targetLines(target: CacheTarget, { paint, width }: RenderOptions): string[] {
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
  // What is not shown is neither cached nor not: it is left out of the share.
  const shown = bytes - unseenBytes;
  const parts = [
    unseenFiles === files && files > 0
      ? `not known how much of ${formatBytes(bytes)} is cached`
      : `${formatBoth(cachedBytes)} of ${formatBytes(shown)} cached${shown > 0 ? `, ${cachedShare(cachedBytes, shown)} %` : ''}`,
    `${formatCount(files)} ${files === 1 ? 'file' : 'files'}`,
    mappedBytes > 0 ? `${formatBytes(mappedBytes)} mapped` : null,
    (dirtyBytes ?? 0) > 0 ? `${formatBytes(dirtyBytes)} dirty` : null,
    memoryBytes > 0 ? `${formatBytes(memoryBytes)} on tmpfs, which is memory` : null,
    unseenFiles > 0 ? `${formatCount(unseenFiles)} not shown to you` : null,
    special > 0 ? `${formatCount(special)} special` : null,
    links > 0 ? `${formatCount(links)} links` : null,
  ];
  const words = parts.filter((part) => part !== null).join(', ');
  return [
    paint('strong', truncate(name + clean(target.path), width)),
    ...hanging('  ', words, width),
    ...problemLines(target, width),
  ];
}

/** Whole pages are cached, so that a small file has more in cache than it is long. */
function cachedShare(cached: number, bytes: number): string {
  return share(cached, Math.max(bytes, cached));
}

const SHOWN_PROBLEMS = 5;

export function problemLines({ problems, problemCount }: CacheTarget, width: number): string[] {
  const lines = problems
    .slice(0, SHOWN_PROBLEMS)
    .flatMap(({ path, reason }) => hanging('  not looked at  ', `${clean(path)}: ${clean(reason)}`, width));
  const more = problemCount - Math.min(problems.length, SHOWN_PROBLEMS);
  return more > 0 ? [...lines, `  and ${formatCount(more)} more; --json lists up to 100`] : lines;
}

function fileTable(files: readonly CachedFile[], { paint, width }: RenderOptions): string[] {
  if (files.length === 0) return [];
  const right = { align: 'right' } as const;
  const rows = files.map(({ bytes, cachedBytes, dirtyBytes, mappedBy, path }) => [
    formatBytes(cachedBytes),
    cachedBytes === null ? '' : `${cachedShare(cachedBytes, bytes)} %`,
    (dirtyBytes ?? 0) > 0 ? formatBytes(dirtyBytes) : '',
    truncate(mappedBy.map(({ name, pid }) => `${clean(name ?? 'pid')} (${pid})`).join(', '), 24),
    tail(clean(path), width),
  ]);
  const [heading = '', ...lines] = table(
    [right, right, right, { align: 'left' }, { align: 'left', flexible: true }],
    [['cached', '', 'dirty', 'mapped by', 'file'], ...rows],
    width,
  );
  return [paint('heading', heading), ...lines, ''];
}

/** Columns that the others of the table take. */
const OTHER_COLUMNS = 52;
const LEAST_PATH = 24;

function tail(path: string, width: number): string {
  return truncateStart(path, Math.max(LEAST_PATH, width - OTHER_COLUMNS));
}
