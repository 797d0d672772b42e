/** layout() on simulated machines: everything here is simulated. */
import { describe, expect, it } from 'vitest';
import type { LayoutReport } from '../../../../lib/types/index.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GB } from '../../../support/units.ts';

/** The report, checked against its schema. */
async function layout(machine: string, parts: string, options = ''): Promise<LayoutReport> {
  const body = `return umaprobe.layout(${parts}, { journal: false, ${options} });`;
  const report = await evaluateOnMachine<LayoutReport>(machine, body);
  parseDocument(JSON.stringify(report));
  return report;
}

describe('the parts of a 13B model', () => {
  it.each([
    ['gb10', 'MemAvailable'],
    ['h200', 'cudaMemGetInfo free'],
  ])('on a simulated %s: all is allocated, %s falls by as much, and all is freed', async (name, from) => {
    const report = await layout(name, "'13b'");
    expect(report).toMatchObject({ schema: 'umaprobe/layout/1', simulated: name, preset: '13b', kind: 'device' });
    expect(report).toMatchObject({ state: 'complete', reason: null, consumedFrom: from });
    expect(report.parts.map(({ expectedBytes, name: part, state }) => [part, expectedBytes / GB, state])).toEqual([
      ['embeddings', 2, 'ok'],
      ['attention', 8, 'ok'],
      ['feedforward', 10, 'ok'],
      ['layer norms', 0.5, 'ok'],
      ['output head', 1, 'ok'],
      ['activations', 4, 'ok'],
    ]);
    expect(report.expectedBytes).toBe(25.5 * GB);
    expect(report.allocatedBytes).toBe(25.5 * GB);
    expect(Math.abs(report.overheadBytes ?? Number.NaN)).toBeLessThan(0.1 * GB);
    expect(report.overheadBytes).toBe((report.consumedBytes ?? 0) - report.allocatedBytes);
    expect(report.settled.missing).toBeNull();
    for (const { allocMs, firstTouchMs } of report.parts) {
      expect(allocMs).toBeGreaterThan(0);
      expect(firstTouchMs).toBeGreaterThan(0);
    }
  });

  it('managed memory is taken by the touch, not by the allocator', async () => {
    const { consumedBytes, moved } = await layout('gb10', '{ a: 4e9, b: 4e9 }', "kind: 'managed'");
    expect(Math.round((moved?.memFree.afterAlloc ?? 1) / GB) + 0).toBe(0);
    expect(Math.round((moved?.memFree.afterTouch ?? 1) / GB)).toBe(-8);
    expect(Math.round((consumedBytes ?? 0) / GB)).toBe(8);
  });

  it('device memory is taken by the allocator', async () => {
    const { moved } = await layout('gb10', '{ a: 4e9, b: 4e9 }');
    expect(Math.round((moved?.memFree.afterAlloc ?? 1) / GB)).toBe(-8);
    expect(Math.round((moved?.memFree.afterFree ?? 1) / GB) + 0).toBe(0);
  });
});

it('memory from the driver’s pools, which no counter shows, is no negative overhead', async () => {
  const report = await layout('gb10-590-pools', '{ a: 8e9 }');
  expect(report).toMatchObject({ state: 'complete', overheadBytes: null });
  expect(report.consumedBytes).toBeLessThan(0.99 * report.allocatedBytes);
});

describe('a layout that does not fit', () => {
  it('ends at the refused part, and names it', async () => {
    const report = await layout('gb10', '{ weights: 100e9, cache: 30e9, rest: 1e9 }');
    expect(report.state).toBe('incomplete');
    expect(report.reason).toMatch(/^cache: .*floor/);
    expect(report.parts.map(({ state }) => state)).toEqual(['ok', 'refused', 'not-reached']);
    expect(report.allocatedBytes).toBe(100 * GB);
  });

  it('aborted: the rest was not reached', async () => {
    const report = await evaluateOnMachine<LayoutReport>(
      'gb10',
      `const stop = new AbortController();
       return umaprobe.layout({ a: 1e9, b: 20e9, c: 1e9 }, { journal: false, signal: stop.signal, onEvent: ({ type }) => type === 'part' && stop.abort() });`,
    );
    expect(report.state).toBe('aborted');
    expect(report.parts[0]?.state).toBe('ok');
    expect(report.parts.at(-1)?.state).toBe('not-reached');
  });

  it.each([
    ['layout({})', 'number of parts is 0'],
    ['layout({ a: 0 })', 'part "a" is 0'],
    ["layout('7b')", 'parts is "7b"'],
    ["layout({ a: 1 }, { kind: 'gpu' })", 'kind is "gpu"'],
    ['layout({ a: 1 }, { onEvent: 1 })', 'onEvent is 1'],
  ])('%s', async (call, message) => {
    const { thrown } = await evaluateOnMachine<{ thrown: { message: string } }>(
      'gb10',
      `return umaprobe.${call}.catch(caught);`,
    );
    expect(thrown.message).toContain(message);
  });
});
