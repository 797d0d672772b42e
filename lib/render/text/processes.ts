/** Who holds GPU memory. The only attribution there is on a unified machine; not part of RSS. */
import { formatCount, inGB, inGiB } from '../../base/format.ts';
import type { DeviceSnapshot, GpuProcess, Snapshot } from '../../types/index.ts';
import type { Look } from '../options.ts';
import { clean, table, truncate } from '../text-layout.ts';
import { shortReason } from './reason.ts';

const SHOWN = 8;

export function processes(snapshot: Snapshot, look: Look): string[] {
  return snapshot.devices.flatMap((device) => {
    const whose = snapshot.devices.length === 1 ? '' : ` on GPU ${device.index}`;
    const title = `Processes holding GPU memory${whose}`;
    if (device.processes === null)
      return [`${look.paint('heading', title)}: unknown (${shortReason(device.from.processes)})`];
    if (device.processes.length === 0) return [`${look.paint('heading', title)}: none`];
    return [look.paint('heading', title), ...rows(device.processes, device, look)];
  });
}

function rows(all: readonly GpuProcess[], device: DeviceSnapshot, look: Look): string[] {
  const sorted = [...all].sort((a, b) => (b.gpuBytes ?? -1) - (a.gpuBytes ?? -1));
  const cells = sorted
    .slice(0, SHOWN)
    .map(({ pid, name, gpuBytes }) => [
      String(pid),
      name === null ? '(name unknown)' : truncate(clean(name), 32),
      ...(look.exact ? [`${formatCount(gpuBytes)} B`] : [`${inGiB(gpuBytes)} GiB`, `${inGB(gpuBytes)} GB`]),
    ]);
  const lines = table(
    [{ align: 'right' }, { align: 'left' }, { align: 'right' }, { align: 'right' }],
    cells,
    look.width,
  );
  const hidden = sorted.length - SHOWN;
  if (hidden > 0)
    lines.push(
      look.paint(
        'dim',
        `and ${hidden} more: umaprobe snapshot --json has all ${sorted.length} of device ${device.index}`,
      ),
    );
  return lines;
}
