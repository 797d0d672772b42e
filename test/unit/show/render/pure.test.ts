/** A report in, a string out: nothing that is drawn depends on this machine, this process or the time. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const render = new URL('../../../../lib/show/render/', import.meta.url);
const files = readdirSync(render, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

it.each(files)('%s uses no file, host, process or clock', (name) => {
  const source = readFileSync(new URL(name, render), 'utf8');
  expect(source).not.toMatch(/'node:(?!crypto'|module'|util')|\bprocess\.|\bDate\.now\b|\bnew Date\(\)/);
});
