/** What machine this is, and in a band that cannot be missed whether it is a simulated one. */
import { clean, formatBoth } from '../../base/format.ts';
import { type HealthVerdict, health, type Level } from '../../memory/health.ts';
import type { DeviceSnapshot, MemoryModel, Snapshot } from '../../types/index.ts';
import { dot, type RenderOptions } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging, joinThatFits, padEnd, truncate, wrap } from '../text-layout.ts';
import { totalWords } from './snapshot-memory.ts';

export const MODEL_WORDS: Readonly<Record<MemoryModel, string>> = {
  unified: 'unified memory',
  coherent: 'coherent memory of its own',
  discrete: 'memory of its own',
  unknown: 'memory model unknown',
};

export function header(snapshot: Snapshot, options: RenderOptions): string[] {
  const { simulated, kernel, driver, libraries } = snapshot;
  const lines: string[] = [];
  if (simulated !== null) lines.push(band(simulated, options));
  for (const device of snapshot.devices) lines.push(options.paint('strong', deviceLine(device, options)));
  const parts = [
    simulated === null ? options.hostName : null,
    kernel.release === null ? null : `Linux ${kernel.release}`,
    driver.version === null ? null : `driver ${driver.version}`,
    libraries.cuda.version === null ? null : `CUDA ${libraries.cuda.version}`,
    `memory ${totalWords(snapshot.ledger, options)}`,
    `${snapshot.at.slice(11, 19)} UTC`,
  ];
  const words = parts.filter((part) => part !== null).map(clean);
  lines.push(...fill(words, options));
  return lines;
}

/** "a · b · c", broken between parts. */
export function fill(parts: readonly string[], options: RenderOptions): string[] {
  const glue = '\u00a0';
  const separator = dot(options);
  return wrap(parts.map((part) => part.replaceAll(' ', glue)).join(separator), options.width).map((line) =>
    line
      .replaceAll(glue, ' ')
      .replace(/ [·|]$/, '')
      .replace(/^[·|] /, ''),
  );
}

/** @param more what else to know of its numbers. */
export function band(name: string, options: RenderOptions, more = ''): string {
  const words = ` SIMULATED  machine ${clean(name)}: none of these numbers comes from hardware${more} `;
  return options.paint('simulated', padEnd(truncate(words, options.width), options.width));
}

function deviceLine(device: DeviceSnapshot, options: RenderOptions): string {
  const parts = [
    `GPU ${device.index}  ${clean(device.name ?? 'unnamed')}`,
    MODEL_WORDS[device.memoryModel],
    ownMemory(device),
    device.temperatureC === null ? null : `${device.temperatureC} °C`,
    device.powerW === null ? null : `${Math.round(device.powerW)} W`,
    device.utilizationPercent === null ? null : `${device.utilizationPercent} % busy`,
  ];
  const words = joinThatFits(
    parts.filter((part) => part !== null),
    dot(options),
    options.width,
  );
  return options.unicode ? words : words.replaceAll('°', '');
}

function ownMemory({ memoryModel, nvml, cuda }: DeviceSnapshot): string | null {
  if (memoryModel === 'unified') return null;
  const total = nvml?.total ?? cuda?.total ?? null;
  return total === null ? null : formatBoth(total);
}

const WORDS: Readonly<Record<Level, string>> = { ok: 'OK', notice: 'NOTE', warning: 'WARNING', danger: 'DANGER' };

const STYLES: Readonly<Record<Level, Style>> = { ok: 'ok', notice: 'notice', warning: 'warning', danger: 'danger' };

export function verdict(snapshot: Snapshot, options: RenderOptions): string[] {
  return draw(health(snapshot), options);
}

export function draw({ level, text, next }: HealthVerdict, options: RenderOptions): string[] {
  const label = WORDS[level];
  const [first = '', ...more] = hanging(`${label}  `, text, options.width);
  const lines = [options.paint(STYLES[level], label) + first.slice(label.length), ...more];
  if (next === null) return lines;
  const indent = ' '.repeat(label.length + 2);
  const arrow = options.unicode ? '→ ' : '-> ';
  return [...lines, ...hanging(indent + arrow, next, options.width)];
}
