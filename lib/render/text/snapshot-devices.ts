/** NVIDIA's libraries: which were opened, and why one was not. */

import { clean, formatCount, inGB, inGiB } from '../../base/format.ts';
import type { DeviceSnapshot, GpuProcess, LibraryStatus, Snapshot } from '../../types/index.ts';
import { amount, dot, meter, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { joinThatFits, padEnd, table, truncate } from '../text-layout.ts';

const STYLES: Readonly<Record<LibraryStatus['state'], Style>> = {
  loaded: 'ok',
  missing: 'dim',
  unusable: 'warning',
  timeout: 'danger',
};

export function libraries(snapshot: Snapshot, options: RenderOptions): string[] {
  const { cuda, nvml } = snapshot.libraries;
  const simulated = snapshot.simulated !== null;
  return [line('CUDA', cuda, simulated, options), line('NVML', nvml, simulated, options)];
}

function line(name: string, status: LibraryStatus, simulated: boolean, options: RenderOptions): string {
  const room = options.width - 12 - status.state.length;
  const reason = why(status);
  const words = reason === null ? joinThatFits(facts(status, simulated), dot(options), room) : truncate(reason, room);
  return `${padEnd(name, 10)}${options.paint(STYLES[status.state], status.state)}  ${words}`;
}

function facts({ version, driverVersion, path }: LibraryStatus, simulated: boolean): string[] {
  // On a simulated machine the path is the simulator's, whatever library is meant.
  const parts = [version, driverVersion === null ? null : `driver ${driverVersion}`, simulated ? null : path];
  return parts.filter((part) => part !== null).map(clean);
}

function why({ state, reason }: LibraryStatus): string | null {
  // A loader's message has a line for each path.
  if (state === 'missing') return 'not installed; --json has every path that was tried';
  return reason === null ? null : withoutCode(reason);
}

export function ownMemory(snapshot: Snapshot, options: RenderOptions): string[] {
  return snapshot.devices.flatMap((device) => {
    const memory = used(device);
    if (memory === null) return [];
    const words = `${amount(memory.used, options)} of ${amount(memory.total, options)} used`;
    const label = padEnd(`GPU ${device.index} memory`, 14);
    const cells = Math.max(10, options.width - label.length - words.length - 4);
    return [`${label}${meter(memory.used, memory.total, cells, 'gpu', options)}  ${words}`];
  });
}

function used({ memoryModel, nvml, cuda }: DeviceSnapshot): { used: number; total: number } | null {
  if (memoryModel === 'unified') return null;
  if (nvml !== null) return { used: nvml.total - nvml.free, total: nvml.total };
  return cuda === null ? null : { used: cuda.total - cuda.free, total: cuda.total };
}

const SHOWN = 8;

export function processes(snapshot: Snapshot, options: RenderOptions): string[] {
  return snapshot.devices.flatMap((device) => {
    const whose = snapshot.devices.length === 1 ? '' : ` on GPU ${device.index}`;
    const title = `Processes holding GPU memory${whose}`;
    if (device.processes === null)
      return [`${options.paint('heading', title)}: unknown (${shortReason(device.from.processes)})`];
    if (device.processes.length === 0) return [`${options.paint('heading', title)}: none`];
    return [options.paint('heading', title), ...rows(device.processes, device, options)];
  });
}

function rows(all: readonly GpuProcess[], device: DeviceSnapshot, options: RenderOptions): string[] {
  const sorted = [...all].sort((a, b) => (b.gpuBytes ?? -1) - (a.gpuBytes ?? -1));
  const cells = sorted
    .slice(0, SHOWN)
    .map(({ pid, name, gpuBytes }) => [
      String(pid),
      name === null ? '(name unknown)' : truncate(clean(name), 32),
      ...(options.exact ? [`${formatCount(gpuBytes)} B`] : [`${inGiB(gpuBytes)} GiB`, `${inGB(gpuBytes)} GB`]),
    ]);
  const lines = table(
    [{ align: 'right' }, { align: 'left' }, { align: 'right' }, { align: 'right' }],
    cells,
    options.width,
  );
  const hidden = sorted.length - SHOWN;
  if (hidden > 0)
    lines.push(
      options.paint(
        'dim',
        `and ${hidden} more: umaprobe snapshot --json has all ${sorted.length} of device ${device.index}`,
      ),
    );
  return lines;
}

const SHORT: readonly (readonly [RegExp, string])[] = [
  [/\bTIMEOUT\b/, 'no answer in time'],
  [/\bNOT_SUPPORTED\b/, 'not supported'],
  [/\bLIBRARY_MISSING\b/, 'library not installed'],
  [/\bPERMISSION\b/, 'no permission'],
];

export function shortReason(reason: string | undefined): string {
  if (reason === undefined || reason === '') return 'not read';
  const known = SHORT.find(([pattern]) => pattern.test(reason));
  return known === undefined ? withoutCode(reason) : known[1];
}

/** The code is for scripts. */
export function withoutCode(reason: string): string {
  return clean(reason.replaceAll(/ERR_UMA_[A-Z_]+: /g, ''));
}
