import { describe, expect, it } from 'vitest';
import { checkParts } from '../../../../lib/core/layout/parts.ts';
import { consumedCounter, missingParts } from '../../../../lib/core/layout/run.ts';

describe('parts', () => {
  it('13b: the curriculum’s model, 25.5 GB', () => {
    const { parts, preset } = checkParts('13b');
    expect(preset).toBe('13b');
    expect(parts.map(({ bytes, name }) => [name, bytes / 1e9])).toEqual([
      ['embeddings', 2],
      ['attention', 8],
      ['feedforward', 10],
      ['layer norms', 0.5],
      ['output head', 1],
      ['activations', 4],
    ]);
    expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(25.5e9);
  });

  it('keep their order', () => {
    expect(checkParts({ b: 2, a: 1 })).toEqual({
      parts: [
        { name: 'b', bytes: 2 },
        { name: 'a', bytes: 1 },
      ],
      preset: null,
    });
  });

  it.each([
    [{}, 'number of parts is 0; expected 1 to 1000'],
    [{ a: 0 }, 'part "a" is 0; expected 1 to 2^53'],
    [{ a: 1.5 }, 'part "a" is 1.5'],
    [{ a: '1GB' }, 'part "a" is "1GB"; expected a number of bytes'],
    [{ 'a\nb': 1 }, 'name of a part is "a\\nb"'],
    [{ '': 1 }, 'name of a part is ""'],
    [{ a: 2 ** 53 - 1, b: 1 }, 'sum of the parts is 9007199254740992'],
    [[1], 'parts is an array; expected an object'],
    [null, 'parts is null'],
    ['7b', 'parts is "7b"; expected an object of names and bytes, or the preset 13b'],
  ])('%j: %s', (parts, words) => {
    expect(() => checkParts(parts)).toThrow(words);
  });
});

describe('the counter of consumed memory', () => {
  it.each([
    ['unified', 'device', 'memAvailable'],
    ['unified', 'system', 'memAvailable'],
    ['discrete', 'device', 'cudaFree'],
    ['discrete', 'managed', 'cudaFree'],
    ['discrete', 'pinned', 'memAvailable'],
    ['coherent', 'device', 'cudaFree'],
  ] as const)('%s, %s: %s', (model, kind, counter) => {
    expect(consumedCounter(model, kind)).toBe(counter);
  });
});

describe('missing parts', () => {
  const parts = [
    { name: 'a', bytes: 1 },
    { name: 'b', bytes: 2 },
  ];
  const states = (state: 'lost' | 'stopped' | 'aborted' | 'incomplete', gone: boolean) =>
    missingParts(parts, { state, reason: 'why' }, gone).map((part) => `${part.state} ${part.reason ?? ''}`.trim());

  it('were not reached, except the part in progress, which has the reason', () => {
    expect(states('incomplete', false)).toEqual(['not-reached', 'not-reached']);
    expect(states('lost', true)).toEqual(['lost why', 'not-reached']);
    expect(states('stopped', true)).toEqual(['stopped why', 'not-reached']);
    expect(states('aborted', true)).toEqual(['aborted why', 'not-reached']);
  });
});
