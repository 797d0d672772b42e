/** The verdict over the memory of a machine, above everything else, and what machine it is. */
import { clean, formatBoth, formatCount } from '../../../base/format.ts';
import { answer } from '../../../core/memory/answer.ts';
import { goneFailure } from '../../../core/memory/device-health.ts';
import type { DeviceSnapshot, Level, MemoryModel, Snapshot } from '../../../types/index.ts';
import { dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { joinThatFits } from '../text-layout.ts';
import { flow, labelled, nextLines } from './frame.ts';
import { totalText } from './snapshot-memory.ts';

export const MODEL_LABELS: Readonly<Record<MemoryModel, string>> = {
  unified: 'unified memory',
  coherent: 'dedicated coherent memory',
  discrete: 'dedicated memory',
  unknown: 'memory model unknown',
};

/** The GPUs, and the versions that the numbers depend on. */
export function headerLines(snapshot: Snapshot, options: RenderOptions): string[] {
  const { simulated, kernel, driver, libraries } = snapshot;
  const facts = [
    simulated === null ? options.hostName : null,
    kernel.release === null ? null : `Linux ${kernel.release}`,
    driver.version === null ? null : `driver ${driver.version}`,
    libraries.cuda.version === null ? null : `CUDA ${libraries.cuda.version}`,
    capabilityText(snapshot),
    `memory ${totalText(snapshot.ledger, options)}`,
    `${snapshot.at.slice(11, 19)} UTC`,
  ].filter((part) => part !== null);
  return [
    ...snapshot.devices.map((device) => options.paint('strong', deviceLine(device, options))),
    ...flow(facts.map(clean), options),
  ];
}

/** "compute capability 12.1"; of several GPUs each that occurs. */
function capabilityText({ devices }: Snapshot): string | null {
  const known = new Set(devices.flatMap(({ computeCapability }) => computeCapability ?? []));
  return known.size === 0 ? null : `compute capability ${[...known].join(', ')}`;
}

export function deviceLine(device: DeviceSnapshot, options: RenderOptions): string {
  const parts = [
    `GPU ${device.index}  ${clean(device.name ?? 'unnamed')}`,
    hiddenText(device),
    goneFailure(device.failures)?.meaning.gone?.replace(/^is /, '') ?? MODEL_LABELS[device.memoryModel],
    dedicatedTotal(device),
    device.temperatureC === null ? null : `${device.temperatureC} °C`,
    device.powerW === null ? null : `${Math.round(device.powerW)} W`,
    device.utilizationPercent === null ? null : `${device.utilizationPercent} % busy`,
  ].filter((part) => part !== null);
  const line = joinThatFits(parts, dot(options), options.cut);
  return options.unicode ? line : line.replaceAll('°', '');
}

/** The variable of the caller: the machine has the GPU, programs that are started here do not find it. */
function hiddenText({ visible, from }: DeviceSnapshot): string | null {
  if (visible !== false) return null;
  return /hides it$/.test(from.visible ?? '') ? 'hidden by CUDA_VISIBLE_DEVICES' : 'not seen by CUDA';
}

function dedicatedTotal({ memoryModel, nvml, cuda }: DeviceSnapshot): string | null {
  if (memoryModel === 'unified') return null;
  const total = nvml?.total ?? cuda?.total ?? null;
  return total === null ? null : formatBoth(total);
}

/** The label of a verdict, and its colour. */
export const LEVELS: Readonly<Record<Level, readonly [label: string, style: Style]>> = {
  ok: ['OK', 'ok'],
  notice: ['NOTE', 'notice'],
  warning: ['WARNING', 'warning'],
  danger: ['DANGER', 'danger'],
};

/** The answer comes first: the bytes that can be loaded, a sentence about the whole machine, and the next step. */
export function verdictLines(snapshot: Snapshot, options: RenderOptions): string[] {
  return [...answerLines(snapshot, options), ...sentenceLines(snapshot, options)];
}

export function answerLines(snapshot: Snapshot, options: RenderOptions): string[] {
  const [label, style] = LEVELS[snapshot.judgement.level];
  return labelled(label, style, `${answer(snapshot, options.exact ? exactly : formatBoth)}.`, options);
}

/** Sentence beside the label of the answer, which is not said twice. @param remedy true: the remedy follows. */
export function sentenceLines(
  { judgement }: Snapshot,
  options: RenderOptions,
  { remedy = true }: { remedy?: boolean } = {},
): string[] {
  const { because, findings, level, next } = judgement;
  const [label, style] = LEVELS[level];
  const [first = '', ...more] = labelled(label, style, because, options);
  const lines = [first.replace(options.paint(style, label), ' '.repeat(label.length)), ...more];
  if (next === null || !remedy) return lines;
  const command = findings.find(({ remedy }) => remedy?.text === next)?.remedy?.command ?? null;
  return [...lines, ...nextLines(label, { text: next, command }, options)];
}

function exactly(bytes: number | null): string {
  return `${formatCount(bytes)} B`;
}
