/** Rows about the kernel's settings: CMA, huge pages, watermarks. */

import { formatBytes } from '../../../base/format.ts';
import type { Reading, Remedy } from '../../../types/index.ts';
import { cmaPhantom } from '../cma.ts';
import { unifiedDevice } from '../headroom.ts';
import { BOOT_WITHOUT_KHO, RELEASE_ALL_HUGE_PAGES, RELEASE_HUGE_PAGES, SHOW_HUGE_PAGES } from '../remedies.ts';
import { hostFacts, safeOnHost } from '../safe.ts';
import { ownMinFreeKib, raisedMinFree, setMinFree } from '../watermarks.ts';
import {
  advice,
  applies,
  bytes,
  command,
  count,
  HOG_SHARE,
  meminfo,
  passed,
  type Row,
  takes,
  text,
  unknown,
} from './row.ts';

/**
 * Kernel 7.0.0 with kexec-handover: 9.30 GiB of "free" that ibv_reg_mr and cudaMalloc cannot pin (NV-Kernels PR 590).
 */
export const phantom: Row = {
  needs: [],
  judge({ snapshot }) {
    const { from, host, kernel } = snapshot;
    const evidence = () => [
      ...meminfo(snapshot, 'cmaFree', 'cmaTotal'),
      ...text('kernel', kernel.release, '/proc/sys/kernel/osrelease'),
    ];
    if (host.cmaFree === null)
      return unknown(`this kernel does not report CmaFree${because(from['host.cmaFree'])}`, evidence);
    const amount = cmaPhantom(host);
    if (amount === 0) return passed('CmaFree does not exceed CmaTotal.', evidence);
    return applies({
      severity: 'warning',
      bytes: amount,
      summary: `${formatBytes(amount)} of the free memory cannot hold GPU memory or RDMA buffers.`,
      cause: 'kexec-handover left them as CMA, which takes movable pages only.',
      effect: takes(amount),
      evidence,
      remedy: advice(`${BOOT_WITHOUT_KHO} on the kernel command line (needed on kernel 7.0.0)`, {
        needsRoot: true,
        gains: amount,
      }),
    });
  },
};

const because = (why: string | undefined): string => (why === undefined ? '' : ` (${why})`);

function releaseHugePages({ host: { hugePagesFree, hugePageSize } }: Reading, otherSizes: boolean): Remedy {
  const root = { needsRoot: true };
  if (otherSizes)
    return command(
      `see which are free (${SHOW_HUGE_PAGES}), and release them if nothing needs them`,
      RELEASE_ALL_HUGE_PAGES,
      root,
    );
  if (hugePagesFree === 0) return advice('stop the program that uses these pages, then release them');
  const gains = hugePagesFree === null || hugePageSize === null ? null : hugePagesFree * hugePageSize;
  return command('release the huge pages if nothing needs them', RELEASE_HUGE_PAGES, { ...root, gains });
}

/** NVIDIA's rule and llama.cpp count free huge pages only, as soon as one is reserved. */
export const hugePages: Row = {
  needs: ['cuda'],
  judge({ snapshot }) {
    const { hugePageSize, hugePagesTotal, hugetlb, total } = snapshot.host;
    const evidence = () => meminfo(snapshot, 'hugePagesTotal', 'hugePagesFree', 'hugePageSize', 'hugetlb');
    if (hugePagesTotal === null && hugetlb === null)
      return unknown(`this kernel has no huge pages${because(snapshot.from['host.hugePagesTotal'])}`, evidence);
    const ofDefaultSize = (hugePagesTotal ?? 0) * (hugePageSize ?? 0);
    const reserved = hugetlb ?? ofDefaultSize;
    const otherSizes = Math.max(0, reserved - ofDefaultSize);
    if (reserved === 0) return passed('No huge pages are reserved.', evidence);
    // Other page sizes (1 GiB) have only their sum in meminfo, and the tools count none of them.
    const device = unifiedDevice(snapshot);
    const misleads = device?.views;
    const views = (hugePagesTotal ?? 0) > 0 ? misleads : undefined;
    // This range is computed also while another finding refuses.
    const { low = null, high = null } = device === undefined ? {} : safeOnHost(hostFacts(snapshot, device));
    if (misleads === undefined && reserved < total * HOG_SHARE)
      return passed('Few huge pages are reserved; programs have that much less memory.', evidence);
    return applies({
      severity: misleads === undefined ? 'notice' : 'warning',
      bytes: reserved,
      summary:
        views === undefined
          ? `${formatBytes(reserved)} are reserved as huge pages${otherSizes === 0 ? '' : `, ${formatBytes(otherSizes)} of them of other sizes than ${formatBytes(hugePageSize)}`}: programs that do not ask for such pages, and GPUs, have that much less.`
          : `Huge pages are reserved, so NVIDIA's guidance answers ${formatBytes(views.nvidiaGuidance)} and llama.cpp ${formatBytes(views.llamaCpp)}, while there is room for ${formatBytes(low ?? high)}.`,
      cause: 'GPU memory never comes from huge pages.',
      effect: takes(reserved),
      evidence,
      remedy: releaseHugePages(snapshot, otherSizes > 0),
    });
  },
};

/** min_free_kbytes that was raised by hand: 4 GiB lowered MemAvailable by 6.2 GiB, and with boost by 15 for a while. */
export const watermarks: Row = {
  needs: [],
  judge({ snapshot }) {
    const { from, kernel } = snapshot;
    const { minFree, watermarkBoostFactor } = kernel;
    if (minFree === null) return unknown(`min_free_kbytes cannot be read${because(from['kernel.minFree'])}`);
    const evidence = () => [
      bytes('min_free_kbytes', minFree, from['kernel.minFree'] ?? '/proc/sys/vm/min_free_kbytes'),
      ...count('watermark_scale_factor', kernel.watermarkScaleFactor, '/proc/sys/vm/watermark_scale_factor'),
      ...count('watermark_boost_factor', watermarkBoostFactor, '/proc/sys/vm/watermark_boost_factor'),
      ...meminfo(snapshot, 'available', 'free'),
    ];
    const raised = raisedMinFree(snapshot);
    if (raised === null) return passed('The kernel reserves little.', evidence);
    const boost =
      (watermarkBoostFactor ?? 0) > 0 ? ', and watermark_boost_factor makes it several times that for a while' : '';
    const own = ownMinFreeKib(snapshot);
    const gains = { needsRoot: true, gains: raised.lowers };
    return applies({
      severity: 'warning',
      bytes: raised.lowers,
      summary: `min_free_kbytes is raised: MemAvailable is lower by about ${formatBytes(raised.lowers)}${boost}, and programs that check it may refuse to start.`,
      effect: takes(raised.lowers),
      evidence,
      remedy:
        own === null
          ? advice('set it back: remove it from sysctl.conf and sysctl.d', gains)
          : command('set it back to about the kernel’s own choice for this machine', setMinFree(own), gains),
    });
  },
};
