import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clean } from '../../../../lib/base/format.ts';
import { ledger } from '../../../../lib/core/memory/ledger.ts';
import type { RenderOptions } from '../../../../lib/show/render/options.ts';
import { createPaint, type Depth } from '../../../../lib/show/render/paint.ts';
import { simulatedBand } from '../../../../lib/show/render/text/frame.ts';
import { snapshotPage } from '../../../../lib/show/render/text/snapshot.ts';
import { verdictLines } from '../../../../lib/show/render/text/snapshot-header.ts';
import { barOf, cells, poolBar } from '../../../../lib/show/render/text/snapshot-memory.ts';
import { readingLine } from '../../../../lib/show/render/text/watch.ts';
import { sparkline } from '../../../../lib/show/render/text/watch-history.ts';
import { hanging, padEnd, table, truncate, widthOf, wrap } from '../../../../lib/show/render/text-layout.ts';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { hostOf, type MachineFixture, snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const optionsAt = (width: number, depth: Depth = 0, extra: Partial<RenderOptions> = {}): RenderOptions => ({
  width,
  cut: width,
  paint: createPaint(depth),
  unicode: true,
  exact: false,
  hostName: 'spark-1',
  ...extra,
});

const page = (snapshot: Snapshot, options: RenderOptions): string[] => snapshotPage(snapshot, options, { full: true });

const STORIES: Record<string, MachineFixture> = {
  idle: {},
  simulated: { simulated: 'gb10' },
  cached: { host: { free: 8 * GiB, cached: 100 * GiB, available: 108 * GiB } },
  busy: {
    host: { free: 30 * GiB, available: 34 * GiB },
    processes: [{ pid: 4711, name: 'VLLM::Worker', gpuBytes: 70 * GiB }],
  },
  discrete: { model: 'discrete' },
  'no GPU': { gpu: false },
  'over-counted': { host: { free: 125_000_000_000 } },
  foreign: { processes: [{ pid: 1, name: null, gpuBytes: null }] },
};

it.each([0, 4, 8] as const)('a bar shows each part at depth %s: as cells of its colour, or by its letter', (depth) => {
  const parts = [
    { letter: 'U', style: 'unattributed', name: 'in use', bytes: 2 },
    { letter: 'N', style: 'kind-1', name: 'need', bytes: 3 },
    { letter: '.', style: 'free', name: 'free', bytes: 3 },
  ] as const;
  const bar = stripVTControlCharacters(barOf(parts, optionsAt(10, depth)));
  expect(bar).toBe(depth === 0 ? '[UUNNN···]' : '[U NNN···]');
});

describe('the page', () => {
  it.each(Object.keys(STORIES))('%s fits its columns, in colour and without', (story) => {
    for (const width of [40, 60, 80, 100, 160]) {
      for (const depth of [0, 4, 8] as const) {
        for (const exact of [false, true]) {
          const snapshot = snapshotOf(STORIES[story]);
          const options = optionsAt(width, depth, { exact });
          const full = page(snapshot, options);
          // Numbers of the full ledger take 54 columns and are not cut.
          const lines = [...snapshotPage(snapshot, options), ...(width >= 60 && !exact ? full : [])];
          for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(width);
        }
      }
    }
  });

  it('of a healthy machine fits 80×24 and 60×20, the answer first', () => {
    for (const [width, rows] of [
      [80, 24],
      [60, 20],
    ] as const) {
      const lines = snapshotPage(snapshotOf(STORIES.simulated), optionsAt(width));
      // The prompt takes a row.
      expect(lines.length).toBeLessThan(rows);
      expect(lines[1]).toMatch(/^OK {2}102\.82 GiB \(110\.40 GB\) can be loaded on the GPU\.$/);
      expect(lines[2]).toMatch(/^ {4}Nothing stands in the way/);
      expect(lines.join('\n')).not.toMatch(/anonymous|reclaim|order|PSI/);
    }
  });

  it.each(Object.keys(STORIES))('%s fits a small window, and loses the verdict in none', (story) => {
    const snapshot = snapshotOf(STORIES[story]);
    for (const width of [40, 50, 60, 80]) {
      const verdict = verdictLines(snapshot, optionsAt(width));
      const whole = snapshotPage(snapshot, optionsAt(width));
      for (let rows = whole.length; rows > 0; rows--) {
        const lines = snapshotPage(snapshot, { ...optionsAt(width), rows });
        expect(lines.join('\n')).toContain(verdict.join('\n'));
        expect(lines.length).toBeLessThanOrEqual(
          Math.max(rows, verdict.length + simulatedBand(snapshot.simulated, optionsAt(width)).length),
        );
        if (rows === whole.length) expect(lines).toEqual(whole);
      }
    }
  });

  it('has the verdict, the numbers and the bar alone, whatever the verdict is', () => {
    const of = (fixture: MachineFixture) => snapshotPage(snapshotOf(fixture), optionsAt(80)).join('\n');
    for (const fixture of [{}, { largeShare: 0.01 }, { full: 12 }])
      expect(of(fixture)).not.toMatch(/Pressure|Blocks|What each tool counts/);
  });

  it('loses nothing in a pipe, and is cut on a terminal', () => {
    const long = snapshotOf({ processes: [{ pid: 4711, name: 'a-name-of-24-characters-', gpuBytes: 70 * GiB }] });
    const lines = (cut: number) => snapshotPage(long, { ...optionsAt(60), cut }).join('\n');
    expect(lines(60)).toContain('…');
    expect(lines(Number.POSITIVE_INFINITY)).not.toContain('…');
    expect(lines(Number.POSITIVE_INFINITY)).toContain('a-name-of-24-characters- (4711)');
  });

  it('is the same text with and without colour, apart from the fill of the bar', () => {
    const plain = (lines: string[]) => lines.map(stripVTControlCharacters).filter((line) => !/^\[.*\]$/.test(line));
    const snapshot = snapshotOf(STORIES.busy);
    expect(plain(page(snapshot, optionsAt(90, 8)))).toEqual(plain(page(snapshot, optionsAt(90))));
  });

  it('says SIMULATED first, and the machine', () => {
    const [first = '', ...rest] = page(snapshotOf(STORIES.simulated), optionsAt(80));
    expect(first).toContain('SIMULATED  machine gb10');
    expect(rest.join('\n')).not.toContain('spark-1');
    expect(readingLine(snapshotOf(STORIES.simulated), optionsAt(80))).toContain('SIMULATED gb10');
  });

  it('states totals in GiB and GB, and in every digit with --exact', () => {
    expect(page(snapshotOf(), optionsAt(80)).join('\n')).toContain('119.69 GiB (128.52 GB)');
    expect(page(snapshotOf(), optionsAt(80, 0, { exact: true })).join('\n')).toContain('128,518,619,136');
  });

  it('prints unknown for null, never 0', () => {
    const text = page(snapshotOf({ host: { available: null } }), optionsAt(100)).join('\n');
    expect(text).toMatch(/Can become free +unknown/);
    expect(text).toMatch(/nvidia-smi .*unknown {2}not supported/);
  });

  it('lets no process name control the terminal', () => {
    const text = snapshotPage(
      snapshotOf({ processes: [{ pid: 1, name: 'a\x1b[2Jb\u202ec', gpuBytes: GiB }] }),
      optionsAt(80),
    ).join('\n');
    expect(text).toContain('a?[2Jb?c');
    expect(text).not.toContain('\x1b');
  });

  it('is ASCII without Unicode', () => {
    for (const story of Object.values(STORIES)) {
      const options = optionsAt(80, 0, { unicode: false });
      const text = [...page(snapshotOf(story), options), ...snapshotPage(snapshotOf(story), options)].join('\n');
      expect(text.replace(/…/g, '')).toMatch(/^[\x20-\x7e\n]*$/);
    }
  });
});

describe('the bar', () => {
  it('has exactly its width, whatever is in it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 1, max: 200 }),
        (amounts, width) => {
          const counts = cells(amounts, width);
          const sum = counts.reduce((a, b) => a + b, 0);
          expect(sum).toBe(amounts.some((bytes) => bytes > 0) ? width : 0);
          amounts.forEach((bytes, index) => {
            if (bytes <= 0) expect(counts[index]).toBe(0);
          });
        },
      ),
    );
  });

  it('can be read without colour: a letter for each part, in proportion', () => {
    const book = ledger(hostOf({ free: 64 * GiB, cached: 32 * GiB, anonPages: 16 * GiB }), {
      gpuProcesses: null,
      driverPools: null,
      freeInCpuLists: null,
      zram: null,
    });
    const bar = poolBar(book, optionsAt(122));
    expect(bar).toHaveLength(122);
    expect((bar.match(/·/g) ?? []).length).toBe(Math.round((64 / 119.69) * 120));
    expect((bar.match(/P/g) ?? []).length).toBe(16);
    expect(bar).toMatch(/^\[[?]*P+T*K+C+·+\]$/);
  });

  it('carries each letter once in colour', () => {
    const bar = poolBar(snapshotOf(STORIES.busy).ledger, optionsAt(80, 8));
    expect((bar.match(/G/g) ?? []).length).toBe(1);
    expect(widthOf(bar)).toBe(80);
  });
});

describe('the rule of each tool', () => {
  const rules = (fixture: MachineFixture) =>
    Object.fromEntries(
      page(snapshotOf(fixture), optionsAt(160))
        .map((line) => /^(PyTorch|vLLM|SGLang|llama\.cpp|NVIDIA's guidance) +\[.*\] +\S+(?: GiB)? {2}(.*)$/.exec(line))
        .filter((match) => match !== null)
        .map(([, tool, rule]) => [tool, rule]),
    );

  it('is the one behind the number', () => {
    const asks = 'asks cudaMemGetInfo';
    const huge = { hugePagesTotal: 1024, hugetlb: 2 * GiB };
    expect(rules({})).toMatchObject({ PyTorch: asks, vLLM: 'MemAvailable', 'llama.cpp': 'MemAvailable' });
    expect(rules({ model: 'discrete' })).toMatchObject({ vLLM: asks, SGLang: asks, 'llama.cpp': asks });
    expect(rules({ host: { ...huge, hugePagesFree: 512 } })).toMatchObject({
      SGLang: 'MemAvailable',
      'llama.cpp': 'free huge pages only',
      "NVIDIA's guidance": 'free huge pages only',
    });
    expect(rules({ host: { ...huge, hugePagesFree: 0 } })['llama.cpp']).toBe(`no free huge page: ${asks}`);
  });

  it('is MemAvailable for llama.cpp on a discrete GPU if its variable is set', () => {
    const environment = { GGML_CUDA_ENABLE_UNIFIED_MEMORY: '1' };
    expect(rules({ model: 'discrete', environment })).toMatchObject({
      'llama.cpp': 'MemAvailable',
      vLLM: 'asks cudaMemGetInfo',
    });
  });

  it('is never a whole sentence', () => {
    for (const fixture of Object.values(STORIES)) {
      for (const rule of Object.values(rules(fixture))) expect(rule).toMatch(/^.{3,49}$/);
    }
  });
});

describe('processes that hold GPU memory', () => {
  const textOf = (fixture: MachineFixture) => page(snapshotOf(fixture), optionsAt(80)).join('\n');
  const host = { free: 45 * GiB, available: 50 * GiB };
  const share = (pid: number) => ({ pid, name: 'vllm', gpuBytes: 61 * GiB });

  it('are never "none" where they are not known', () => {
    const text = textOf({ host, container: true });
    expect(text).toMatch(/Processes holding GPU memory: not known here \(this process is in a PID\s+namespace/);
    expect(text).toContain('in no counter (GPU memory and driver)');
    expect(textOf({ container: true, processes: [share(7)], host })).toMatch(
      /not all is known here: this process is in/,
    );
    const inUse = textOf({ model: 'discrete', ownFree: [40 * GiB] });
    expect(inUse).toMatch(/GPU memory: none listed, though 100\.4 GiB are in use/);
    expect(textOf({ model: 'discrete', ownFree: [143_000 * 2 ** 20] })).toContain('GPU memory: none\n');
  });

  it('never hold more than there is', () => {
    const text = textOf({ host, processes: [share(7), share(8)] });
    expect(text).toMatch(/G {2}GPU memory of processes, at most +6\d\.\d\d/);
    expect(text).toMatch(/NVML’s processes add up to 122\.00 GiB \(\S+ GB\), but only/);
    for (const [, percent] of text.matchAll(/ (\d+\.\d)$/gm)) expect(Number(percent)).toBeLessThanOrEqual(100);
    expect(text).not.toContain('counted twice by the kernel');
  });

  it('are shown as a part where a part is known', () => {
    const text = textOf({
      host,
      processes: [
        { ...share(7), gpuBytes: 20 * GiB },
        { ...share(8), gpuBytes: null },
      ],
    });
    expect(text).toMatch(/GPU memory of processes, at least +20\.00/);
    expect(text).toContain('in no counter (GPU memory and driver)');
    expect(text).toMatch(/8 {2}vllm +unknown/);
    expect(text).toMatch(/not all is known here: NVML does not report how much memory 1 of the 2/);
  });

  it.each<[MachineFixture, RegExp]>([
    [{ host, processes: [share(7)] }, /GPU +61\.0 GiB/],
    [{ host, processes: [share(7), share(8)] }, /GPU at most 6\d\.\d GiB/],
    [{ host, container: true }, /GPU +unknown/],
    [{ host, model: 'discrete', container: true, processes: [share(7)] }, /GPU at least 61\.0 GiB/],
  ])('have the same bound in a line of watch %#', (fixture, text) => {
    expect(readingLine(snapshotOf(fixture), optionsAt(80))).toMatch(text);
  });
});

describe('a GPU of which little is known', () => {
  it('is described neutrally', () => {
    const text = page(snapshotOf({ model: 'unknown' }), optionsAt(160)).join('\n');
    expect(text).toMatch(/Can become free .*it is unknown whether the GPU shares host memory/);
    expect(text).not.toContain('no page cache');
  });

  it('has processes without a name, whatever the reason', () => {
    expect(page(snapshotOf(STORIES.foreign), optionsAt(80)).join('\n')).toContain('(name unknown)');
  });
});

describe('text', () => {
  it('wraps without losing a word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 12, max: 60 }),
        (words, width) => {
          const lines = wrap(words.join(' '), width);
          expect(lines.join(' ')).toBe(words.join(' '));
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  it('aligns, truncates and hangs', () => {
    expect(
      table(
        ['left', 'right'],
        [
          ['a', '1'],
          ['bb', '22'],
        ],
        80,
      ),
    ).toEqual(['a    1', 'bb  22']);
    expect(table(['left', 'flexible'], [['a', 'long text here']], 13)).toEqual(['a  long text…']);
    expect(truncate('abcdef', 4)).toBe('abc…');
    expect(hanging('OK  ', 'one two three four five six', 24)).toEqual(['OK  one two three four', '    five six']);
    expect(padEnd('\x1b[1ma\x1b[0m', 3)).toBe('\x1b[1ma\x1b[0m  ');
    expect(clean('a\n\tb\x07')).toBe('a b?');
  });

  it('draws unknown as a gap', () => {
    expect(sparkline([0, 5, 10, null, 20], 10, true)).toBe('▁▅█ █');
    expect(sparkline([0, 10], 10, false)).toBe('_#');
  });
});
