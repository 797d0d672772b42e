/** What the terminal says of a guarded program. */
import { expect, it } from 'vitest';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { guardPage } from '../../../../lib/show/render/text/guard.ts';
import type { GuardReport } from '../../../../lib/types/index.ts';
import { launchOf } from '../../../support/launches.ts';

const OPTIONS = { width: 100, cut: 100, paint: createPaint(0), unicode: true, exact: false, hostName: 'spark' };

it.each([
  [0, /^pressure +waiting for memory: never$/m],
  [0.01, /^pressure +waiting for memory: never$/m],
  [4, /^pressure +no task ran for at most 4\.0 % of 10 s$/m],
])('a highest pressure of %s %%', async (highestPressure, line) => {
  const { guard } = await launchOf();
  expect(guardPage({ ...(guard as GuardReport), highestPressure }, OPTIONS).join('\n')).toMatch(line);
});
