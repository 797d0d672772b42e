/** A recorder beside the guard of a program: one reading serves both, and none is missing when the guard is gone. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { guard } from '../../../lib/run/guard/index.ts';
import { readRecord, record } from '../../../lib/run/record/index.ts';
import type { GuardReport, Recorder } from '../../../lib/types/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB } from '../../support/units.ts';

/** How often the thread that reads has slept. */
function sleeps(): number {
  const tasks = '/proc/self/task';
  const task = readdirSync(tasks).find((id) => readFileSync(join(tasks, id, 'comm'), 'utf8') === 'umaprobe-record\n');
  const status = readFileSync(join(tasks, task ?? '', 'status'), 'utf8');
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
}

let recorder: Recorder | null = null;
afterEach(async () => {
  await recorder?.stop();
  recorder = null;
});

async function begin(intervalMs: number): Promise<{ recorder: Recorder; folder: string }> {
  const folder = temporaryFolder('record');
  recorder = await record({ folder, intervalMs, processesMs: 0 });
  return { recorder, folder };
}

/** Parent of a program: the guard itself. */
const guardOf = (pid: number) => Number(/\) . (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);

/** The longest time between two frames, in milliseconds. */
async function longestGap(folder: string): Promise<number> {
  const { sessions } = await readRecord({ folder, points: 10_000 });
  const series = sessions[0]?.series ?? [];
  expect(series.length).toBeGreaterThan(10);
  const gaps = series.slice(1).map(({ at }, index) => {
    const before = series[index] as (typeof series)[number];
    return Date.parse(at) - Date.parse(before.at) - before.spanMs;
  });
  return Math.max(...gaps);
}

describe('a recorder beside a guard', () => {
  it('takes the readings of one guard after the other, and reads itself when they have ended', async () => {
    const { recorder, folder } = await begin(1);
    for (let count = 0; count < 2; count++) {
      let before = { samples: 0, sleeps: 0 };
      const { readings } = await guard({
        command: ['sleep', '1'],
        stdio: 'pipe',
        intervalMs: 1,
        floorBytes: 2 * GiB,
        onEvent: (event) => {
          if (event.type === 'started') before = { samples: recorder.state().samples, sleeps: sleeps() };
        },
      });
      // Each of its own readings would be one.
      expect(sleeps() - before.sleeps).toBeLessThan(0.5 * readings);
      await sleep(200);
      expect(recorder.state().samples - before.samples).toBeGreaterThan(0.8 * readings);
    }
    const { samples } = recorder.state();
    await sleep(500);
    expect(recorder.state().samples - samples).toBeGreaterThan(100);
    await recorder.stop();
    expect(await longestGap(folder)).toBeLessThan(150);
  });

  it('reads itself once a guard was killed, and shares with the next one', async () => {
    const { recorder, folder } = await begin(10);
    let lost: Promise<GuardReport> | undefined;
    const started = new Promise<number>((resolve) => {
      lost = guard({
        command: ['sleep', '2'],
        stdio: 'pipe',
        floorBytes: 2 * GiB,
        onEvent: (event) => {
          if (event.type === 'started') resolve(guardOf(event.pid ?? 0));
        },
      });
    });
    const pid = await started;
    expect(pid).toBeGreaterThan(1);
    await sleep(500);
    process.kill(pid, 'SIGKILL');
    await expect(lost).rejects.toThrow('without a report');
    const { samples } = recorder.state();
    await sleep(1500);
    expect(recorder.state().samples - samples).toBeGreaterThan(75);
    let before = 0;
    const { readings } = await guard({
      command: ['sleep', '1'],
      stdio: 'pipe',
      floorBytes: 2 * GiB,
      onEvent: (event) => {
        if (event.type === 'started') before = sleeps();
      },
    });
    expect(sleeps() - before).toBeLessThan(0.5 * readings);
    await recorder.stop();
    expect(await longestGap(folder)).toBeLessThan(250);
  });

  it('reads itself beside a guard that reads more seldom', async () => {
    const { recorder } = await begin(1);
    const { readings } = await guard({ command: ['sleep', '1'], stdio: 'pipe', intervalMs: 20, floorBytes: 2 * GiB });
    expect((await recorder.stop()).samples).toBeGreaterThan(3 * readings);
  });

  it('shares with one of two guards', async () => {
    const { recorder } = await begin(10);
    const options = { command: ['sleep', '0.5'], stdio: 'pipe', floorBytes: 2 * GiB } as const;
    const reports = await Promise.all([guard(options), guard(options)]);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['exited', 'exited']);
    expect(recorder.state().samples).toBeLessThan(1.5 * Math.max(...reports.map(({ readings }) => readings)) + 20);
  });
});
