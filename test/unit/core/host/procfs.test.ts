import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decimal,
  parseBuddyinfo,
  parseCgroup,
  parseChoice,
  parseDriverParameter,
  parseDriverVersion,
  parseNumber,
  parsePressure,
  parseShrinkerCount,
  parseVmstat,
} from '../../../../lib/core/host/procfs.ts';

describe('decimal', () => {
  it('accepts numbers only, not nvidia-smi’s texts for unknown', () => {
    for (const text of ['[N/A]', 'N/A', '', 'max', '-1', '1e3', '0x10', ' 1', undefined])
      expect(decimal(text)).toBeNull();
    for (const text of ['9'.repeat(400), '9007199254740993']) expect(decimal(text)).toBeNull();
    expect(decimal('0')).toBe(0);
    expect(decimal('0.30')).toBe(0.3);
  });
});

describe('parsePressure', () => {
  const psi = fc.record({
    avg10: fc.integer({ min: 0, max: 10_000 }).map((n) => n / 100),
    avg60: fc.integer({ min: 0, max: 10_000 }).map((n) => n / 100),
    avg300: fc.integer({ min: 0, max: 10_000 }).map((n) => n / 100),
    totalUs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  });
  const line = (name: string, p: { avg10: number; avg60: number; avg300: number; totalUs: number }) =>
    `${name} avg10=${p.avg10.toFixed(2)} avg60=${p.avg60.toFixed(2)} avg300=${p.avg300.toFixed(2)} total=${p.totalUs}\n`;

  it('parses the kernel’s format, as percent', () => {
    fc.assert(
      fc.property(psi, psi, (some, full) => {
        expect(parsePressure(line('some', some) + line('full', full))).toEqual({ some, full });
      }),
    );
  });

  it('is null, not zeros, for anything else', () => {
    for (const text of [
      '',
      'some avg10=0.00',
      'some avg10=a avg60=0 avg300=0 total=0\nfull avg10=0 avg60=0 avg300=0 total=0',
    ]) {
      expect(parsePressure(text)).toBeNull();
    }
    fc.assert(fc.property(fc.string(), (text) => parsePressure(text) === null));
  });
});

describe('parseBuddyinfo', () => {
  it('has as many orders as the file and sums zone Normal over nodes', () => {
    const orders = fc.integer({ min: 1, max: 16 });
    fc.assert(
      fc.property(
        orders.chain((n) =>
          fc.array(fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: n, maxLength: n }), {
            minLength: 1,
            maxLength: 4,
          }),
        ),
        (nodes) => {
          const text = nodes
            .map(
              (counts, node) => `Node ${node}, zone   Normal ${counts.map((c) => String(c).padStart(6)).join(' ')} \n`,
            )
            .join('');
          const dma = 'Node 0, zone      DMA      9      9      9 \n';
          const parsed = parseBuddyinfo(dma + text, 4096);
          expect(parsed?.zone).toBe('Normal');
          expect(parsed?.blocks.map((block) => block.freeBlocks)).toEqual(
            nodes[0]?.map((_, order) => nodes.reduce((sum, counts) => sum + (counts[order] as number), 0)),
          );
          expect(parsed?.blocks.map((block) => block.blockBytes)).toEqual(
            nodes[0]?.map((_, order) => 4096 * 2 ** order),
          );
        },
      ),
    );
  });

  it('keeps orders 11 to 13, which a table of eleven columns would lose (sparkring #173)', () => {
    const parsed = parseBuddyinfo('Node 0, zone   Normal 1 2 3 4 5 6 7 8 9 10 11 12 27 5 \n', 4096);
    expect(parsed?.blocks.at(-2)).toEqual({ order: 12, blockBytes: 16 * 2 ** 20, freeBlocks: 27, movableBlocks: null });
    expect(parsed?.blocks.at(-1)).toEqual({ order: 13, blockBytes: 32 * 2 ** 20, freeBlocks: 5, movableBlocks: null });
  });

  it('is nothing where a row was cut off: its largest blocks would be missing', () => {
    const row = (node: number, counts: string) => `Node ${node}, zone   Normal ${counts} \n`;
    expect(parseBuddyinfo(row(0, '1 2 3 4') + row(1, '1 2 3'), 4096)).toBeNull();
    expect(parseBuddyinfo(row(0, '1 2 3') + row(1, '1 2 3 4'), 4096)).toBeNull();
    expect(parseBuddyinfo(row(0, '1 2 3') + row(1, '1 2 3'), 4096)?.blocks).toHaveLength(3);
  });

  it('sums all zones on a machine without zone Normal, and says so', () => {
    expect(parseBuddyinfo('Node 0, zone    DMA32 1 2\n', 4096)).toEqual({
      zone: 'all',
      blocks: [
        { order: 0, blockBytes: 4096, freeBlocks: 1, movableBlocks: null },
        { order: 1, blockBytes: 8192, freeBlocks: 2, movableBlocks: null },
      ],
    });
    expect(parseBuddyinfo('', 4096)).toBeNull();
  });
});

describe('odd files of the kernel', () => {
  const huge = '9'.repeat(400);
  const row = 'Node 0, zone   Normal 1 2 3 \n';

  it.each([
    ['a count of 400 digits', `Node 0, zone   Normal 1 ${huge} 3 \n`],
    ['counts that sum to more than any memory', `Node 0, zone   Normal 1 2 ${'9'.repeat(15)} \n`],
    ['400 orders', `Node 0, zone   Normal ${'1 '.repeat(400)}\n`],
    ['a line without numbers beside a good one', `${row}Node 1, zone   Normal 1 x 3 \n`],
    ['a negative count', 'Node 0, zone   Normal 1 -2 3 \n'],
    ['NUL in a count', 'Node 0, zone   Normal 1 2\0 3 \n'],
    ['another text', `${row}hello\n`],
    ['a last line that is cut off', `${row}Node 1, zone   Normal 1 2`],
  ])('buddyinfo with %s is null, never a part of the sum', (_, text) => {
    expect(parseBuddyinfo(row, 4096)).not.toBeNull();
    expect(parseBuddyinfo(text, 4096)).toBeNull();
  });

  it('vmstat: a value that is no number makes the counter, or the sum over zones, null', () => {
    const text = `pgscan_direct ${huge}\nallocstall_dma 1\nallocstall_normal 2\0\noom_kill -1\npgmajfault 3`;
    expect(parseVmstat(text, ['pgscan_direct', 'allocstall*', 'oom_kill', 'pgmajfault'])).toEqual([
      null,
      null,
      null,
      3,
    ]);
  });

  it('vmstat: a line without a value is null, and takes none from the next line', () => {
    const text = 'xpgmajfault 1\nallocstall_dma\npgmajfault 3\noom_kill\npgscan_direct 9';
    expect(parseVmstat(text, ['allocstall*', 'pgmajfault', 'oom_kill', 'pgscan_direct'])).toEqual([null, 3, null, 9]);
  });

  it('pressure above 100 % is null', () => {
    const psi = (avg: string) =>
      `some avg10=${avg} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n`;
    expect(parsePressure(psi('100.00'))).not.toBeNull();
    for (const avg of ['100.01', huge, '1.2.3', '-1']) expect(parsePressure(psi(avg))).toBeNull();
  });
});

describe('parseVmstat', () => {
  const text =
    'nr_free_pages 5\nallocstall_dma32 1\nallocstall_normal 2\ncompact_stall 7\noom_kill 0\npgscan_direct 9\npgscan_direct_throttle 4';
  it('finds whole names, sums a prefix, and distinguishes absent from 0', () => {
    expect(
      parseVmstat(text, [
        'nr_free_pages',
        'compact_stall',
        'pgscan_direct',
        'oom_kill',
        'allocstall*',
        'compact_fail',
        'pgscan_direct_throttle',
      ]),
    ).toEqual([5, 7, 9, 0, 3, null, 4]);
  });
});

describe('other parsers', () => {
  it('parseChoice', () => {
    expect(parseChoice('always [madvise] never\n')).toBe('madvise');
    expect(parseChoice('')).toBeNull();
  });

  it('driver version and parameters, also of a driver that has no pools parameter', () => {
    const version =
      'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build  (buildd@host)\nGCC version: gcc 13\n';
    expect(parseDriverVersion(version)).toBe('580.142');
    expect(
      parseDriverVersion('NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x)\n'),
    ).toBe('580.159.04');
    expect(parseDriverVersion('')).toBeNull();
    expect(parseDriverParameter('MemoryPoolSize: 0\nEnableSystemMemoryPools: 529\n', 'EnableSystemMemoryPools')).toBe(
      529,
    );
    expect(parseDriverParameter('MemoryPoolSize: 0\n', 'EnableSystemMemoryPools')).toBeNull();
  });

  it('cgroup v1, v2 and hybrid', () => {
    expect(parseCgroup('0::/user.slice/x.scope\n')).toEqual({ version: 2, path: '/user.slice/x.scope' });
    expect(parseCgroup('5:cpu,memory:/docker/a:b\n0::/\n')).toEqual({ version: 1, path: '/docker/a:b' });
    expect(parseCgroup('')).toBeNull();
  });

  it('a limit of a cgroup; none is a word in v2, and a number beyond those that are exact in v1', () => {
    expect(parseNumber('max\n')).toBeNull();
    expect(parseNumber('9223372036854771712\n')).toBeNull();
    expect(parseNumber('8589934592\n')).toBe(8589934592);
  });

  it('shrinker counts: the first column is a memcg, an empty file is 0', () => {
    expect(parseShrinkerCount('1 51200\n')).toBe(51200);
    expect(parseShrinkerCount('1 100 20\n7 50 0\n')).toBe(170);
    expect(parseShrinkerCount('')).toBe(0);
    expect(parseShrinkerCount('51200\n')).toBeNull();
    expect(parseShrinkerCount('1 x')).toBeNull();
  });
});
