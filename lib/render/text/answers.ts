/** The two answers: what an allocation can have now, and what once the kernel has given back what it can. */

import { inGB, inGiB, UNKNOWN } from '../../base/format.ts';
import { cmaPhantom } from '../../memory/allocatable.ts';
import type { Allocatable, DeviceSnapshot, HostMemory, Snapshot } from '../../types/index.ts';
import { amount, type Look } from '../options.ts';
import { clean, table, truncate } from '../text-layout.ts';

export function answers(snapshot: Snapshot, look: Look): string[] {
  const { devices, host } = snapshot;
  if (devices.length === 0) {
    return pair({ immediate: host.free, afterReclaim: host.available }, [NOW, 'for programs; there is no GPU'], look);
  }
  return devices.flatMap((device) => {
    const lines = pair(device.allocatable, meanings(device, host, look), look);
    return devices.length === 1
      ? lines
      : [look.paint('dim', truncate(`GPU ${device.index} ${clean(device.name ?? '')}`, look.width)), ...lines];
  });
}

const NOW = 'nobody has to give anything back';

/** What the two numbers mean on this kind of device. */
function meanings({ memoryModel }: DeviceSnapshot, host: HostMemory, look: Look): [string, string] {
  if (memoryModel === 'coherent') return [NOW, "page cache on the GPU's node is not counted"];
  if (memoryModel === 'unknown')
    return ['as far as the libraries tell', "whether the GPU shares the host's memory is not known"];
  if (memoryModel !== 'unified') return [NOW, 'the same: this GPU has no page cache'];
  const phantom = cmaPhantom(host);
  return [
    phantom === 0 ? NOW : `without ${amount(phantom, look)} that cannot be pinned`,
    'with clean page cache given back',
  ];
}

function pair({ immediate, afterReclaim }: Allocatable, [now, reclaim]: [string, string], look: Look): string[] {
  const row = (name: string, bytes: number | null, means: string): string[] => [
    look.paint('strong', name),
    look.paint('strong', bytes === null ? UNKNOWN : look.exact ? amount(bytes, look) : `${inGiB(bytes)} GiB`),
    bytes === null || look.exact ? '' : `${inGB(bytes)} GB`,
    means,
  ];
  return table(
    [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'left', flexible: true }],
    [row('FREE RIGHT NOW', immediate, now), row('AFTER RECLAIM', afterReclaim, reclaim)],
    look.width,
  );
}
