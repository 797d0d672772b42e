import { formatBytes, formatDuration, GiB } from '../../base/format.ts';
import { LIMITS, SOME_BYTES } from '../../base/limits.ts';
import { bytes, type CheckedOf, flag, milliseconds, TypedMistake } from '../../base/options.ts';
import { type CurvePoint, endOfCurve, parseCurve } from '../../sim/curve.ts';
import { grow, isOnSimulatedMachine } from '../../sim/grow.ts';
import { type Command, finished } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { sizeOf } from '../core/options.ts';
import { optionTable, ownOptions, typedText } from '../core/typed-options.ts';
import { UsageError } from '../core/usage.ts';

/** A line of output each time that the memory has changed by so much. */
const LINE_BYTES = 10 * GiB;

const OPTIONS = {
  rate: typedText((word, name) => sizeOf(word.replace(/\/s$/, ''), name, 'sim grow'), {
    placeholder: '<size>',
    help: 'Growth per simulated second, such as 4GiB/s',
  }),
  to: bytes({ ...SOME_BYTES, help: 'Grow up to this size' }),
  curve: typedText(pointsOf, {
    placeholder: '<points>',
    help: 'Instead: times and sizes, such as 5s:20GiB,5.1s:60GiB,5.3s:20GiB. Between two a line',
  }),
  holdMs: milliseconds({ ...LIMITS.holdMs, default: 0, help: 'Keep the last size for this time' }),
  gpu: flag({ help: 'Memory of the GPU, by cudaMalloc' }),
};

export const simGrowCommand: Command = {
  name: 'sim grow',
  usage: '--rate <size> --to <size> | --curve <points> [options]',
  description:
    'Takes memory of the simulated machine that it was started on, for umaprobe sim run and the guard: the memory of the process, or with --gpu memory of the GPU through CUDA. ' +
    'It takes none of this computer, and refuses to run on a real machine.\n' +
    'Where the machine has no memory left, it waits, as a program does in a page fault; on a frozen machine it waits for ever.',
  options: optionTable(OPTIONS),
  examples: [
    {
      command: 'umaprobe sim run gb10 -- umaprobe sim grow --rate 4GiB/s --to 200GiB',
      means: 'a program that freezes the simulated Spark',
    },
    {
      command: 'umaprobe sim run gb10 -- umaprobe sim grow --curve 2s:30GiB,2.01s:60GiB,2.2s:30GiB,4s:30GiB --gpu',
      means: 'a plateau with a spike',
    },
  ],
  readsMachine: false,
  async run({ values, json, stdout }) {
    if (json) throw new UsageError('sim grow prints lines while it runs; it has no document.');
    const { gpu, holdMs, ...growth } = ownOptions(values, OPTIONS, 'sim grow');
    const curve = curveOf(growth);
    if (!isOnSimulatedMachine()) {
      throw new UsageError(
        'sim grow takes memory of a simulated machine only: umaprobe sim run gb10 -- umaprobe sim grow …',
      );
    }
    let [printed, most] = [0, 0];
    const onChange = (bytes: number, afterMs: number): void => {
      most = Math.max(most, bytes);
      if (Math.abs(bytes - printed) < LINE_BYTES) return;
      printed = bytes;
      stdout.write(`holds ${formatBytes(bytes)} after ${formatDuration(afterMs)} (simulated)\n`);
    };
    await grow({ curve, gpu, holdMs, onChange });
    const kind = gpu ? 'GPU memory' : 'memory';
    stdout.write(`done: at most ${formatBytes(most)} of ${kind} (simulated)\n`);
    return finished(EXIT.success);
  },
};

function pointsOf(typed: string, name: string): CurvePoint[] {
  const curve = parseCurve(typed);
  if (typeof curve === 'string') throw new TypedMistake(`${name}: ${curve}.`);
  checkTime(endOfCurve(curve).afterMs, name);
  return curve;
}

function curveOf({ curve, rate, to }: Pick<CheckedOf<typeof OPTIONS>, 'curve' | 'rate' | 'to'>): CurvePoint[] {
  if (curve !== undefined) {
    if (rate === undefined && to === undefined) return curve;
    throw new UsageError('--curve says times and sizes itself: leave out --rate and --to.');
  }
  if (rate === undefined || to === undefined)
    throw new UsageError('Say how it grows: --rate 4GiB/s --to 110GiB, or --curve 5s:20GiB,6s:80GiB.');
  const afterMs = (to / rate) * 1000;
  checkTime(afterMs, '--rate');
  return [{ afterMs, bytes: to }];
}

function checkTime(ms: number, option: string): void {
  if (ms <= LIMITS.holdMs.max) return;
  throw new UsageError(`${option} takes ${formatDuration(ms)}; at most ${formatDuration(LIMITS.holdMs.max)}.`);
}
