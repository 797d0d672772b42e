/** Colours as the style sheet has them at this moment: light, dark, or light again on paper. */
import { KIND_STYLES } from '../lib/show/render/kinds.ts';

const NAMES = ['ink', 'soft', 'line', 'panel', 'warn', ...KIND_STYLES] as const;

export interface Theme {
  colours: Readonly<Record<(typeof NAMES)[number], string>>;
  font: string;
}

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colours = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return {
    colours: Object.fromEntries(colours) as Theme['colours'],
    font: `12px ${style.getPropertyValue('font-family')}`,
  };
}
