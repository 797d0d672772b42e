/** Reports of sweep, layout and stress as a terminal shows them. */
import { describe, expect, it } from 'vitest';
import { comparable } from '../../../../lib/show/render/counters.ts';
import { KIND_WIDTH } from '../../../../lib/show/render/kinds.ts';
import { moved, ms, msColumn, rate, sizeText } from '../../../../lib/show/render/numbers.ts';
import type { RenderOptions } from '../../../../lib/show/render/options.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { layoutPage, layoutPartLine } from '../../../../lib/show/render/text/layout.ts';
import { stressPage, stressStepLine } from '../../../../lib/show/render/text/stress.ts';
import { sweepPage, sweepStepLine } from '../../../../lib/show/render/text/sweep.ts';
import { widthOf } from '../../../../lib/show/render/text-layout.ts';
import type { StressState } from '../../../../lib/types/index.ts';
import {
  headerOf,
  layoutOf,
  movedOf,
  notMade,
  settledOf,
  stepOf,
  stressOf,
  sweepOf,
} from '../../../support/reports.ts';
import { GB, GiB } from '../../../support/units.ts';

function options(overrides: Partial<RenderOptions> = {}): RenderOptions {
  return { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: 'here', ...overrides };
}

const text = (lines: readonly string[]): string => lines.join('\n');

describe('numbers', () => {
  it.each([
    [1e9, '1 GB'],
    [80e9, '80 GB'],
    [4 * GiB, '4 GiB'],
    [2 ** 21, '2 MiB'],
    [1.5e9, '1.5 GB'],
    [96 * GiB, '96 GiB'],
    [1_234_567_891, '1.1 GiB'],
    [1088 * 2 ** 20, '1088 MiB'],
    [1.25 * GiB, '1.25 GiB'],
    [1_234_000_000, '1234 MB'],
    [1.1e9, '1.1 GB'],
    [1, '1 B'],
  ])('%d bytes are %s', (bytes, words) => expect(sizeText(bytes)).toBe(words));

  it('have three to four figures', () => {
    expect([null, 0, 0.0004, 0.123, 12.345, 1234.5].map(ms)).toEqual(['-', '0', '0.0004', '0.12', '12.3', '1235']);
    expect(msColumn([0.5, 1000, null])).toEqual(['0.50', '1000.00', '-']);
    expect(msColumn([35, 1000])).toEqual(['35.0', '1000.0']);
    expect([null, 0, 9.876, 273].map(rate)).toEqual(['-', '0', '9.88', '273']);
  });

  it('distinguish no change from an unknown change', () => {
    expect([null, 0, -4 * GiB, 12_288].map((bytes) => moved(bytes, true))).toEqual([
      'unknown',
      '0',
      '−4.00 GiB',
      '+12.0 KiB',
    ]);
  });
});

describe('a sweep', () => {
  it('begins with the outcome, and has a table for each kind', () => {
    const lines = sweepPage(sweepOf(), options());
    expect(text(lines.slice(1, 3))).toBe(
      'COMPLETE  21 of 22 steps measured; the largest: device 80 GB (2722 ms to\n          allocate, 227 GB/s), managed 50 GB (0.55 ms to allocate, 192 GB/s).',
    );
    expect(text(lines)).not.toMatch(/Which counters|Time to allocate/);
  });

  it('has all with full: the counters side by side, and plots', () => {
    const page = text(sweepPage(sweepOf(), options(), { full: true }));
    expect(page).toMatch(/^ SIMULATED {2}machine gb10: none of these numbers comes from hardware/);
    expect(page).toContain('D device  cudaMalloc, medians of 3');
    expect(page).toMatch(/^50 GB +1702\.0 +230\.00 +220\.00 +227 +75\.20$/m);
    expect(page).toMatch(/^120 GB {2}refused {2}MemAvailable 112\.8 GiB less 111\.8 GiB would/m);
    expect(page).toContain('Which counters moved by 50 GB');
    expect(page).toMatch(/^MemFree +−46\.57 GiB +−46\.57 GiB +−64\.0 KiB +−46\.57 GiB$/m);
    expect(page).toMatch(/^NVML, device used +unknown +unknown/m);
    expect(page).toContain('Time to allocate and write once');
  });

  it('fits into narrow and wide screens, in ASCII as well', () => {
    const report = sweepOf({
      steps: (['device', 'managed', 'pinned', 'system'] as const).map((kind) => stepOf(kind, GB)),
    });
    for (const width of [80, 120, 160]) {
      for (const unicode of [true, false]) {
        const lines = sweepPage(report, options({ width, unicode }), { full: true });
        expect(lines.filter((line) => widthOf(line) > width)).toEqual([]);
      }
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII from its first to its last.
    expect(text(sweepPage(report, options({ unicode: false }), { full: true }))).toMatch(/^[\x00-\x7f]*$/);
  });

  it('lists sizes that were not reached in one line', () => {
    const steps = [
      stepOf('device', GB),
      ...[2, 4, 8].map((gb) => notMade('device', gb * GB, 'not-reached', 'the sweep ended before')),
    ];
    const page = text(sweepPage(sweepOf({ steps, state: 'aborted', reason: 'Ended by the caller.' }), options()));
    expect(page.match(/not reached/g)).toHaveLength(1);
    expect(page).toContain('2 GB, 4 GB, 8 GB: not reached');
    const many = Array.from({ length: 60 }, (_, index) => notMade('device', (index + 2) * GB, 'not-reached', ''));
    expect(text(sweepPage(sweepOf({ steps: many }), options()))).toContain('60 sizes from 2 GB to 61 GB: not reached');
    expect(page).toContain('ABORTED  Ended by the caller. 1 of 4 steps measured');
  });

  it('names unsupported kinds that were requested', () => {
    const steps = [notMade('system', GB, 'unsupported', 'pageableMemoryAccess is 0 on this device')];
    expect(text(sweepPage(sweepOf({ steps }), options()))).toContain('system  unsupported  pageableMemoryAccess is 0');
    expect(text(sweepPage(sweepOf(), options()))).not.toContain('unsupported');
  });

  it('lets no name control the terminal', () => {
    const device = { ...headerOf().device, name: 'evil\x1b[2J\u202e' };
    const page = text(
      sweepPage(sweepOf({ device, steps: [notMade('device', GB, 'failed', '\x1b]0;x\x07')] }), options()),
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(page).not.toMatch(/[\x1b\x07\u202e]/);
  });

  it('has a line for a log for each step', () => {
    const name = (kind: string) => kind.padEnd(KIND_WIDTH);
    expect(sweepStepLine(stepOf('device', GB), 3, 12)).toBe(
      ` 3/12  ${name('device')}       1 GB  alloc 36.0 ms  touch 4.60 ms, 4.40 ms  227 GB/s  free 1.70 ms`,
    );
    expect(sweepStepLine(notMade('managed', GB, 'refused', 'too large'), 12, 12)).toBe(
      `12/12  ${name('managed')}       1 GB  refused: too large`,
    );
  });
});

describe('the counters that are compared', () => {
  it('are those of the largest size that all kinds have', () => {
    const steps = [
      stepOf('device', 4 * GB),
      stepOf('device', 2 * GB),
      stepOf('managed', 2 * GB),
      stepOf('managed', GB),
    ];
    expect(comparable(steps).map(({ kind, requestedBytes }) => [kind, requestedBytes])).toEqual([
      ['device', 2 * GB],
      ['managed', 2 * GB],
    ]);
  });

  it("are each kind's largest if no size is common", () => {
    const steps = [stepOf('device', 4 * GB), stepOf('managed', 2 * GB), stepOf('managed', GB)];
    expect(comparable(steps).map(({ requestedBytes }) => requestedBytes)).toEqual([4 * GB, 2 * GB]);
  });

  it('leave out failed steps', () => {
    const failed = stepOf('device', GB, { state: 'failed', moved: movedOf(GB, 'device') });
    expect(comparable([failed, notMade('managed', GB, 'refused', '')])).toEqual([]);
  });
});

describe('a stress test', () => {
  it('begins with the outcome, the maximum in both units and what limited it', () => {
    const lines = stressPage(stressOf(), options());
    expect(text(lines.slice(1, 3))).toBe(
      'MAXIMUM  103.56 GiB (111.20 GB) can be allocated: MemAvailable 9.3 GiB less the\n         next 1.0 GiB would be below the floor of 8.4 GiB.',
    );
    expect(text(lines)).toMatch(/^Verified +103\.56 GiB \(111\.20 GB\) written and read back/m);
    const hidden = stressOf().steps.length - 5;
    expect(text(lines)).toContain(`… ${hidden} more (--full)`);
    const full = text(stressPage(stressOf(), options(), { full: true }));
    expect(full).not.toContain('more (--full)');
    expect(full).toContain('Over the steps');
  });

  it.each<[StressState, number, string]>([
    ['limit', GiB, '1.00 GiB (1.07 GB) can be allocated: '],
    ['lost', GiB, 'at least 1.00 GiB (1.07 GB) can be allocated: '],
    ['out-of-memory', 0, 'nothing could be allocated: '],
  ])('%s with %i bytes does not claim more than was held', (state, maxBytes, words) =>
    expect(text(stressPage(stressOf({ state, maxBytes }), options({ width: 160 })))).toContain(`  ${words}`),
  );

  it.each<[StressState, RegExp]>([
    ['contiguity', /→ umaprobe cache compact/],
    ['lost', /→ the journal has the last step: umaprobe stress --resume/],
    ['pressure', /→ wait until the pressure is gone/],
    ['timeout', /→ try a longer --timeout/],
  ])('%s says what to do next', (state, words) =>
    expect(text(stressPage(stressOf({ state }), options()))).toMatch(words),
  );

  it('counts wrong bytes and says where the first is', () => {
    const verified = { bytes: GiB, mismatches: 3, firstMismatch: 4096 };
    const page = text(stressPage(stressOf({ state: 'failed', verified }), options()));
    expect(page).toMatch(/3 wrong bytes,\s+the first at offset 4096/);
  });

  it('says what the guard did', () => {
    const guard = {
      reason: 'floor',
      memAvailable: 8 * GiB,
      freeInCpuLists: null,
      pressureFull: null,
      stoppedAfterMs: 4.2,
      freedAfterMs: 31,
      left: false,
    } as const;
    expect(text(stressPage(stressOf({ guard }), options({ width: 160 })))).toContain(
      'tripped by floor (MemAvailable 8.00 GiB): allocation stopped 4.20 ms, all memory freed 31 ms after the reading',
    );
    expect(text(stressPage(stressOf({ guard: { ...guard, left: true } }), options({ width: 160 })))).toContain(
      'the process exited at once',
    );
  });

  it('says what did not come back, and where it probably is', () => {
    const settled = settledOf({ missing: { bytes: 24 * GiB, explanation: "the driver's page pools" } });
    expect(text(stressPage(stressOf({ settled }), options()))).toMatch(
      /24\.00 GiB \(25\.77 GB\) did not come back: the driver's page\s+pools/,
    );
  });

  it('shows an unfinished earlier run beside the answer', () => {
    const sentence = 'The machine vanished while taking 96.0 GiB to 100.0 GiB.';
    const unfinished = {
      command: 'stress',
      at: '',
      bootId: null,
      otherBoot: true,
      kind: 'device',
      heldBytes: 0,
      targetBytes: 0,
      provenBytes: 0,
      sentence,
    } as const;
    const lines = stressPage(stressOf({ unfinished }), options());
    expect(lines[3]).toContain(`EARLIER RUN  ${sentence.slice(0, 20)}`);
  });

  it('has a line for a log for each step', () => {
    const [step] = stressOf().steps;
    if (step === undefined) throw new Error('the fixture has no steps');
    expect(stressStepLine(step, 1)).toBe(
      '  1    256 MiB  held   0.25 GiB  available 112.57 GiB  alloc 5.50 ms  touch 1.15 ms  verify 1.10 ms',
    );
  });
});

describe('a layout', () => {
  it('compares expected, allocated and consumed', () => {
    const page = text(layoutPage(layoutOf(), options()));
    expect(page).toMatch(/^attention +\[█+·+\] +8\.00 +7\.45 +272 +36\.8$/m);
    expect(page).toMatch(/^overhead +\+9\.5 MiB {2}consumed minus allocated: 0\.04 %$/m);
    expect(page).toMatch(/^FITS {2}6 of 6 parts were held at once, 23\.75 GiB \(25\.50 GB\)\.$/m);
  });

  it('names the part that does not fit, and why', () => {
    const [first, ...rest] = layoutOf().parts;
    if (first === undefined) throw new Error('the fixture has no parts');
    const parts = [
      first,
      ...rest.map((part) => ({
        ...part,
        state: 'refused' as const,
        reason: 'below the floor',
        allocMs: null,
        firstTouchMs: null,
      })),
    ];
    const page = text(
      layoutPage(layoutOf({ parts, state: 'incomplete', reason: 'attention does not fit.' }), options()),
    );
    expect(page).toContain('attention  refused  below the floor');
    expect(page).toContain('DOES NOT FIT  attention does not fit. 1 of 6 parts');
    expect(layoutPartLine({ ...first, state: 'refused', reason: 'why' }, 1, 6)).toBe(
      '1/6  embeddings 2 GB  refused: why',
    );
  });
});
