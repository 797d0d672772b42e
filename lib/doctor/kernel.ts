/** Checks of the kernel's settings and state: watermarks, contiguity, pressure. */

import { capitalized, formatBytes, formatPercent } from '../base/format.ts';
import { type GateReading, gateText, meetsGate, readGate } from '../memory/contiguity.ts';
import { unifiedDevice, unknownGpuMemory } from '../memory/headroom.ts';
import { judgePressure } from '../memory/pressure.ts';
import { DROP_AND_COMPACT, withReceipt } from '../memory/remedies.ts';
import { silentFiles } from '../memory/unreadable.ts';
import { ownMinFreeKib, raisedMinFree, setMinFree } from '../memory/watermarks.ts';
import type { Finding, Snapshot } from '../types/index.ts';
import { type Check, finding, pass, skip, warn } from './check.ts';

export const kernelChecks: readonly Check[] = [
  {
    id: 'kernel.files',
    title: 'Files of the kernel',
    needs: [],
    run({ snapshot }) {
      const verdict = silentFiles(snapshot);
      if (verdict === null)
        return pass('Every file that is read answers.', 'files of /proc and /sys, read within a limit');
      return finding(verdict, 'no answer within the limit of the reading');
    },
  },
  {
    id: 'watermarks',
    title: 'Memory reserved by the kernel',
    needs: [],
    run({ snapshot }) {
      const { minFree, watermarkBoostFactor, watermarkScaleFactor } = snapshot.kernel;
      if (minFree === null)
        return skip('The settings cannot be read.', snapshot.from['kernel.minFree'] ?? '/proc/sys/vm');
      const evidence = `min_free ${formatBytes(minFree)}, watermark_scale_factor ${watermarkScaleFactor ?? 'unknown'}, watermark_boost_factor ${watermarkBoostFactor ?? 'unknown'}`;
      const raised = raisedMinFree(snapshot);
      if (raised !== null) {
        // 4 GiB with boost were 15 GiB for a while.
        const boost =
          (watermarkBoostFactor ?? 0) > 0 ? '; watermark_boost_factor can make it several times that for a while' : '';
        return warn(
          `min_free_kbytes is raised: MemAvailable is lower by about ${formatBytes(raised.lowers)}, and programs that check it may refuse to start${boost}.`,
          evidence,
          resetMinFree(snapshot),
        );
      }
      return pass('The kernel reserves little.', evidence);
    },
  },
  {
    id: 'contiguity',
    title: 'Large free blocks for a launch',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { contiguity } = snapshot;
      if (contiguity === null)
        return skip('The free blocks cannot be read.', snapshot.from.contiguity ?? '/proc/buddyinfo');
      if (unifiedDevice(snapshot) === undefined)
        return skip('Only a GPU that shares the host’s memory needs large blocks.', 'no unified device');
      const reading = readGate(snapshot, contiguity);
      if (reading.small)
        return skip(
          'The gate is for machines that can hold large models.',
          `${formatBytes(snapshot.ledger.total)} in total`,
        );
      return gateFinding(snapshot, reading);
    },
  },
  {
    id: 'pressure',
    title: 'Time lost to waiting for memory',
    needs: [],
    run({ snapshot }) {
      const { pressure, kernel } = snapshot;
      const { level, next, state, text, why } = judgePressure(snapshot);
      if (pressure === null)
        return skip(
          `${capitalized(text)}: ${why}.`,
          snapshot.from.pressure ?? '/proc/pressure/memory',
          next === null ? null : `${capitalized(next)}.`,
        );
      const { some, full } = pressure;
      const evidence =
        `some ${formatPercent(some.avg10)} / ${formatPercent(some.avg60)} / ${formatPercent(some.avg300)}, ` +
        `full ${formatPercent(full.avg10)} / ${formatPercent(full.avg60)} / ${formatPercent(full.avg300)} (10 s / 60 s / 300 s), OOM kills since boot ${kernel.oomKill ?? 'unknown'}`;
      if (state !== 'none') return finding({ level, text: `${capitalized(text)}.`, next }, evidence);
      return pass('No task waits for memory.', evidence);
    },
  },
];

/**
 * Advice for resetting min_free_kbytes to the kernel's own choice (mm/page_alloc.c, calculate_min_free_kbytes): the
 * square root of 16 × the kB of low memory, from 128 to 262144. With transparent huge pages khugepaged raises it by the
 * size of a pageblock, which is 2 MiB with 4 KiB pages, but up to 512 MiB with larger ones: there no command is
 * suggested.
 */
function resetMinFree(snapshot: Snapshot): string {
  const range =
    'the kernel’s own choice is 128 kB to 256 MiB by the size of memory, and more with transparent huge pages';
  const own = ownMinFreeKib(snapshot);
  if (own === null)
    return `Set it back after the launch (${range}): remove it from sysctl.conf and sysctl.d; it is reset at the next boot.`;
  return `Set it back after the launch, to about the kernel’s choice for this machine (${range}): ${setMinFree(own)}`;
}

function gateFinding(snapshot: Snapshot, reading: GateReading): Finding {
  const { available, cacheInTheWay, loaded, needAvailable } = reading;
  const evidence =
    `${gateText(reading)}; ` +
    `compaction failed ${snapshot.kernel.compactFail ?? 'unknown'} of ${snapshot.kernel.compactStall ?? 'unknown'} times`;
  if (loaded !== null)
    return skip(
      `GPU processes hold ${unknownGpuMemory(snapshot) === null ? '' : 'up to '}${formatBytes(loaded)}: the gate is for an idle machine.`,
      evidence,
    );
  if (available !== null && available < needAvailable) {
    return warn(
      'Too little is available for a launch of a large model.',
      evidence,
      'See which programs hold it: umaprobe snapshot',
    );
  }
  if (meetsGate(reading)) return pass('Ready for a large launch.', evidence);
  return warn(
    cacheInTheWay
      ? 'Most of the available memory is page cache, so there are few large free blocks yet; a launch has to create them first.'
      : 'Free memory is fragmented: a launch may stall for minutes or fail.',
    evidence,
    `${withReceipt(DROP_AND_COMPACT)}; check again; if there are still too few, reboot.`,
  );
}
