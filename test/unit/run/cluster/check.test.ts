/** One need and several machines: each is fit()'s own answer, the weakest decides, and no answer is no yes. */
import { describe, expect, it } from 'vitest';
import { GiB } from '../../../../lib/base/format.ts';
import { fit as fitInto } from '../../../../lib/models/fit/index.ts';
import { ranksOf } from '../../../../lib/run/cluster/check.ts';
import { clusterCheck } from '../../../../lib/run/cluster/index.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { clusterCheckPage } from '../../../../lib/show/render/text/cluster.ts';
import type { FitNeed, Snapshot } from '../../../../lib/types/index.ts';
import { sentSnapshot } from '../../../support/fake-ssh.ts';

const roomy = () => sentSnapshot('roomy');
const vllm = { pid: 7, name: 'vllm', gpuBytes: 60 * GiB };
const busy = () => sentSnapshot('busy', { host: { free: 40 * GiB, available: 50 * GiB }, processes: [vllm] });
const check = (need: FitNeed, machines: readonly (Snapshot | string)[], options: object = {}) =>
  clusterCheck({
    ...need,
    answers: machines.map((each) => Buffer.from(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`)),
    ...options,
  });
const page = async (...asked: Parameters<typeof check>) =>
  clusterCheckPage(await check(...asked), {
    ...{ width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '' },
  }).join('\n');

describe('a need', () => {
  const model: FitNeed = { model: { params: 120e9, dtype: 'fp8' }, use: { tensorParallel: 2, context: 8192 } };
  it.each([
    ['that fits into all', { bytes: 20 * GiB }, 'fits', null],
    ['that fits into one', { bytes: 80 * GiB }, 'fits-after', 'busy'],
    ['that fits into none', { bytes: 200 * GiB }, 'no', 'busy'],
    ['of one rank of a model', model, 'no', 'busy'],
  ] as const)('%s', async (_, need, verdict, limiting) => {
    const machines = [roomy(), busy()];
    const report = await check(need, machines);
    expect(report).toMatchObject({ verdict, limiting, complete: true });
    for (const { fit: answer, host } of report.ranks) {
      const own = machines.find(({ hostName }) => hostName === host) as Snapshot;
      expect(answer).toEqual(await fitInto({ ...need, snapshot: own }));
    }
    expect(report.need).toEqual({ ...report.need, ...{ bytes: report.ranks[0]?.fit?.need.bytes } });
  });

  it('of a program is judged by that program', async () => {
    const report = await check({ model: { params: 7e9 } }, [roomy()], { program: 'vllm', utilization: 0.99 });
    expect(report.ranks[0]?.fit).toMatchObject({ binding: 'vllm', programs: [{ program: 'vllm' }] });
  });
});

it('of one machine nothing is compared, and what is not known is no amount', async () => {
  expect(await page({ bytes: GiB }, [roomy()])).toMatch(/^FITS {2}It fits on roomy\. 1\.0 GiB fit/m);
  const without = await page({ bytes: GiB }, [sentSnapshot('roomy', { gpu: false })]);
  expect(without).toMatch(/^roomy {2}UNKNOWN {2}what can be loaded is not known$/m);
});

describe('a machine without a usable answer', () => {
  it.each([
    ['old', { at: new Date(Date.now() - 3_600_000).toISOString() }],
    ['of another version', { umaprobeVersion: '0.0.1' }],
    ['with a part missing', { judgement: null }],
  ])('that is %s is no yes, and its numbers are not looked at', async (_, overrides) => {
    const report = await check({ bytes: GiB }, [roomy(), sentSnapshot('other', {}, overrides)]);
    expect(report).toMatchObject({ verdict: 'unknown', complete: false, limiting: 'other' });
    expect(report.ranks).toMatchObject([{ host: 'other', fit: null, judgement: null }, { host: 'roomy' }]);
  });

  it('comes after one that should take nothing now', async () => {
    const blind = sentSnapshot('blind', { host: { available: null } });
    const stuck = sentSnapshot('stuck', { full: 95 });
    const report = await check({ bytes: GiB }, [blind, stuck, roomy()]);
    expect(report.ranks.map(({ fit, host }) => [host, fit?.verdict])).toEqual([
      ['stuck', 'not-now'],
      ['blind', 'unknown'],
      ['roomy', 'fits'],
    ]);
    expect(report).toMatchObject({ verdict: 'not-now', limiting: 'stuck' });
  });

  it('does not hide that another one is too small', async () => {
    const report = await check({ bytes: 200 * GiB }, ['{"schema": "umaprobe/snapshot/1"}', roomy()]);
    expect(report).toMatchObject({ verdict: 'no', complete: false });
  });
});

it('a model that is not there is a mistake before any machine is asked', async () => {
  await expect(check({ model: '/nonexistent' }, [])).rejects.toMatchObject({ code: 'ERR_UMA_MODEL' });
});

it('the page says why a machine is short and what to do, and of the others that it fits', async () => {
  expect(await page({ bytes: 80 * GiB }, [roomy(), busy()])).toMatchInlineSnapshot(`
    "FITS AFTER  busy has the least room: 38.9 GiB are missing there.

    busy   FITS AFTER   41.1 GiB can be loaded
    roomy  FITS        102.8 GiB can be loaded
    Each is to hold 80.0 GiB.

    busy  80.0 GiB fit after the steps below: 41.06 GiB can be loaded now, 38.9 GiB
          too little, and 101.06 GiB after the steps.
          → stop vllm (7), which holds 60.0 GiB of GPU memory: 60.0 GiB more"
  `);
});

it('the page says what a machine answered, escaped', async () => {
  const text = await page({ bytes: GiB }, [roomy(), sentSnapshot('evil\u001b[2J', {}, { umaprobeVersion: '9' })]);
  expect(text).toMatch(/evil\?\[2J {2}OTHER VERSION/);
  expect(text).not.toContain('\u001b');
});

it('a model has as many ranks as both kinds of parallelism make', () => {
  const model = { params: 1e9, dtype: 'fp8' };
  expect(ranksOf({ bytes: 1 })).toBe(1);
  expect(ranksOf({ model })).toBe(1);
  expect(ranksOf({ model, use: { tensorParallel: 4, pipelineParallel: 3 } })).toBe(12);
});
