/** Why a counter of /proc/meminfo is null, from the text alone. That the binary agrees: test/sim/core/native/host.test.ts. */
import { describe, expect, it } from 'vitest';
import { Provenance } from '../../../../lib/base/facts.ts';
import { recordMissingLines, whyNull } from '../../../../lib/core/host/meminfo-lines.ts';
import { kernelFilesOf } from '../../../support/kernel-files.ts';
import { ODD_LINES } from '../../../support/odd-meminfo.ts';
import { hostOf } from '../../../support/snapshots.ts';

describe('the reason of a missing counter', () => {
  it.each(ODD_LINES)('$title', ({ text, field, why }) => {
    expect(whyNull(text, field)).toBe(why);
  });

  it('never prints what a terminal would obey', () => {
    expect(whyNull('MemTotal: 9 kB\nMemFree: \x1b[2J\u202e kB\n', 'free')).toBe(
      '/proc/meminfo, MemFree: the line has "?[2J? kB", expected a number of kB',
    );
  });
});

describe('recording the reasons', () => {
  function machine(text: string) {
    let reads = 0;
    const files = kernelFilesOf(() => {
      reads++;
      return [text];
    });
    const record = async (host: Parameters<typeof hostOf>[0]) => {
      const provenance = new Provenance();
      await recordMissingLines(files, hostOf(host), provenance);
      return provenance.sources;
    };
    return { record, reads: () => reads };
  }

  it('reads the file once within a second, and not for a reading that is complete', async () => {
    const { record, reads } = machine('MemTotal: 9 kB\nCached: 7 MB\n');
    for (let i = 0; i < 3; i++)
      expect(await record({ cached: null, zswap: null })).toMatchObject({
        'host.cached': '/proc/meminfo, Cached: the line has the unit MB, expected kB',
        'host.zswap': 'this kernel’s /proc/meminfo has no such line',
      });
    expect(reads()).toBe(1);
    expect(await record({})).toEqual({ host: '/proc/meminfo' });
    expect(reads()).toBe(1);
  });
});
