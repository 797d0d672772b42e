/** Rows about tasks that wait for memory, by the one judgement of pressure.ts. */

import { capitalized, clean, formatBytes, formatPercent } from '../../../base/format.ts';
import type { Evidence, Psi, Reading } from '../../../types/index.ts';
import { unifiedDevice } from '../headroom.ts';
import { judgePressure, NOTICEABLE_PERCENT, type PressureJudgement } from '../pressure.ts';
import { silentLibraries } from '../silent.ts';
import { advice, applies, command, count, NOTHING, passed, REFUSES, type Row, unknown } from './row.ts';

/** Tasks that wait, or a stall: a load would make it worse, and on unified memory a spike is reason enough to wait. */
export const pressure: Row = {
  needs: ['cuda', 'nvml'],
  judge({ snapshot }) {
    const judged = judgeNow(snapshot);
    const evidence = () => evidenceOf(snapshot);
    if (snapshot.pressure === null) {
      const why = snapshot.from.pressure;
      const matters = unifiedDevice(snapshot) !== undefined;
      return unknown(`${judged.text}: ${judged.why}${why === undefined ? '' : ` (${clean(why)})`}`, evidence, {
        matters,
      });
    }
    const { level, next, state, text } = judged;
    if (level === 'ok') return passed('No task waits for memory.', evidence);
    return applies({
      severity: level,
      summary: `${capitalized(text)}.`,
      effect: refusesLoads(judged, snapshot) ? REFUSES : NOTHING,
      evidence,
      remedy: next === null ? null : advice(next),
      normal: state === 'recent',
    });
  },
};

/** Pressure with what else speaks for a stall: libraries that do not answer. */
function judgeNow(snapshot: Reading): PressureJudgement {
  const { from, host, pressure: reading } = snapshot;
  const [library] = silentLibraries(snapshot);
  const silent = library === undefined ? null : `${library.name} does not answer`;
  return judgePressure({ from, host, pressure: reading, silent });
}

/** A load that fills memory must not be what makes a stall of a spike. */
function refusesLoads({ state }: PressureJudgement, snapshot: Reading): boolean {
  if (state === 'stalled') return true;
  return (state === 'spike' || state === 'longSpike') && unifiedDevice(snapshot) !== undefined;
}

/** The share of the last 10 s is this many times that of the last minute, and that one that of the last 5. */
const RISING = 2;

/**
 * Tasks wait more and more, though not yet so much that `pressure` applies: in the wedges on record it went from 0 to 92 %
 * within two minutes (blackbox).
 */
export const rising: Row = {
  needs: [],
  judge({ snapshot }) {
    const { pressure: reading, host } = snapshot;
    const evidence = () => evidenceOf(snapshot);
    if (reading === null) return unknown('pressure is not known', evidence);
    const { avg10, avg60, avg300 } = reading.some;
    const rises = avg10 >= NOTICEABLE_PERCENT && avg10 >= RISING * avg60 && avg60 >= RISING * avg300;
    if (!rises || judgePressure(snapshot).state !== 'none')
      return passed('Waiting for memory does not grow.', evidence);
    const left = host.available === null ? '' : `, with ${formatBytes(host.available)} available`;
    return applies({
      severity: 'notice',
      summary: `Tasks begin to wait for memory: ${formatPercent(avg10)} of the last 10 s, ${formatPercent(avg60)} of the last minute${left}.`,
      evidence,
      remedy: command('watch it while programs load', 'umaprobe watch'),
    });
  },
};

function evidenceOf({ from, kernel, pressure: reading }: Reading): Evidence[] {
  const source = from.pressure ?? '/proc/pressure/memory';
  const psi = (name: string, values: Psi): Evidence[] =>
    (['avg10', 'avg60', 'avg300'] as const).map((mean) => ({
      name: `${name} ${mean}`,
      value: values[mean],
      unit: 'percent',
      from: source,
    }));
  return [
    ...(reading === null ? [] : [...psi('some', reading.some), ...psi('full', reading.full)]),
    ...count('OOM kills since boot', kernel.oomKill, '/proc/vmstat oom_kill'),
  ];
}
