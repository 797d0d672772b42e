/** What the plan and the receipt of a launch say, row by row: for the terminal and for the page. */
import { formatBoth, formatBytes, formatCount } from '../base/format.ts';
import type { LaunchExtra, LaunchPlan, LaunchReceipt } from '../types/index.ts';
import { MODEL_PROGRAMS } from '../types/programs.ts';
import { signed } from './text/cache-actions.ts';

/** A label and its sentence; null: it does not apply. */
export type LaunchRow = readonly [label: string, text: string | null];

/** The command as far as it was understood, and what is expected of it. */
export function planRows({ expected, recognised }: LaunchPlan): LaunchRow[] {
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
    ...(expected?.extras ?? []).map((extra) => ['besides', extraText(extra)] as const),
    [
      'expected',
      expected === null
        ? null
        : `${formatBytes(expected.total.bytes)}, at most ${formatBytes(expected.total.high)}: weights ${formatBytes(expected.weights)}, ` +
          `${formatCount(expected.context)} tokens × ${formatCount(expected.sequences)}`,
    ],
  ];
}

function extraText({ bytes, high, name, option }: LaunchExtra): string {
  return `${option} ${name}: ${formatBytes(bytes)}${high > bytes ? `, at most ${formatBytes(high)}` : ''}`;
}

/** What the launch took and gave back. */
export function receiptRows({
  after,
  before,
  expected,
  flags,
  floor,
  headroom,
  own,
  took,
}: LaunchReceipt): LaunchRow[] {
  const size = (bytes: number | null): string | null => (bytes === null ? null : formatBoth(bytes));
  const plan = expected === null ? '' : `; expected ${formatBytes(expected.total.bytes)}`;
  return [
    ['before', `${formatBoth(before.available)} available, ${formatBytes(before.free)} free`],
    [
      'weights',
      took.weights === null ? null : `${formatBoth(took.weights)}; expected ${formatBytes(expected?.weights ?? null)}`,
    ],
    ['loaded', size(took.loaded)],
    ['peak', `${formatBoth(took.peak)}${plan}`],
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
  ];
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
