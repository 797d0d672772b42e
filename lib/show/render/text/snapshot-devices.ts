/** The GPUs of a snapshot: their dedicated memory, the processes that hold it, and NVIDIA's libraries. */
import { clean, formatCount, GiB, inGB, inGiB } from '../../../base/format.ts';
import type { DeviceSnapshot, GpuProcess, LibraryStatus, Snapshot } from '../../../types/index.ts';
import { amount, dot, meter, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, joinThatFits, padEnd, table, truncate } from '../text-layout.ts';

/** A shorter bar says nothing. */
const MIN_CELLS = 10;

/** A bar for each GPU that has memory of its own. */
export function dedicatedMemoryBars(snapshot: Snapshot, options: RenderOptions): string[] {
  return snapshot.devices.flatMap((device) => {
    const memory = usedOf(device);
    if (memory === null) return [];
    const text = `${amount(memory.used, options)} of ${amount(memory.total, options)} used`;
    const label = padEnd(`GPU ${device.index} memory`, 14);
    const cells = options.width - label.length - text.length - 4;
    if (cells < MIN_CELLS) return [truncate(`${label}${text}`, options.cut)];
    return [`${label}${meter(memory.used, memory.total, cells, 'gpu', options)}  ${text}`];
  });
}

function usedOf({ memoryModel, nvml, cuda }: DeviceSnapshot): { used: number; total: number } | null {
  if (memoryModel === 'unified') return null;
  if (nvml !== null) return { used: nvml.total - nvml.free, total: nvml.total };
  return cuda === null ? null : { used: cuda.total - cuda.free, total: cuda.total };
}

/** Number of processes listed on each GPU, the largest. */
const SHOWN_PROCESSES = 8;

/** The processes that hold GPU memory, largest first. */
export function processTable(snapshot: Snapshot, options: RenderOptions): string[] {
  return snapshot.devices.flatMap((device) => {
    const onDevice = snapshot.devices.length === 1 ? '' : ` on GPU ${device.index}`;
    const title = options.paint('heading', `Processes holding GPU memory${onDevice}`);
    if (device.processes === null)
      return hanging(`${title}: `, `not known here (${shortReason(device.from.processes)})`, options.width);
    if (device.processes.length === 0) return [`${title}: ${noneOf(device, options)}`];
    return [title, ...processRows(device.processes, device, options), ...missingLines(device, options)];
  });
}

/** Drivers hold less of an idle GPU: 616 MiB on an H200, which NVML counts as reserved. */
const HELD_BY_SOMEONE = GiB;

/** Memory that is in use although no process is listed: of a process that is ending, or that NVML does not list. */
function noneOf({ memoryModel, nvml }: DeviceSnapshot, options: RenderOptions): string {
  if (memoryModel === 'unified' || nvml === null || nvml.used < HELD_BY_SOMEONE) return 'none';
  return `none listed, though ${amount(nvml.used, options)} are in use`;
}

function missingLines({ processesComplete, from }: DeviceSnapshot, { paint, width }: RenderOptions): string[] {
  if (processesComplete !== false) return [];
  return hanging('', `not all is known here: ${clean(from.processesComplete ?? '')}`, width).map((line) =>
    paint('dim', line),
  );
}

function processRows(all: readonly GpuProcess[], { index }: DeviceSnapshot, options: RenderOptions): string[] {
  const sorted = [...all].sort((a, b) => (b.gpuBytes ?? -1) - (a.gpuBytes ?? -1));
  const rows = sorted
    .slice(0, SHOWN_PROCESSES)
    .map(({ pid, name, gpuBytes }) => [
      String(pid),
      name === null ? '(name unknown)' : truncate(clean(name), Math.max(8, Math.min(32, options.cut - 40))),
      ...(options.exact ? [`${formatCount(gpuBytes)} B`] : [`${inGiB(gpuBytes)} GiB`, `${inGB(gpuBytes)} GB`]),
    ]);
  const lines = table(['right', 'left', 'right', 'right'], rows, options.cut);
  const hidden = sorted.length - SHOWN_PROCESSES;
  if (hidden <= 0) return lines;
  const more = `and ${hidden} more; umaprobe snapshot --json lists all ${sorted.length} on GPU ${index}`;
  return [...lines, options.paint('dim', more)];
}

const LIBRARY_STYLES: Readonly<Record<LibraryStatus['state'], Style>> = {
  loaded: 'ok',
  missing: 'dim',
  unusable: 'warning',
  timeout: 'danger',
};

/** Version of CUDA and NVML, or the reason why one could not be loaded. */
export function libraryLines(snapshot: Snapshot, options: RenderOptions): string[] {
  const { cuda, nvml } = snapshot.libraries;
  const simulated = snapshot.simulated !== null;
  return [libraryLine('CUDA', cuda, simulated, options), libraryLine('NVML', nvml, simulated, options)];
}

function libraryLine(name: string, status: LibraryStatus, simulated: boolean, options: RenderOptions): string {
  const room = options.cut - 12 - status.state.length;
  const reason = libraryReason(status);
  const text =
    reason === null ? joinThatFits(libraryFacts(status, simulated), dot(options), room) : truncate(reason, room);
  return `${padEnd(name, 10)}${options.paint(LIBRARY_STYLES[status.state], status.state)}  ${text}`;
}

function libraryFacts({ version, driverVersion, path }: LibraryStatus, simulated: boolean): string[] {
  // Every library of a simulated machine has the simulator's path.
  const parts = [version, driverVersion === null ? null : `driver ${driverVersion}`, simulated ? null : path];
  return parts.filter((part) => part !== null).map(clean);
}

function libraryReason({ state, reason }: LibraryStatus): string | null {
  // A loader's message has a line for each path.
  if (state === 'missing') return 'not installed; --json lists every path that was tried';
  return reason === null ? null : withoutCode(reason);
}

const SHORT_REASONS: readonly (readonly [RegExp, string])[] = [
  [/\bTIMEOUT\b/, 'no answer in time'],
  [/\bGPU_IS_LOST\b/, 'the GPU is lost'],
  [/\bRESET_REQUIRED\b/, 'the GPU must be reset'],
  [/\bNOT_SUPPORTED\b/, 'not supported'],
  [/\bLIBRARY_MISSING\b/, 'library not installed'],
  [/\bPERMISSION\b/, 'no permission'],
];

/** Reason for an unknown value, in a few words. */
export function shortReason(reason: string | undefined): string {
  if (reason === undefined || reason === '') return 'not read';
  const known = SHORT_REASONS.find(([pattern]) => pattern.test(reason));
  return known === undefined ? withoutCode(reason) : known[1];
}

/** Error codes are for scripts. */
function withoutCode(reason: string): string {
  return clean(reason.replaceAll(/ERR_UMA_[A-Z_]+: /g, ''));
}
