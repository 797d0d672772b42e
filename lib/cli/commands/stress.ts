import { inGiB, MiB, typedSize } from '../../base/format.ts';
import { ANY_BYTES, LIMITS } from '../../base/limits.ts';
import { DEFAULT_SHARE_TEXT, MIN_SHARE } from '../../core/memory/others.ts';
import { stress } from '../../core/stress/index.ts';
import type { RenderOptions } from '../../show/render/options.ts';
import { stressPage, stressStepLine } from '../../show/render/text/stress.ts';
import { toCsv, toHtml } from '../../show/report/index.ts';
import type { StressOptions } from '../../types/index.ts';
import type { Command, OptionValues } from '../core/command.ts';
import { duration, flag, size, text } from '../core/options.ts';
import { UsageError } from '../core/usage.ts';
import { FULL, KIND_OPTION, kind, OUTPUT_OPTIONS, probeOptions, SAFETY_OPTIONS } from './probe-options.ts';
import { runProbe, stressExit } from './probe-run.ts';
import { reportsOf, writeReports } from './reports.ts';

const NAME = 'stress';

export const stressCommand: Command = {
  name: NAME,
  usage: '[options]',
  description:
    'Allocates in a child process, starting small. The cost of each step is predicted from the last one and checked against the floor first; near the limit steps are halved. A native thread watches the machine throughout. ' +
    'Reports the maximum, what limited it, and what did not come back.\n' +
    'Exit code: 0 limit or out-of-memory, 6 share, floor, pressure, contiguity or timeout (the maximum is still valid), 1 failed or lost, 130 Ctrl-C.',
  options: {
    ...KIND_OPTION,
    single: { type: 'boolean', summary: 'The largest single block instead of the total' },
    max: { type: 'string', placeholder: '<size>', summary: 'Stop at this size' },
    chunk: {
      type: 'string',
      placeholder: '<size>',
      summary: `Largest step: ${typedSize(LIMITS.chunkBytes.min)} to ${typedSize(LIMITS.chunkBytes.max)} (default 4GiB on unified memory)`,
    },
    share: {
      type: 'string',
      placeholder: '<size>',
      summary: `Memory of the GPU left free for its other users (default: ${DEFAULT_SHARE_TEXT}; at least ${MIN_SHARE / MiB}MiB)`,
    },
    'i-accept-that-others-run-out': {
      type: 'boolean',
      summary: `Accept a share below ${MIN_SHARE / MiB}MiB: the GPU's other users may fail for lack of memory`,
    },
    verify: { type: 'boolean', summary: 'Have the GPU read every byte back and compare' },
    hold: { type: 'string', placeholder: '<time>', summary: 'Hold the maximum for this time, up to 24h' },
    resume: { type: 'boolean', summary: 'Start below the step at which an earlier run was lost' },
    full: FULL,
    ...OUTPUT_OPTIONS,
    ...SAFETY_OPTIONS,
  },
  examples: [
    { command: 'umaprobe stress', means: 'the most that can be held at once' },
    { command: 'umaprobe stress --sim gb10', means: 'the same, on a simulated machine' },
    { command: 'umaprobe stress --max 60GB --verify --hold 10s', means: 'can 60 GB be held, and is every byte right?' },
    { command: 'umaprobe stress --single --kind managed', means: 'the largest single block' },
  ],
  readsMachine: true,
  arguments: { min: 0, max: 0, afterDashes: false, bareWord: { option: 'max', pattern: /^\d/ } },
  async run(context) {
    const { values, json } = context;
    const reports = reportsOf(values, json, NAME);
    const options = stressOptions(values);
    let steps = 0;
    const { report, signalCode } = await runProbe(context, 'starting', ({ signal, prepared, live }) =>
      stress({
        ...options,
        ...probeOptions(values, NAME),
        signal,
        onEvent(event) {
          if (event.type !== 'step') return prepared(event);
          const { heldBytes, expectedBytes, etaMs } = event.progress;
          steps++;
          live.step(stressStepLine(event.step, steps), {
            share: expectedBytes === null || expectedBytes <= 0 ? null : Math.min(1, heldBytes / expectedBytes),
            etaMs,
            label: `held ${inGiB(heldBytes)} GiB`,
          });
        },
      }),
    );
    const forms = {
      page: (options: RenderOptions) => stressPage(report, options, { full: flag(values, 'full') }),
      csv: () => toCsv(report),
      html: () => toHtml(report),
    };
    return writeReports(reports, forms, report, stressExit(report, signalCode), context);
  },
};

function stressOptions(values: OptionValues): StressOptions {
  const requested = kind(values, NAME);
  const max = size(values, 'max', NAME);
  const chunk = size(values, 'chunk', NAME, LIMITS.chunkBytes);
  const accept = flag(values, 'i-accept-that-others-run-out');
  const shareBytes = shareOf(values, accept);
  const holdMs = duration(values, 'hold', LIMITS.holdMs, 0, NAME);
  return {
    ...(requested === undefined ? {} : { kind: requested }),
    ...(flag(values, 'single') ? { single: true } : {}),
    ...(max === undefined ? {} : { maxBytes: max }),
    ...(shareBytes === undefined ? {} : { shareBytes }),
    ...(accept ? { acceptThatOthersRunOut: true } : {}),
    ...(chunk === undefined ? {} : { chunkBytes: chunk }),
    ...(flag(values, 'verify') ? { verify: true } : {}),
    ...(holdMs === 0 ? {} : { holdMs }),
    ...(flag(values, 'resume') ? { resume: true } : {}),
  };
}

function shareOf(values: OptionValues, accept: boolean): number | undefined {
  const share = size(values, 'share', NAME, ANY_BYTES);
  if (share === undefined || share >= MIN_SHARE || accept) return share;
  throw new UsageError(
    `--share "${text(values, 'share')}" is below ${MIN_SHARE / MiB}MiB: the GPU's other users fail without memory. ` +
      'Give a larger share, or add --i-accept-that-others-run-out.',
    NAME,
  );
}
