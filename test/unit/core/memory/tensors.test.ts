import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataType } from '../../../../lib/core/memory/dtypes.ts';
import { parseElements, parseShape, tensorOf } from '../../../../lib/core/memory/tensors.ts';
import { DTYPES } from '../../../../lib/types/dtypes.ts';

const flat = (dtype: string, elements: number) => tensorOf({ dtype, shape: null, elements });
const shaped = (dtype: string, shape: number[]) => tensorOf({ dtype, shape, elements: null });

describe('a billion elements, as in the lab', () => {
  it.each([
    ['float64', 8e9],
    ['float32', 4e9],
    ['tf32', 4e9],
    ['float16', 2e9],
    ['bfloat16', 2e9],
    ['int8', 1e9],
    ['bool', 1e9],
    ['fp8', 1e9],
    ['fp6', 0.75e9],
    ['int4', 0.5e9],
    ['nvfp4', 0.5e9],
    ['mxfp4', 0.5e9],
  ])('of %s are %d bytes', (dtype, bytes) => {
    expect(flat(dtype, 1e9).bytes).toBe(bytes);
  });
});

describe('a tensor reports', () => {
  it('its type, shape and elements', () => {
    expect(shaped('bf16', [8192, 8192])).toEqual({
      dtype: 'bf16',
      shape: [8192, 8192],
      elements: 67_108_864,
      bytes: 134_217_728,
      note: null,
    });
    expect(flat('HALF', 7)).toMatchObject({ dtype: 'half', shape: null, elements: 7, bytes: 14 });
  });

  it('that half a byte was rounded up, and only where it was', () => {
    expect(flat('int4', 1_000_000_001)).toMatchObject({
      bytes: 500_000_001,
      note: '4 bits over: rounded up to 500,000,001 bytes',
    });
    expect(flat('int4', 1_000_000_000).note).toBeNull();
    expect(flat('fp6', 1).note).toBe('6 bits over: rounded up to 1 bytes');
  });

  it('that block scales are not counted, and the size with them', () => {
    expect(flat('nvfp4', 16).note).toContain('0.5625 bytes per element');
    expect(flat('mxfp4', 32).note).toContain('0.53125 bytes per element');
    expect(flat('mxfp8', 32).note).toContain('1.03125 bytes per element');
    expect(flat('nvfp4', 1).note).toMatch(/^4 bits over.*; elements only/);
  });
});

describe('properties', () => {
  const dtype = fc.constantFrom(...DTYPES);
  const dimensions = fc.array(fc.integer({ min: 1, max: 4096 }), { minLength: 1, maxLength: 4 });

  it('bytes are the elements’ bits, rounded up to a byte and never further', () => {
    fc.assert(
      fc.property(dtype, fc.integer({ min: 1, max: 2 ** 40 }), (name, elements) => {
        const bits = BigInt(elements) * BigInt(dataType(name)?.bits ?? 0);
        const { bytes } = flat(name, elements);
        const spare = BigInt(bytes) * 8n - bits;
        expect(spare).toBeGreaterThanOrEqual(0n);
        expect(spare).toBeLessThan(8n);
      }),
    );
  });

  it('a shape has the size of its elements, in any order of dimensions', () => {
    fc.assert(
      fc.property(dtype, dimensions, (name, shape) => {
        const { bytes, elements } = shaped(name, shape);
        expect(flat(name, elements).bytes).toBe(bytes);
        expect(shaped(name, [...shape].reverse()).bytes).toBe(bytes);
      }),
    );
  });

  it('a product is exact or an error, never nearly right', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 53 - 1 }), fc.integer({ min: 1, max: 2 ** 20 }), (a, b) => {
        const exact = BigInt(a) * BigInt(b);
        if (exact > BigInt(Number.MAX_SAFE_INTEGER)) expect(() => shaped('int8', [a, b])).toThrow(RangeError);
        else expect(BigInt(shaped('int8', [a, b]).bytes)).toBe(exact);
      }),
    );
  });

  it('a shape as text is the shape', () => {
    fc.assert(
      fc.property(dimensions, (shape) => {
        expect(parseShape(shape.join('x'))).toEqual(shape);
      }),
    );
  });
});

describe('mistakes', () => {
  it.each(['8192x', '', '8x-8', '8x8,4'])('%j is no shape', (text) => {
    expect(parseShape(text)).toBeNull();
  });

  it('an overflow names the shape and the product', () => {
    const overflow = () => shaped('float32', [2 ** 20, 2 ** 20, 2 ** 13]);
    expect(overflow).toThrow(RangeError);
    expect(overflow).toThrow(
      'shape is 1048576x1048576x8192 = 9,007,199,254,740,992 elements of float32, 36,028,797,018,963,968 bytes; expected less than 2^53 bytes',
    );
    expect(() => flat('float64', 2 ** 51)).toThrow('elements is 2251799813685248 of float64, 18,014,398,509,481,984');
  });

  it('2^53 − 1 bytes are still exact', () => {
    expect(flat('int8', Number.MAX_SAFE_INTEGER).bytes).toBe(Number.MAX_SAFE_INTEGER);
    // More elements than 2^53, but fewer bytes.
    expect(shaped('int4', [2 ** 52, 2]).bytes).toBe(2 ** 52);
  });

  it.each([
    [() => flat('banana', 1), 'dtype is "banana"; expected one of'],
    [() => flat('int8', 0), 'elements is 0; expected a whole number'],
    [() => flat('int8', 1.5), 'elements is 1.5'],
    [() => flat('int8', 2 ** 53), 'elements is 9007199254740992'],
    [() => shaped('int8', []), 'expected 1 to 16 dimensions'],
    [() => shaped('int8', [8, 0]), 'shape is 0; expected dimensions'],
    [() => shaped('int8', [8, -1]), 'shape is -1'],
    [() => shaped('int8', [8, Number.NaN]), 'shape is NaN'],
  ])('%s', (mistake, message) => {
    expect(mistake).toThrow(message);
  });
});

describe('elements as text', () => {
  it.each([
    ['1e9', 1e9],
    ['1E9', 1e9],
    ['1.5e9', 1.5e9],
    ['1_000_000', 1e6],
    ['12', 12],
    ['0', null],
    ['1e-3', null],
    ['1.5', null],
    ['1e99', null],
    ['-1', null],
    ['', null],
    ['1e9 bytes', null],
  ])('%s is %s', (text, elements) => {
    expect(parseElements(text)).toBe(elements);
  });
});
