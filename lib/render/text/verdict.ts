/** The line of judgement, drawn. */

import { type Judgement, judge, type Level } from '../../memory/health.ts';
import type { Snapshot } from '../../types/index.ts';
import type { Look } from '../options.ts';
import type { Style } from '../paint.ts';
import { hanging } from '../text-layout.ts';

const WORDS: Readonly<Record<Level, string>> = { ok: 'OK', notice: 'NOTE', warning: 'WARNING', danger: 'DANGER' };
const STYLES: Readonly<Record<Level, Style>> = { ok: 'ok', notice: 'notice', warning: 'warning', danger: 'danger' };

export function verdict(snapshot: Snapshot, look: Look): string[] {
  return draw(judge(snapshot), look);
}

export function draw({ level, text, next }: Judgement, look: Look): string[] {
  const label = WORDS[level];
  const [first = '', ...more] = hanging(`${label}  `, text, look.width);
  const lines = [look.paint(STYLES[level], label) + first.slice(label.length), ...more];
  if (next === null) return lines;
  const indent = ' '.repeat(label.length + 2);
  const arrow = look.unicode ? '→ ' : '-> ';
  return [...lines, ...hanging(indent + arrow, next, look.width)];
}
