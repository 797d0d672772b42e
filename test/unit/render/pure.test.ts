/** A report in, a string out: what is drawn depends on nothing that this machine or this process is. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const render = new URL('../../../lib/render/', import.meta.url);
const files = readdirSync(render, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

it.each(files)('%s reads no file, host or process', (name) => {
  const source = readFileSync(new URL(name, render), 'utf8');
  expect(source).not.toMatch(/'node:(?!crypto')|\bprocess\.|\bDate\.now\b|\bnew Date\(\)/);
});
