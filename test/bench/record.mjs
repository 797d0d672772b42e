/** What does the recorder cost while it runs, and does it see a spike that lasts for two readings? */

import { setTimeout as sleep } from 'node:timers/promises';
import { guard, readRecord, record } from 'umaprobe/run';
import { compile, limit, quantile, run, temporaryFolder } from './measure.mjs';

const SECONDS = 10;
for (const [intervalMs, atMost] of [
  [10, 1],
  [1, 5],
]) {
  const recorder = await record({ folder: temporaryFolder(), intervalMs, processesMs: 0 });
  const before = process.cpuUsage();
  await sleep(SECONDS * 1000);
  // Of this process, which does nothing else: both threads of the recorder, and Node.
  const { system, user } = process.cpuUsage(before);
  const { cpuMs, samples } = await recorder.stop();
  const rate = Math.round(samples / SECONDS);
  limit({
    question: `record every ${intervalMs} ms: ${rate} readings a second, CPU time of the reading thread`,
    value: cpuMs / SECONDS / 10,
    unit: '% of one core',
    atMost,
  });
  limit({
    question: `record every ${intervalMs} ms: CPU time of the process`,
    value: (system + user) / 1000 / SECONDS / 10,
    unit: '% of one core',
    atMost,
  });
}

const SPIKES = 10;
const GiB = 2 ** 30;
const MiB = 2 ** 20;
/** Other programs move MemFree, too, between the reading of the spike and the one of the recorder. */
const TOLERANCE = 64 * MiB;
const spike = compile('spike.c');
const median = (spikes, of) => quantile(spikes.map(of), 0.5) / GiB;

/** `beside`: a guard runs in this process, and its readings serve the recorder. */
async function spikesMissed(beside) {
  const folder = temporaryFolder();
  const recorder = await record({ folder, intervalMs: 1, processesMs: 0 });
  const ending = new AbortController();
  const guarded = beside
    ? guard({ command: ['sleep', '60'], stdio: 'pipe', intervalMs: 1, floorBytes: 2 * GiB, signal: ending.signal })
    : null;
  const spikes = [];
  for (let count = 0; count < SPIKES; count++) {
    await sleep(500);
    const from = Date.now();
    const [before, lowest, after, heldMs] = run(spike).split(' ').map(Number);
    spikes.push({ from, to: Date.now(), fall: before - lowest, rise: after - lowest, lowest, heldMs });
  }
  await sleep(500);
  ending.abort();
  await guarded;
  await recorder.stop();
  // One point for each frame of 100 ms.
  const { sessions } = await readRecord({ folder, points: 1000 });
  const seen = spikes.map(({ from, lowest, to }) => {
    const frames = sessions[0].series.filter(
      ({ at, spanMs }) => Date.parse(at) + spanMs >= from && Date.parse(at) <= to,
    );
    return Math.min(...frames.map(({ lowestFree }) => lowestFree)) - lowest;
  });
  limit({
    question: `${SPIKES} spikes of 1 GiB, held for ${quantile(
      spikes.map(({ heldMs }) => heldMs),
      0.5,
    ).toFixed(1)} ms, read every ms${beside ? ' by a guard' : ''}: lowest MemFree missed`,
    value: seen.filter((above) => above > TOLERANCE).length,
    unit: 'spikes',
    atMost: 0,
  });
  console.log(
    `     MemFree fell by ${median(spikes, ({ fall }) => fall).toFixed(2)} GiB and rose by ${median(spikes, ({ rise }) => rise).toFixed(2)} GiB at once (medians); ` +
      `the recorder's lowest value was at most ${(Math.max(...seen) / MiB).toFixed(0)} MiB above the spike's own`,
  );
}

await spikesMissed(false);
await spikesMissed(true);
