/** Colours by meaning: code that paints names the meaning of a text, never its colour. */
import { type KindStyle, PALETTE } from './kinds.ts';

export type Style =
  | KindStyle
  | 'free'
  | 'gpu'
  | 'anonymous'
  | 'cache'
  | 'shared'
  | 'kernel'
  | 'huge'
  | 'unattributed'
  | 'ok'
  | 'notice'
  | 'warning'
  | 'danger'
  | 'strong'
  | 'dim'
  | 'heading'
  | 'selected'
  | 'simulated';

/** Bits of colour: none, 16 or 256 colours. */
export type Depth = 0 | 4 | 8;

export interface Paint {
  (style: Style, text: string): string;
  /** Paints the background, for the cells of a bar. */
  fill(style: Style, text: string): string;
  readonly depth: Depth;
}

interface Colours {
  /** SGR of the 16 colours. */
  basic: string;
  /** SGR of the 256 colours. */
  rich: string;
  /** The same two as a filled cell, with a text colour that can be read on it. */
  fillBasic?: string;
  fillRich?: string;
}

const COLOURS: Readonly<Record<Style, Colours>> = {
  ...PALETTE,
  gpu: { basic: '32', rich: '38;5;112', fillBasic: '30;42', fillRich: '38;5;16;48;5;112' },
  anonymous: { basic: '34', rich: '38;5;75', fillBasic: '37;44', fillRich: '38;5;16;48;5;75' },
  cache: { basic: '33', rich: '38;5;221', fillBasic: '30;43', fillRich: '38;5;16;48;5;221' },
  shared: { basic: '36', rich: '38;5;80', fillBasic: '30;46', fillRich: '38;5;16;48;5;80' },
  kernel: { basic: '35', rich: '38;5;176', fillBasic: '37;45', fillRich: '38;5;16;48;5;176' },
  huge: { basic: '31', rich: '38;5;209', fillBasic: '37;41', fillRich: '38;5;16;48;5;209' },
  unattributed: { basic: '37', rich: '38;5;250', fillBasic: '30;47', fillRich: '38;5;16;48;5;250' },
  free: { basic: '90', rich: '38;5;243', fillBasic: '90', fillRich: '38;5;243' },
  ok: { basic: '32', rich: '38;5;112' },
  notice: { basic: '36', rich: '38;5;80' },
  warning: { basic: '33', rich: '38;5;221' },
  danger: { basic: '1;31', rich: '1;38;5;203' },
  strong: { basic: '1', rich: '1' },
  dim: { basic: '2', rich: '2' },
  heading: { basic: '1', rich: '1' },
  selected: { basic: '7', rich: '7' },
  simulated: { basic: '1;30;45', rich: '1;38;5;16;48;5;213' },
};

const RESET = '\x1b[0m';
const SEQUENCES: ReadonlySet<string> = new Set([
  RESET,
  ...Object.values(COLOURS)
    .flatMap(({ basic, fillBasic, fillRich, rich }) => [basic, rich, fillBasic, fillRich])
    .filter((sgr) => sgr !== undefined)
    .map((sgr) => `\x1b[${sgr}m`),
]);

/** True if a sequence is one that a paint makes. */
export function isPaint(sequence: string): boolean {
  return SEQUENCES.has(sequence);
}

export function createPaint(depth: Depth): Paint {
  const wrap = (sgr: string | undefined, text: string): string =>
    depth === 0 || sgr === undefined || text === '' ? text : `\x1b[${sgr}m${text}${RESET}`;
  const foreground = (style: Style, text: string): string => {
    const colours = COLOURS[style];
    return wrap(depth === 8 ? colours.rich : colours.basic, text);
  };
  const fill = (style: Style, text: string): string => {
    const colours = COLOURS[style];
    return wrap(depth === 8 ? (colours.fillRich ?? colours.rich) : (colours.fillBasic ?? colours.basic), text);
  };
  return Object.assign(foreground, { fill, depth });
}
