/** The picture of the README is the screen of today. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drawScreen, picture } from '../../../scripts/picture.mjs';
import { ROOT } from '../../support/root.ts';

it('docs/screen.svg is the screen of the simulated machine (else: node scripts/picture.mjs)', () => {
  expect(readFileSync(join(ROOT, 'docs', 'screen.svg'), 'utf8')).toBe(picture());
});

it('draws colours, weight and the characters of markup', () => {
  const svg = drawScreen('\x1b[1;38;5;16;48;5;213mA <&\x1b[0m b\n\x1b[2mdim\x1b[0m\n', 'two lines');
  expect(svg).toContain('<rect x="16.0" y="16" width="33.6" height="18" fill="#ff87ff"/>');
  expect(svg).toContain('textLength="33.6" fill="#000000" font-weight="bold">A &lt;&amp;</text>');
  expect(svg).toContain('opacity="0.7">dim</text>');
});

it('refuses a code that it cannot draw', () => {
  expect(() => drawScreen('\x1b[7mreverse\x1b[0m', '')).toThrow('the SGR code 7');
});
