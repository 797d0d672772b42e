import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseRollup,
  parseStatus,
  parseSysvSegments,
  parseTmpfsMounts,
  parseTmpfsSize,
} from '../../../../lib/core/host/process-status.ts';
import { mutatedTexts } from '../../../support/mutated-texts.ts';

const status = `Name:\tpt_data\\\\work
Umask:\t0022
State:\tS (sleeping)
Tgid:\t4711
Pid:\t4711
PPid:\t4700
Uid:\t1000\t1001\t1000\t1000
VmPeak:\t  900000 kB
VmLck:\t      64 kB
VmHWM:\t    3000 kB
VmRSS:\t    2048 kB
RssAnon:\t    1024 kB
RssFile:\t     768 kB
RssShmem:\t     256 kB
VmSwap:\t      16 kB
Threads:\t1
`;

describe('parseStatus', () => {
  it('reads a status', () => {
    expect(parseStatus(status)).toEqual({
      name: 'pt_data\\work',
      parentPid: 4700,
      uid: 1000,
      rss: 2048 * 1024,
      anonymous: 1024 * 1024,
      file: 768 * 1024,
      shared: 256 * 1024,
      swap: 16 * 1024,
      locked: 64 * 1024,
      peakRss: 3000 * 1024,
    });
  });
  it('a kernel thread has no memory', () => expect(parseStatus(status.replace(/^Vm.*\n/gm, ''))).toBeNull());
  it('a line that is missing is null, and never 0', () =>
    expect(parseStatus(status.replace(/^RssAnon.*\n/m, ''))?.anonymous).toBeNull());
  it.each(['RssAnon:\t1024 MB', 'RssAnon:\t-1 kB', 'RssAnon:\t1e3 kB', `RssAnon:\t${'9'.repeat(400)} kB`])(
    '%j is no size',
    (line) => expect(parseStatus(status.replace(/^RssAnon.*$/m, line))?.anonymous).toBeNull(),
  );
  it('a name cannot pass for another line', () => {
    expect(parseStatus(status.replace('Name:\tpt_data', 'Name:\tVmRSS:\\n 1 kB'))?.rss).toBe(2048 * 1024);
  });
  it('any text gives null or whole numbers', () =>
    fc.assert(
      fc.property(fc.string(), (text) => {
        const facts = parseStatus(`${text}\n${status}`);
        expect(facts === null || Number.isSafeInteger(facts.rss)).toBe(true);
      }),
    ));
});

describe('parseRollup', () => {
  const rollup = `55d0-7fff ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nPss: 100 kB\nPss_Dirty: 4 kB\nPss_Anon: 60 kB\nPss_File: 30 kB\nPss_Shmem: 10 kB\nLocked: 8 kB\n`;
  it('reads the parts of Pss', () => {
    const [total, anonymous, file, shared, locked] = [100, 60, 30, 10, 8].map((kB) => kB * 1024);
    expect(parseRollup(rollup)).toEqual({ total, anonymous, file, shared, locked });
  });
  it('a kernel that does not split Pss, and a process without memory, give null', () => {
    expect(parseRollup(rollup.replace(/^Pss_Anon.*\n/m, ''))).toBeNull();
    expect(parseRollup('')).toBeNull();
  });
});

describe('parseTmpfsMounts', () => {
  it('lists each tmpfs once, with spaces as they are', () => {
    const lines = [
      '24 1 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw',
      '25 1 0:23 / /run/user\\0401000 rw shared:5 master:1 - tmpfs tmpfs rw',
      '26 1 0:22 / /mnt/again rw - tmpfs tmpfs rw',
      '27 1 0:22 /sub /mnt/part rw - tmpfs tmpfs rw',
      '28 1 259:1 / / rw - ext4 /dev/nvme0n1 rw',
      '29 1 0:24 /sub /mnt/only-a-part rw - tmpfs tmpfs rw',
      'nonsense',
    ];
    expect(parseTmpfsMounts(lines.join('\n'))).toEqual(['/dev/shm', '/run/user 1000']);
  });
});

describe('parseSysvSegments', () => {
  const heading =
    '       key      shmid perms                  size  cpid  lpid nattch   uid                   rss                  swap';
  it('sums what is resident', () => {
    const line = (rss: number) => `0 1 600 4194304 10 20 2 0 ${rss} 0`;
    expect(parseSysvSegments(`${heading}\n`)).toBe(0);
    const short = heading.replace(/\s+uid/, ' uid');
    expect(parseSysvSegments(`${short}\n${line(4096)}\n${line(8192)}\n`)).toBe(12_288);
  });
  it('another format is null', () => {
    expect(parseSysvSegments('')).toBeNull();
    expect(parseSysvSegments(`${heading}\n1 2 3\n`)).toBeNull();
  });
});

describe('parseTmpfsSize', () => {
  const mount = (point: string, rest: string) => `28 25 0:24 / ${point} rw,nosuid,nodev shared:4 - ${rest}\n`;
  it.each([
    ['of a container', mount('/dev/shm', 'tmpfs shm rw,size=65536k,inode64'), 64 * 1024 ** 2],
    ['alone', mount('/dev/shm', 'tmpfs shm size=1024k'), 1024 ** 2],
    ['by default', mount('/dev/shm', 'tmpfs tmpfs rw,inode64'), 'half'],
    ['unlimited', mount('/dev/shm', 'tmpfs tmpfs rw,size=0k'), 0],
    ['elsewhere', mount('/dev', 'tmpfs tmpfs rw,size=65536k') + mount('/dev/shm/x', 'tmpfs tmpfs rw,size=1k'), null],
    ['in another file system', mount('/dev/shm', 'ext4 /dev/sda rw,size=1k'), null],
    ['hidden by a later one', mount('/dev/shm', 'tmpfs a rw,size=1k') + mount('/dev/shm', 'tmpfs b rw'), 'half'],
    ['a number like it', mount('/dev/shm', 'tmpfs a rw,nr_inodes_size=1k'), 'half'],
    ['no text', '', null],
    ['odd lines', ' - \n-\n/dev/shm - tmpfs\n', null],
  ])('%s', (_, text, size) => expect(parseTmpfsSize(text, '/dev/shm')).toBe(size));

  it('is missing, half or an exact number, whatever the text is', () => {
    const usual = mount('/dev/shm', 'tmpfs shm rw,size=65536k') + mount('/tmp', 'tmpfs tmpfs rw,size=4k');
    fc.assert(
      fc.property(mutatedTexts([usual]), (text) => {
        const size = parseTmpfsSize(text, '/dev/shm');
        expect(size === null || size === 'half' || (Number.isSafeInteger(size) && size >= 0)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
