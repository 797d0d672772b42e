import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { invalidType, invalidValue, outOfRange } from '../../../lib/base/arguments.ts';
import { errorCode, type Failure, toUmaError, UmaError } from '../../../lib/base/errors.ts';

const notSupported: Failure = {
  failed: true,
  source: 'nvml',
  call: 'nvmlDeviceGetMemoryInfo_v2',
  status: 3,
  name: 'NOT_SUPPORTED',
  message: 'Not Supported',
};

describe('errorCode', () => {
  it.each([
    ['nvml', 3, 'NOT_SUPPORTED', 'ERR_UMA_NOT_SUPPORTED'],
    ['nvml', 4, 'NO_PERMISSION', 'ERR_UMA_PERMISSION'],
    ['nvml', 9, 'DRIVER_NOT_LOADED', 'ERR_UMA_DRIVER_UNUSABLE'],
    ['nvml', 15, 'GPU_IS_LOST', 'ERR_UMA_DEVICE_LOST'],
    ['nvml', 18, 'LIB_RM_VERSION_MISMATCH', 'ERR_UMA_DRIVER_UNUSABLE'],
    ['nvml', 999, 'UNKNOWN', 'ERR_UMA_CALL_FAILED'],
    ['cuda', 2, 'CUDA_ERROR_OUT_OF_MEMORY', 'ERR_UMA_OUT_OF_MEMORY'],
    ['cuda', 34, 'CUDA_ERROR_STUB_LIBRARY', 'ERR_UMA_DRIVER_UNUSABLE'],
    ['cudart', 35, 'cudaErrorInsufficientDriver', 'ERR_UMA_DRIVER_UNUSABLE'],
    ['cudart', 46, 'cudaErrorDevicesUnavailable', 'ERR_UMA_BUSY'],
    ['cuda', 100, 'CUDA_ERROR_NO_DEVICE', 'ERR_UMA_NO_DEVICE'],
    ['cuda', 801, 'CUDA_ERROR_NOT_SUPPORTED', 'ERR_UMA_NOT_SUPPORTED'],
    ['kernel', 13, 'EACCES', 'ERR_UMA_PERMISSION'],
    ['kernel', 2, 'ENOENT', 'ERR_UMA_NOT_FOUND'],
    ['kernel', 20, 'ENOTDIR', 'ERR_UMA_NOT_FOUND'],
    ['kernel', 5, 'EIO', 'ERR_UMA_CALL_FAILED'],
    ['sim', 17, 'EEXIST', 'ERR_UMA_CALL_FAILED'],
    ['dl', null, 'LIBRARY_MISSING', 'ERR_UMA_LIBRARY_MISSING'],
    ['dl', null, 'SYMBOL_MISSING', 'ERR_UMA_SYMBOL_MISSING'],
    ['umaprobe', null, 'TIMEOUT', 'ERR_UMA_TIMEOUT'],
  ] as const)('%s %s %s is %s', (source, status, name, code) => {
    expect(errorCode({ source, status, name })).toBe(code);
  });

  it('is about this kernel where a file of the kernel is missing, and about the path elsewhere', () => {
    const missing = { source: 'kernel', status: 2, name: 'ENOENT' } as const;
    expect(errorCode({ ...missing, call: 'open /proc/pressure/memory' })).toBe('ERR_UMA_NOT_SUPPORTED');
    expect(errorCode({ ...missing, call: 'open /sys/fs/cgroup/x/memory.reclaim' })).toBe('ERR_UMA_NOT_SUPPORTED');
    expect(errorCode({ ...missing, call: 'open /home/me/proc/model' })).toBe('ERR_UMA_NOT_FOUND');
  });

  it('looks up a status in the table of its source: 3 of NVML is not 3 of CUDA', () => {
    expect(errorCode({ source: 'cuda', status: 3, name: 'CUDA_ERROR_NOT_INITIALIZED' })).toBe(
      'ERR_UMA_DRIVER_UNUSABLE',
    );
    expect(errorCode({ source: 'kernel', status: 3, name: 'ESRCH' })).toBe('ERR_UMA_CALL_FAILED');
  });

  it('ignores names that every object has, such as constructor', () => {
    expect(errorCode({ source: 'kernel', status: null, name: 'constructor' })).toBe('ERR_UMA_CALL_FAILED');
    expect(errorCode({ source: 'umaprobe', status: null, name: 'toString' })).toBe('ERR_UMA_CALL_FAILED');
  });
});

describe('toUmaError', () => {
  it('keeps the native facts beside the code', () => {
    const error = toUmaError(notSupported);
    expect(error).toBeInstanceOf(UmaError);
    expect(error).toBeInstanceOf(Error);
    expect({ ...error }).toEqual({
      code: 'ERR_UMA_NOT_SUPPORTED',
      source: 'nvml',
      call: 'nvmlDeviceGetMemoryInfo_v2',
      status: 3,
      nativeName: 'NOT_SUPPORTED',
    });
    expect(error.message).toBe('nvmlDeviceGetMemoryInfo_v2: Not Supported (NOT_SUPPORTED 3)');
    expect(error.name).toBe('UmaError');
    expect(inspect(error)).toMatch(/^UmaError: nvmlDevice/);
  });

  it('reads well without a message and without a status', () => {
    expect(toUmaError({ ...notSupported, message: '' }).message).toBe('nvmlDeviceGetMemoryInfo_v2: NOT_SUPPORTED 3');
    expect(toUmaError({ ...notSupported, status: null }).message).toBe(
      'nvmlDeviceGetMemoryInfo_v2: Not Supported (NOT_SUPPORTED)',
    );
  });

  it('shows the stack of an Error created before the await', async () => {
    async function asksForSomething(): Promise<never> {
      const caller = new Error();
      await new Promise((resolve) => setImmediate(resolve));
      throw toUmaError(notSupported, caller);
    }
    const error = await asksForSomething().catch((thrown: unknown) => thrown as UmaError);
    expect(error.stack).toMatch(
      /^UmaError: nvmlDeviceGetMemoryInfo_v2: Not Supported \(NOT_SUPPORTED 3\)\n {4}at asksForSomething/,
    );
  });

  it('leaves itself out of the stack', () => {
    expect(toUmaError(notSupported).stack).not.toMatch(/toUmaError/);
  });
});

describe('argument checks', () => {
  it.each([
    [
      invalidType('intervalMs', 'a number', '5'),
      TypeError,
      'ERR_INVALID_ARG_TYPE',
      'intervalMs is "5"; expected a number',
    ],
    [
      invalidValue('memGetInfo', 'one of auto, never', 'alwyas'),
      TypeError,
      'ERR_INVALID_ARG_VALUE',
      'memGetInfo is "alwyas"; expected one of auto, never',
    ],
    [
      outOfRange('deadlineMs', '1 to 600000', 0),
      RangeError,
      'ERR_OUT_OF_RANGE',
      'deadlineMs is 0; expected 1 to 600000',
    ],
  ] as const)('%s', (error, type, code, message) => {
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code, message });
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [Number.NaN, 'NaN'],
    [7n, '7n'],
    [Symbol('s'), 'Symbol(s)'],
    [[1], 'an array'],
    [{ toString: () => 'no' }, 'an object'],
    [() => 0, 'a function'],
    ['x\ny', '"x\\ny"'],
    ['x'.repeat(100), `"${'x'.repeat(57)}..."`],
  ])('shows %o on one line', (value, shown) => {
    expect(invalidType('x', 'y', value).message).toBe(`x is ${shown}; expected y`);
  });
});

describe('JSON.stringify()', () => {
  const json = (error: Error) => JSON.parse(JSON.stringify(error));

  it('of an error keeps its name, message and fields, and leaves out the stack', () => {
    expect(json(toUmaError(notSupported))).toEqual({
      name: 'UmaError',
      message: 'nvmlDeviceGetMemoryInfo_v2: Not Supported (NOT_SUPPORTED 3)',
      code: 'ERR_UMA_NOT_SUPPORTED',
      source: 'nvml',
      call: 'nvmlDeviceGetMemoryInfo_v2',
      status: 3,
      nativeName: 'NOT_SUPPORTED',
    });
    expect(json(invalidType('x', 'a number', '5'))).toEqual({
      name: 'TypeError',
      message: 'x is "5"; expected a number',
      code: 'ERR_INVALID_ARG_TYPE',
    });
  });

  it('has its causes, also of a chain that is a circle', () => {
    const disk = Object.assign(new Error('full'), { code: 'ENOSPC', path: '/x', socket: {} });
    const error = new UmaError('ERR_UMA_JOURNAL', notSupported, { cause: disk });
    expect(json(error).cause).toEqual({ name: 'Error', message: 'full', code: 'ENOSPC' });
    expect(json(new UmaError('ERR_UMA_JOURNAL', notSupported, { cause: 7n })).cause).toBe('7');
    disk.cause = error;
    let depth = 0;
    for (let at = json(error); at !== undefined; at = at.cause) depth++;
    expect(depth).toBe(5);
  });
});
