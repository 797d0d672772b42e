/** The screen of several machines: what is said of simulated ones, and that every machine is on it. */
import { describe, expect, it } from 'vitest';
import { formatBytes, GiB } from '../../../../lib/base/format.ts';
import { cluster } from '../../../../lib/run/cluster/index.ts';
import { createPaint } from '../../../../lib/show/render/paint.ts';
import { clusterPage } from '../../../../lib/show/render/text/cluster.ts';
import type { Snapshot } from '../../../../lib/types/index.ts';
import { sentSnapshot } from '../../../support/fake-ssh.ts';

async function pageOf(...sent: (Snapshot | string)[]): Promise<string> {
  const answers = sent.map((each) => Buffer.from(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`));
  const options = { width: 80, cut: 80, paint: createPaint(0), unicode: true, exact: false, hostName: '' };
  return clusterPage(await cluster({ answers }), options).join('\n');
}
const MIXED = /Simulated machines \(gb10\) stand among real ones\./;
const simulated = () => sentSnapshot('spark-2', { simulated: 'gb10' });

describe('a simulated machine', () => {
  it('beside a real one is said', async () => {
    const page = await pageOf(sentSnapshot('spark-1'), simulated());
    expect(page).toMatch(/ SIMULATED {2}machine gb10/);
    expect(page).toMatch(MIXED);
  });

  it('beside others, or beside one that has not answered, is not among real ones', async () => {
    expect(await pageOf(simulated(), simulated())).not.toMatch(MIXED);
    expect(await pageOf(simulated(), '{"schema": 1}')).not.toMatch(MIXED);
  });

  it('is not claimed of real ones', async () => {
    expect(await pageOf(sentSnapshot('spark-1'))).not.toMatch(/SIMULATED|imulated/);
  });
});

it('says of a machine without a GPU that it is not known', async () => {
  expect(await pageOf(sentSnapshot('plain', { gpu: false }))).toMatch(
    /plain {2}WARNING {2}How much can be loaded is not/,
  );
});

it('notes in what machines differ, and nothing where they are alike', async () => {
  const other = sentSnapshot('spark-2', {}, {});
  const newer = { ...other, kernel: { ...other.kernel, release: '7.0.0-1019-nvidia' } };
  expect((await pageOf(sentSnapshot('spark-1'), newer)).replace(/\s+/g, ' ')).toMatch(
    /note The hosts differ: kernel \S+ on spark-1, 7\.0\.0-1019-nvidia on spark-2\./,
  );
  expect(await pageOf(sentSnapshot('spark-1'), other)).not.toContain('differ');
});

it.each([1, 3, 4, 16])('has each of %i machines', async (count) => {
  const sent = Array.from({ length: count }, (_, at) => sentSnapshot(`spark-${at}`));
  const page = await pageOf(...sent);
  for (const { hostName } of sent) expect(page).toMatch(new RegExp(`^${hostName} `, 'm'));
  expect(page.split('\n').length).toBeLessThanOrEqual(23);
});

it('a GPU with memory of its own is a part of its own memory, not of the host’s', async () => {
  const own = sentSnapshot('hopper', { model: 'discrete', ownFree: [100 * GiB] });
  const [total] = own.devices.map(({ cuda, nvml }) => nvml?.total ?? cuda?.total ?? 0);
  expect(total).not.toBe(own.host.total);
  expect((await pageOf(own)).replaceAll(/\s+/g, ' ')).toContain(
    `GiB of ${formatBytes(total as number)} can be loaded.`,
  );
});
