/**
 * Look of each kind of memory in a table, a plot and a page: a letter, a colour and a dash, by its place among the
 * kinds. A new kind needs no row here.
 */
import { KINDS } from '../../core/memory/kinds.ts';
import type { AllocatorKind } from '../../types/index.ts';

interface PaletteEntry {
  /** SGR of the 16 and of the 256 colours of a terminal. */
  basic: string;
  rich: string;
  /** Colours of a page on light and on dark ground. */
  light: string;
  dark: string;
  /** Lengths of line and gap: two lines can be told apart in grey print, too. */
  dash: readonly number[];
}

/**
 * The eight colours of Okabe and Ito, which the colour-blind can tell apart (https://jfly.uni-koeln.de/color/): darker
 * on light ground and lighter on dark, for a contrast of at least 3:1. The names are classes and properties of a page.
 */
export const PALETTE = {
  'kind-1': { basic: '34', rich: '38;5;75', light: '#0072b2', dark: '#56b4e9', dash: [] },
  'kind-2': { basic: '33', rich: '38;5;214', light: '#c65a00', dark: '#f0a04b', dash: [9, 4] },
  'kind-3': { basic: '32', rich: '38;5;43', light: '#00805e', dark: '#35c49c', dash: [2, 3] },
  'kind-4': { basic: '35', rich: '38;5;175', light: '#a64f86', dark: '#e394c4', dash: [9, 3, 2, 3] },
  'kind-5': { basic: '93', rich: '38;5;227', light: '#8a7600', dark: '#f0e442', dash: [5, 3] },
  'kind-6': { basic: '36', rich: '38;5;33', light: '#2f8fc9', dark: '#4c8fdc', dash: [14, 4] },
  'kind-7': { basic: '91', rich: '38;5;202', light: '#b87a00', dark: '#f2754e', dash: [9, 3, 2, 3, 2, 3] },
  'kind-8': { basic: '37', rich: '38;5;252', light: '#4a4f57', dark: '#c9ced6', dash: [1, 5] },
} as const satisfies Readonly<Record<string, PaletteEntry>>;

export type KindStyle = keyof typeof PALETTE;

export const KIND_STYLES = Object.keys(PALETTE) as readonly KindStyle[];

/** Style of the kind at this place: beyond the palette it begins again. */
export function styleAt(place: number): KindStyle {
  return KIND_STYLES[place % KIND_STYLES.length] ?? 'kind-1';
}

/** The first letter of each name that no name before it has taken, or the first of the alphabet that is left. */
export function lettersOf(names: readonly string[]): string[] {
  const letters: string[] = [];
  for (const name of names) {
    const candidates = [...name.toUpperCase(), ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    letters.push(candidates.find((letter) => /[A-Z]/.test(letter) && !letters.includes(letter)) ?? '?');
  }
  return letters;
}

const LETTERS = lettersOf(KINDS);

/** Columns of the longest name of a kind. */
export const KIND_WIDTH = Math.max(...KINDS.map((kind) => kind.length));

export function kindStyle(kind: AllocatorKind): KindStyle {
  return styleAt(KINDS.indexOf(kind));
}

export function kindLetter(kind: AllocatorKind): string {
  return LETTERS[KINDS.indexOf(kind)] ?? '?';
}
