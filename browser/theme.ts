/** Colours as the style sheet has them at this moment: light, dark, or light again on paper. */
import { KIND_STYLES, type KindStyle, PALETTE } from '../lib/render/kinds.ts';

export interface Theme {
  ink: string;
  soft: string;
  line: string;
  panel: string;
  warn: string;
  kinds: Record<KindStyle, string>;
  font: string;
}

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour('ink'),
    soft: colour('soft'),
    line: colour('line'),
    panel: colour('panel'),
    warn: colour('warn'),
    kinds: Object.fromEntries(KIND_STYLES.map((kind) => [kind, colour(kind)])) as Record<KindStyle, string>,
    font: `12px ${style.getPropertyValue('font-family')}`,
  };
}

/** Colour and dash of a line. */
export function stroke(style: KindStyle): { colour(theme: Theme): string; dash: number[] } {
  return { colour: ({ kinds }) => kinds[style], dash: [...PALETTE[style].dash] };
}
