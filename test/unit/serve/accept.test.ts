import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chosenFormat } from '../../../lib/serve/accept.ts';

const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

it.each([
  [undefined, 'text'],
  ['', 'text'],
  ['*/*', 'text'],
  ['text/plain', 'text'],
  ['text/html, image/png;q=0.5', 'text'],
  [PROMETHEUS, 'openmetrics'],
  ['application/openmetrics-text', 'openmetrics'],
  ['Application/OpenMetrics-Text; Version="1.0.0"', 'openmetrics'],
  ['application/openmetrics-text;q=0.5,text/plain;q=0.9', 'text'],
  ['application/openmetrics-text;q=0.5,text/plain;q=0.4,*/*', 'openmetrics'],
  ['application/openmetrics-text;q=0', 'text'],
  ['application/openmetrics-text;q=2', 'text'],
  ['application/openmetrics-text;version=0.0.1', 'text'],
  ['application/openmetrics-text;version=2.0.0,text/plain;q=0.1', 'text'],
])('%s asks for %s', (accept, format) => {
  expect(chosenFormat(accept)).toBe(format);
});

it('any other header gets text', () => {
  fc.assert(fc.property(fc.string(), (accept) => accept.includes('openmetrics') || chosenFormat(accept) === 'text'));
});
