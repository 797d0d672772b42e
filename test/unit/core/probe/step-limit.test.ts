/** Time limits of steps: far above what a healthy machine needs, by kind and size. */

import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../../lib/core/memory/kinds.ts';
import { callLimitMs, stepLimitMs } from '../../../../lib/core/probe/step-limit.ts';
import { PRESETS } from '../../../../lib/core/sweep/sizes.ts';
import { loadMachine } from '../../../../lib/sim/load.ts';
import { GiB } from '../../../support/units.ts';

const { timing } = loadMachine('gb10') as unknown as { timing: Record<string, number> };

describe('the limit of a step', () => {
  it('is at least three times what the slowest touch takes, for every size of the lab and every kind', () => {
    const perGiB = Math.max(...Object.values(timing).filter((value) => typeof value === 'number'));
    const touch = { managed: 'managedTouchMsPerGiB', system: 'systemTouchMsPerGiB' } as const;
    expect(perGiB).toBeGreaterThan(0);
    for (const kind of KINDS)
      for (const bytes of PRESETS.lab) {
        const name = kind === 'managed' || kind === 'system' ? touch[kind] : null;
        const expected = ((name === null ? 100 : (timing[name] ?? Number.NaN)) * bytes) / GiB;
        expect(stepLimitMs(null, kind, bytes), `${kind} ${bytes}`).toBeGreaterThan(3 * expected);
      }
  });

  it('does not make a hang of a small step cost more than a minute or two', () => {
    for (const kind of KINDS) expect(stepLimitMs(null, kind, 4e9)).toBeLessThanOrEqual(100_000);
    expect(callLimitMs(null)).toBe(60_000);
  });

  it('is what the caller says, for every size', () => {
    expect(stepLimitMs(500, 'system', 80e9)).toBe(500);
    expect(callLimitMs(500)).toBe(500);
  });
});
