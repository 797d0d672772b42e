/** The page of a fit that needs steps first. */

import { expect, it } from 'vitest';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { fitHtml } from '../../../../lib/show/render/html/fit.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { GiB } from '../../../support/units.ts';

const ASSETS = { script: '', style: '', version: '9.9.9' };

it('has what can be loaded after the steps', async () => {
  const processes = [{ pid: 11, name: 'vllm', gpuBytes: 60 * GiB }];
  const busy = snapshotOf({ processes, host: { available: 30 * GiB, free: 20 * GiB } });
  const report = await fitInto({ bytes: 50 * GiB, snapshot: busy });
  expect(report.limit.after).toBeGreaterThan(50 * GiB);
  expect(fitHtml(report, { heading: 'Later', estimated: null }, ASSETS)).toMatch(
    /\d GB; \d+\.\d\d GiB after the steps/,
  );
  const now = await fitInto({ bytes: 5 * GiB, snapshot: busy });
  expect(fitHtml(now, { heading: 'Now', estimated: null }, ASSETS)).not.toContain('after the steps');
});
