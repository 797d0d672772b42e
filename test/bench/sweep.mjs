/**
 * What does a step of a sweep take besides CUDA? Readings of seven counters four times a repeat, messages, and with a
 * journal the records on disk. Real milliseconds; where there is no GPU on the simulated gb10, whose calls take next to
 * no time at this scale.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snapshot, sweep } from 'umaprobe';
import { activate, simulate } from 'umaprobe/sim';
import { hasNvidiaSmi } from './gpu.mjs';
import { limit, quantile } from './measure.mjs';

const STEPS = 40;
const MiB = 2 ** 20;

if (!hasNvidiaSmi()) activate(simulate('gb10', { scale: 1000 }));
const { devices, simulated } = await snapshot();
const where = simulated === null ? devices[0].name : `simulated ${simulated}`;
const sizes = Array.from({ length: STEPS }, (_, at) => (at + 1) * 16 * MiB);
const folder = mkdtempSync(join(tmpdir(), 'umaprobe-bench-sweep-'));
for (const [words, journal] of [
  ['without a journal', false],
  ['with a journal on disk', join(folder, 'journal')],
]) {
  const from = performance.now();
  const { steps } = await sweep({ sizes, journal });
  const wall = performance.now() - from;
  const taken = steps.flatMap(({ overheadMs, state }) => (state === 'ok' ? [overheadMs] : []));
  if (taken.length !== STEPS) throw new Error(`${taken.length} of ${STEPS} steps were made`);
  const [p50, p90, worst] = [0.5, 0.9, 1].map((q) => quantile(taken, q).toFixed(2));
  console.log(`     ${words}: p50 ${p50} ms, p90 ${p90} ms, worst ${worst} ms; ${wall.toFixed(0)} ms in all`);
  limit({
    question: `a step’s time that is not CUDA’s, ${words}, on ${where}`,
    value: quantile(taken, 0.5),
    unit: 'ms',
    atMost: 5,
  });
}
rmSync(folder, { recursive: true });
