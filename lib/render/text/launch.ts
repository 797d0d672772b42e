/** A launch: the plan before, the receipt after. */
import { clean, formatBoth, formatBytes, formatCount } from '../../base/format.ts';
import type { FitVerdict, LaunchExtra, LaunchPlan, LaunchReceipt, LaunchStep } from '../../types/index.ts';
import { MODEL_PROGRAMS } from '../../types/programs.ts';
import type { RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, truncate } from '../text-layout.ts';
import { signed } from './cache-actions.ts';
import { labelled, sections, simulatedBand } from './frame.ts';

const VERDICTS: Readonly<Record<FitVerdict, readonly [label: string, style: Style]>> = {
  fits: ['FITS', 'ok'],
  'fits-after': ['FITS AFTER', 'notice'],
  tight: ['TIGHT', 'warning'],
  no: ['NO', 'danger'],
  unknown: ['UNKNOWN', 'warning'],
};

/** What is going to be done, and why. */
export function launchPlanLines(plan: LaunchPlan, options: RenderOptions): string[] {
  const { simulated } = plan;
  const [label, style] = VERDICTS[plan.verdict];
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options)],
    [options.paint('strong', truncate(clean(`LAUNCH  ${plan.command.join(' ')}`), options.width))],
    commandLines(plan, options),
    launchStepLines(plan.steps, options),
    [...labelled(label, style, clean(plan.summary), options), ...flagLines(plan.flags, options)],
  );
}

function rows(list: readonly (readonly [label: string, text: string | null])[], width: number): string[] {
  return list.flatMap(([label, text]) => (text === null ? [] : hanging(label.padEnd(12), clean(text), width)));
}

function commandLines({ expected, recognised }: LaunchPlan, { width }: RenderOptions): string[] {
  const { assumed, limits, model, program, understood, unread, wrappers } = recognised;
  const started = wrappers.length === 0 ? '' : `, started by ${wrappers.join(', ')}`;
  const settings = understood.map(({ option, value }) => `${option} ${value}`.trim()).join(', ');
  const file = recognised.modelFile === null ? '' : ` (${recognised.modelFile})`;
  return rows(
    [
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
    ],
    width,
  );
}

function extraText({ bytes, high, name, option }: LaunchExtra): string {
  return `${option} ${name}: ${formatBytes(bytes)}${high > bytes ? `, at most ${formatBytes(high)}` : ''}`;
}

const STEP_STYLES = { planned: 'notice', done: 'ok', skipped: 'dim', failed: 'danger' } as const;

export function launchStepLines(steps: readonly LaunchStep[], { paint, width }: RenderOptions): string[] {
  return steps.flatMap(({ state, step, text }) => {
    const head = `${state.padEnd(9)}${step.padEnd(9)}`;
    const [first = '', ...more] = hanging(head, clean(text), width);
    return [paint(STEP_STYLES[state], head) + first.slice(head.length), ...more];
  });
}

/** Flags are pasted: they are not broken. */
function flagLines(flags: LaunchPlan['flags'], { paint, unicode, width }: RenderOptions): string[] {
  if (flags === null) return [];
  const arrow = unicode ? '→' : '->';
  return [
    ...(flags.safe === null ? [] : [`  ${arrow} ${paint('strong', flags.safe)}`]),
    ...hanging('    ', flags.from, width),
  ];
}

/** What the launch took and gave back. */
export function launchReceiptLines(receipt: LaunchReceipt, simulated: string | null, options: RenderOptions): string[] {
  const { after, before, expected, flags, floor, headroom, own, took } = receipt;
  const { width } = options;
  const size = (bytes: number | null): string | null => (bytes === null ? null : formatBoth(bytes));
  const plan = expected === null ? '' : `; expected ${formatBytes(expected.total.bytes)}`;
  const kept =
    headroom >= 0
      ? `${formatBoth(headroom)} above the floor of ${formatBytes(floor.bytes)}`
      : `${formatBoth(-headroom)} below the floor of ${formatBytes(floor.bytes)}`;
  return sections(
    simulated === null ? [] : [simulatedBand(simulated, options)],
    [options.paint('heading', 'Receipt')],
    rows(
      [
        ['before', `${formatBoth(before.available)} available, ${formatBytes(before.free)} free`],
        [
          'weights',
          took.weights === null
            ? null
            : `${formatBoth(took.weights)}; expected ${formatBytes(expected?.weights ?? null)}`,
        ],
        ['loaded', size(took.loaded)],
        ['peak', `${formatBoth(took.peak)}${plan}`],
        ['plateau', size(took.plateau)],
        ['its own', ownText(own)],
        ['headroom', kept],
        [
          'after',
          after === null
            ? null
            : `${formatBoth(after.available)} available (${signed(after.returned)})` +
              (after.missing === 0 ? '' : `; ${formatBytes(after.missing)} less than before`),
        ],
        ['flags', flags === null ? null : flags.from],
      ],
      width,
    ),
    flags?.safe == null ? [] : [`${options.unicode ? '→' : '->'} ${options.paint('strong', flags.safe)}`],
  );
}

function ownText({ bytes, gpuBytes }: LaunchReceipt['own']): string | null {
  if (bytes === null && gpuBytes === null) return null;
  const parts = [
    ...(bytes === null ? [] : [`${formatBoth(bytes)} of the host`]),
    ...(gpuBytes === null ? [] : [`${formatBoth(gpuBytes)} of the GPU`]),
  ];
  return `at most ${parts.join(', ')}`;
}
