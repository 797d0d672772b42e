/**
 * How long does a step of a sweep take outside CUDA? It reads seven counters four times a repeat, sends messages, and with
 * a journal writes records to the disk. In real milliseconds; without a GPU on the simulated gb10, at a scale at which its
 * calls take almost no time.
 */

import { join } from 'node:path';
import { snapshot, sweep } from 'umaprobe';
import { activate, simulate } from 'umaprobe/sim';
import { hasGpu, limit, quantile, temporaryFolder } from './measure.mjs';

const STEPS = 40;
const MiB = 2 ** 20;

if (!hasGpu()) activate(simulate('gb10', { scale: 1000 }));
const { devices, simulated } = await snapshot();
const where = simulated === null ? devices[0].name : `simulated ${simulated}`;
const sizes = Array.from({ length: STEPS }, (_, at) => (at + 1) * 16 * MiB);
for (const [storage, journal] of [
  ['without a journal', false],
  ['with a journal on disk', join(temporaryFolder(), 'journal')],
]) {
  const from = performance.now();
  const { steps } = await sweep({ sizes, journal });
  const wall = performance.now() - from;
  const taken = steps.flatMap(({ overheadMs, state }) => (state === 'ok' ? [overheadMs] : []));
  if (taken.length !== STEPS) throw new Error(`${taken.length} of ${STEPS} steps were made`);
  const [p50, p90, worst] = [0.5, 0.9, 1].map((q) => quantile(taken, q).toFixed(2));
  console.log(`     ${storage}: p50 ${p50} ms, p90 ${p90} ms, worst ${worst} ms; ${wall.toFixed(0)} ms in all`);
  limit({
    question: `time of a step outside CUDA, ${storage}, on ${where}`,
    value: quantile(taken, 0.5),
    unit: 'ms',
    atMost: 5,
  });
}
