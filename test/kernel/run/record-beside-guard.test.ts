/** A recorder beside the guard of a program: one reading serves both, and none is missing when the guard is gone. */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { guard } from '../../../lib/run/guard/index.ts';
import type { GuardOptions } from '../../../lib/run/guard/options.ts';
import { readRecord, record } from '../../../lib/run/record/index.ts';
import type { GuardReport, Recorder } from '../../../lib/types/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

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

/** A program that ends when it is told to, under a guard. */
async function guarded(options: Partial<GuardOptions> = {}) {
  const gate = join(temporaryFolder('gate'), 'gate');
  execFileSync('mkfifo', [gate]);
  let report: Promise<GuardReport> | undefined;
  const pid = await new Promise<number>((resolve, reject) => {
    report = guard({
      command: ['sh', '-c', 'read _ < "$0"', gate],
      stdio: 'pipe',
      floorBytes: 2 * GiB,
      ...options,
      onEvent: (event) => {
        if (event.type === 'started') resolve(event.pid ?? 0);
      },
    });
    report.catch(reject);
  });
  const end = async (): Promise<GuardReport> => {
    await writeFile(gate, 'end\n');
    return report as Promise<GuardReport>;
  };
  return { pid, report: report as unknown as Promise<GuardReport>, end };
}

/** Waits for so many samples; answers how many there were, and how often the recorder slept for them. */
async function sampled(recorder: Recorder, count: number): Promise<{ samples: number; slept: number }> {
  const before = { samples: recorder.state().samples, sleeps: sleeps() };
  const samples = () => recorder.state().samples - before.samples;
  await waitFor(`${count} samples`, samples, (seen) => seen >= count);
  return { samples: samples(), slept: sleeps() - before.sleeps };
}

/** What the last guard has read is taken at once; after it each reading is the recorder's own. */
function readsItself(recorder: Recorder): Promise<unknown> {
  const look = () => sampled(recorder, 75);
  return waitFor('readings of its own', look, ({ samples, slept }) => slept > 0.5 * samples);
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
      const { end } = await guarded({ intervalMs: 1 });
      // Each of its own readings would be one.
      const { samples, slept } = await sampled(recorder, 500);
      expect(slept).toBeLessThan(0.5 * samples);
      await end();
    }
    await readsItself(recorder);
    await recorder.stop();
    expect(await longestGap(folder)).toBeLessThan(1500);
  });

  it('reads itself once a guard was killed, and shares with the next one', async () => {
    const { recorder, folder } = await begin(10);
    const lost = await guarded();
    await sampled(recorder, 20);
    process.kill(guardOf(lost.pid), 'SIGKILL');
    await expect(lost.report).rejects.toThrow('without a report');
    await readsItself(recorder);
    const next = await guarded();
    const shared = await sampled(recorder, 75);
    expect(shared.slept).toBeLessThan(0.5 * shared.samples);
    await next.end();
    await recorder.stop();
    expect(await longestGap(folder)).toBeLessThan(1500);
  });

  it('reads itself beside a guard that reads more seldom', async () => {
    const { recorder } = await begin(1);
    const { end } = await guarded({ intervalMs: 20 });
    const { samples } = await sampled(recorder, 500);
    const { readings } = await end();
    expect(samples).toBeGreaterThan(3 * readings);
  });

  it('shares with one of two guards', async () => {
    const { recorder } = await begin(10);
    const both = await Promise.all([guarded(), guarded()]);
    // No less than the readings of one meanwhile, which both guards go on with, and not those of both.
    const { samples, slept } = await sampled(recorder, 100);
    const reports = await Promise.all(both.map(({ end }) => end()));
    expect(reports.map(({ outcome }) => outcome)).toEqual(['exited', 'exited']);
    expect(slept).toBeLessThan(0.5 * samples);
    expect(samples).toBeLessThan(1.5 * Math.max(...reports.map(({ readings }) => readings)));
  });
});
