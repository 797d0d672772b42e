/** Colours as the style sheet has them at this moment: light, dark, or light again on paper. */
import type { AllocatorKind } from '../lib/types/index.ts';

export interface Theme {
  ink: string;
  soft: string;
  line: string;
  panel: string;
  warn: string;
  kinds: Record<AllocatorKind, string>;
  font: string;
}

/** Dashes besides colours: two lines can be told apart on a grey print, too. */
export const DASHES: Readonly<Record<AllocatorKind, number[]>> = {
  device: [],
  managed: [9, 4],
  pinned: [2, 3],
  system: [9, 3, 2, 3],
};

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour('ink'),
    soft: colour('soft'),
    line: colour('line'),
    panel: colour('panel'),
    warn: colour('warn'),
    kinds: { device: colour('device'), managed: colour('managed'), pinned: colour('pinned'), system: colour('system') },
    font: `12px ${style.getPropertyValue('font-family')}`,
  };
}
