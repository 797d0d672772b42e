/** Plan and receipt of a launch, row by row: for the terminal and for the page. */
import { formatBoth, formatBytes, formatCount } from '../../base/format.ts';
import type {
  EstimateRange,
  FitReport,
  LaunchExpectation,
  LaunchExtra,
  LaunchGpu,
  LaunchPlan,
  LaunchReceipt,
  LaunchReport,
} from '../../types/index.ts';
import { MODEL_PROGRAMS } from '../../types/programs.ts';
import { signed } from './text/cache-actions.ts';

/** A label and its sentence; null: it does not apply. */
export type LaunchRow = readonly [label: string, text: string | null];

/** The answer of fit with what to do first, where that is the answer of the launch; null: nothing has to be done, or it is not. */
export function adviceOf({ fit, summary }: LaunchPlan): FitReport | null {
  return fit === null || fit.summary !== summary || fit.expectedFits === true ? null : fit;
}

/** The understood part of the command, and its expected memory. */
export function planRows({ expected, ranks, recognised }: LaunchPlan): LaunchRow[] {
  const { assumed, limits, model, program, understood, unread, wrappers } = recognised;
  const started = wrappers.length === 0 ? '' : `, started by ${wrappers.join(', ')}`;
  const settings = understood.map(({ option, value }) => `${option} ${value}`.trim()).join(', ');
  const file = recognised.modelFile === null ? '' : ` (${recognised.modelFile})`;
  return [
    ['program', program === null ? null : MODEL_PROGRAMS[program] + started],
    ['model', model === null ? null : model + file],
    ['settings', settings === '' ? null : settings],
    ...assumed.map((text) => ['assumed', text] as const),
    ...unread.map(({ text }) => ['unclear', text] as const),
    ...limits.map((text) => ['limit', text] as const),
    ...ranks.map(({ host, summary }) => ['machine', `${host}: ${summary}`] as const),
    ...(expected?.extras ?? []).map((extra) => ['besides', extraText(extra)] as const),
    [
      'expected',
      expected === null
        ? null
        : `${needText(expected)}: weights ${formatBytes(expected.weights)}, ` +
          `${formatCount(expected.context)} tokens × ${formatCount(expected.sequences)}`,
    ],
  ];
}

function needText({ host, total }: LaunchExpectation): string {
  const ofHost = host === null || host.high === 0 ? '' : `, and ${rangeText(host)} of the host`;
  return `${rangeText(total)}${host === null ? '' : ' of the GPU'}${ofHost}`;
}

/** "19.0 GiB, at most 20.2 GiB". */
function rangeText({ bytes, high }: EstimateRange): string {
  return `${bytes === 0 ? '' : `${formatBytes(bytes)}, `}at most ${formatBytes(high)}`;
}

function extraText({ bytes, high, name, option }: LaunchExtra): string {
  return `${option} ${name}: ${formatBytes(bytes)}${high > bytes ? `, at most ${formatBytes(high)}` : ''}`;
}

/** The peak, and how near the host came to its floor. */
export function tookText({ expected, floor, gpus, headroom, took }: LaunchReceipt): string {
  const isOwn = gpus.length > 0 || (expected?.host ?? null) !== null;
  const stayed = headroom >= 0 ? `${formatBytes(headroom)} stayed above` : `it went ${formatBytes(-headroom)} below`;
  return `It took at most ${formatBoth(took.peak)}${isOwn ? ' of the host' : ''}, and ${stayed} the floor of ${formatBytes(floor.bytes)}.`;
}

/** Memory that the launch took and gave back, and why its recording is missing or not whole. */
export function receiptRows(
  { after, before, expected, flags, floor, gpuProblem, gpus, headroom, own, took }: LaunchReceipt,
  record: LaunchReport['record'],
): LaunchRow[] {
  const size = (bytes: number | null): string | null => (bytes === null ? null : formatBoth(bytes));
  const beside = (need: EstimateRange | undefined): string =>
    need === undefined ? '' : `; expected ${formatBytes(need.bytes)}`;
  const host = expected?.host ?? null;
  const ofHost = host === null ? beside(expected?.total) : `; expected ${rangeText(host)} for loading and data`;
  const isOwn = gpus.length > 0 || gpuProblem !== null || host !== null;
  return [
    ['before', `${formatBoth(before.available)} available, ${formatBytes(before.free)} free`],
    [
      'weights',
      took.weights === null ? null : `${formatBoth(took.weights)}; expected ${formatBytes(expected?.weights ?? null)}`,
    ],
    ['loaded', size(took.loaded)],
    ...gpus.flatMap((gpu) => gpuRows(gpu, host === null ? '' : beside(expected?.total))),
    ['unknown', gpuProblem],
    ['unexpected', elsewhereText(expected, gpus, gpuProblem)],
    [isOwn ? 'host peak' : 'peak', `${formatBoth(took.peak)}${ofHost}`],
    ['plateau', size(took.plateau)],
    ['its own', ownText(own)],
    ['headroom', headroomText(headroom, floor.bytes)],
    [
      'after',
      after === null
        ? null
        : `${formatBoth(after.available)} available (${signed(after.returned)})` +
          (after.missing === 0 ? '' : `; ${formatBytes(after.missing)} less than before`),
    ],
    ['flags', flags === null ? null : flags.from],
    ['recording', recordingText(record)],
  ];
}

/** The memory was taken elsewhere than expected, so the peaks say nothing about the estimate. */
function elsewhereText(
  expected: LaunchExpectation | null,
  gpus: readonly LaunchGpu[],
  gpuProblem: string | null,
): string | null {
  if (expected === null) return null;
  const wanted = `${formatBytes(expected.total.bytes)} were expected of`;
  if (expected.host === null)
    return gpus.length === 0
      ? null
      : `${wanted} the memory that CPU and GPU share; it took the own memory of ${gpus.map(({ index }) => `GPU ${index}`).join(', ')}`;
  return gpus.length > 0 || gpuProblem !== null ? null : `${wanted} the GPU's own memory; it took none that counts`;
}

/** null: there is nothing to say: it was not wanted, or all of it is on disk. */
function recordingText(record: LaunchReport['record']): string | null {
  if (record === null || record.failure === null) return null;
  return `${record.folder === null ? 'none' : 'not whole'}: ${record.failure}`;
}

function headroomText(headroom: number, floor: number): string {
  return headroom >= 0
    ? `${formatBoth(headroom)} above the floor of ${formatBytes(floor)}`
    : `${formatBoth(-headroom)} below the floor of ${formatBytes(floor)}`;
}

function ownText({ bytes, gpuBytes }: LaunchReceipt['own']): string | null {
  if (bytes === null && gpuBytes === null) return null;
  const parts = [
    ...(bytes === null ? [] : [`${formatBoth(bytes)} of the host`]),
    ...(gpuBytes === null ? [] : [`${formatBoth(gpuBytes)} of the GPU`]),
  ];
  return `at most ${parts.join(', ')}`;
}

/** GPUs of one machine often have the same name: the number tells them apart. */
function gpuRows({ after, before, index, left, name, peak, total }: LaunchGpu, expected: string): LaunchRow[] {
  const label = `GPU ${index}`;
  const rest = after === null ? 'not known' : formatBytes(after);
  const most =
    peak === null
      ? 'its peak is not known'
      : `${formatBoth(peak - before)}${expected}; ${formatBytes(left)} of ${formatBytes(total)} stayed`;
  return [
    [`${label} peak`, most],
    [label, `${name ?? 'unknown'}: ${formatBytes(before)} in use before, at most ${formatBytes(peak)}, ${rest} after`],
  ];
}
