/** Why a counter of /proc/meminfo is null, from the text alone. That the binary agrees: test/sim/native/host.test.ts. */
import { describe, expect, it } from 'vitest';
import { Provenance } from '../../../lib/base/facts.ts';
import { HOST_MEMORY_FIELDS } from '../../../lib/host/meminfo.ts';
import { MEMINFO_KEYS, NO_SUCH_LINE, recordMissingLines, whyNull } from '../../../lib/host/meminfo-lines.ts';
import { kernelFilesOf } from '../../support/kernel-files.ts';
import { ODD_LINES } from '../../support/odd-meminfo.ts';
import { hostOf } from '../../support/snapshots.ts';

describe('the reason of a missing counter', () => {
  it.each(ODD_LINES)('$title', ({ text, field, why }) => {
    expect(whyNull(text, field)).toBe(why);
  });

  it('names every counter as the kernel does', () => {
    expect(Object.keys(MEMINFO_KEYS)).toEqual([...HOST_MEMORY_FIELDS]);
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

  it('reads the file once for lines that this kernel does not have', async () => {
    const { record, reads } = machine('MemTotal: 9 kB\n');
    for (let i = 0; i < 3; i++) expect(await record({ zswap: null })).toMatchObject({ 'host.zswap': NO_SUCH_LINE });
    expect(reads()).toBe(1);
  });

  it('reads it again for a line that is there and cannot be read', async () => {
    const { record, reads } = machine('MemTotal: 9 kB\nCached: 7 MB\n');
    for (let i = 0; i < 2; i++)
      expect((await record({ cached: null, zswap: null }))['host.cached']).toBe(
        '/proc/meminfo, Cached: the line has the unit MB, expected kB',
      );
    expect(reads()).toBe(2);
    expect(await record({})).toEqual({ host: '/proc/meminfo' });
    expect(reads()).toBe(2);
  });
});
