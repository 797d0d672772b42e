/** The picture of the README has the screens of today. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawScreens, picture, SCREENS } from '../../../scripts/picture.mjs';
import { masked } from '../../support/console-blocks.ts';
import { ROOT } from '../../support/root.ts';

const kept = readFileSync(join(ROOT, 'docs', 'screen.svg'), 'utf8');

/** What stands before the screens, and each screen. */
const partsOf = (svg: string): string[] => svg.split(/(?=<g class="screen")/);

/** Its words, also where a line is wrapped elsewhere because a number has more digits. */
const wordsOf = (part: string): string =>
  masked([...part.matchAll(/>([^<]+)<\/text>/g)].map(([, text]) => text).join('')).replaceAll(' ', '');

/** Names of elements that are open after a text; an error for what is no markup. */
function openElements(svg: string): string[] {
  const open: string[] = [];
  for (const part of svg.split(/(?=<)/)) {
    const tag = /^<(\/?)(\w+)(?: [\w-]+="[^"]*")*(\/?)>(?:[^&]|&(?:amp|lt);)*$/.exec(part);
    if (tag === null) throw new Error(`no markup: ${part}`);
    const [, closes, name = '', alone] = tag;
    if (closes !== '') expect(open.pop()).toBe(name);
    else if (alone === '') open.push(name);
  }
  return open;
}

describe('docs/screen.svg', () => {
  it('has the screens of the simulated machines (else: node scripts/picture.mjs)', () => {
    const [before, ...screens] = partsOf(picture());
    const [keptBefore, ...keptScreens] = partsOf(kept);
    expect(keptBefore).toBe(before);
    expect(keptScreens.length).toBe(SCREENS.length);
    for (const [at, { typed, varies }] of SCREENS.entries()) {
      const [now = '', was = ''] = [screens[at], keptScreens[at]];
      expect(now, typed).toContain('SIMULATED');
      if (varies) expect(wordsOf(was)).toBe(wordsOf(now));
      else expect(was).toBe(now);
    }
  });

  it('is well-formed and small, names itself, and moves for nobody who wants no motion', () => {
    expect(openElements(kept)).toEqual([]);
    expect(kept.length).toBeLessThan(120_000);
    const [, ids = ''] = / aria-labelledby="([^"]*)"/.exec(kept) ?? [];
    expect(ids.split(' ').map((id) => new RegExp(`<(\\w+) id="${id}">[^<]`).exec(kept)?.[1])).toEqual([
      'title',
      'desc',
    ]);
    const moving = kept.split('\n').filter((line) => line.includes('animation:'));
    expect(moving).toEqual([expect.stringMatching(/^@media \(prefers-reduced-motion: no-preference\)/)]);
  });
});

const draw = (screen: string): string => partsOf(drawScreens([screen], '', ''))[1] ?? '';

it('draws colours, weight and the characters of markup', () => {
  const svg = draw('\x1b[1;38;5;16;48;5;213mA <&\x1b[0m b\n\x1b[2mdim\x1b[0m\n');
  expect(svg).toContain('<rect x="16.0" y="16" width="33.6" height="18" fill="#ff87ff"/>');
  expect(svg).toContain('textLength="33.6" fill="#000000" font-weight="bold">A &lt;&amp;</text>');
  expect(svg).toContain('opacity="0.7">dim</text>');
});

it('draws words at their columns, also after several spaces, and goes on in the next row', () => {
  const svg = draw(`  a${' '.repeat(75)}long\n${'\n'.repeat(30)}`);
  const words = [...svg.matchAll(/<text x="([^"]+)" y="([^"]+)" [^>]*>([^<]*)/g)].map(([, ...found]) => found);
  expect(words).toEqual([
    ['32.8', '29', 'a'],
    ['671.2', '29', 'lo'],
    ['16.0', '47', 'ng'],
  ]);
});

it('shows the first rows of a long screen', () => {
  const svg = draw(Array.from({ length: 30 }, (_, row) => `row ${row}`).join('\n'));
  expect([...svg.matchAll(/>(row \d+|…)</g)].map(([, text]) => text).slice(-2)).toEqual(['row 22', '…']);
});

it('refuses a code that it cannot draw', () => {
  expect(() => draw('\x1b[7mreverse\x1b[0m')).toThrow('the SGR code 7');
});
