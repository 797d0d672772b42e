/** A child process that cannot be started is an UmaError, and never an `error` event that nobody hears. */

import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lazy } from '../../../lib/base/lazy.ts';
import { startProcess } from '../../../lib/base/start-process.ts';

/** Runs `use` while this process has only `free` descriptors left. */
async function withFreeDescriptors<T>(free: number, use: () => Promise<T>): Promise<T> {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'));
  } catch {
    for (const descriptor of opened.splice(0, free)) closeSync(descriptor);
  }
  try {
    return await use();
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const start = (file: string, args: readonly string[] = []) =>
  startProcess(file, args, { stdio: ['pipe', 'pipe', 'pipe'] }).then(
    () => 'started',
    ({ name, code, nativeName, status }) => ({ name, code, nativeName, status }),
  );

describe('startProcess', () => {
  it('rejects without descriptors', async () => {
    expect(await withFreeDescriptors(0, () => start('/bin/true'))).toEqual({
      name: 'UmaError',
      code: 'ERR_UMA_CALL_FAILED',
      nativeName: 'EMFILE',
      status: 24,
    });
    expect(await start('/bin/true')).toBe('started');
  });

  it('rejects for a missing program and for arguments that are too long', async () => {
    expect(await start('/nonexistent')).toMatchObject({ code: 'ERR_UMA_CALL_FAILED', nativeName: 'ENOENT' });
    expect(await start('/bin/true', ['x'.repeat(4 << 20)])).toMatchObject({ name: 'UmaError', nativeName: 'E2BIG' });
  });
});

describe('lazy', () => {
  it('does not start an import that Node would remember as failed', async () => {
    let imports = 0;
    const load = lazy(async () => ++imports);
    for (const free of [0, 5])
      await expect(withFreeDescriptors(free, load)).rejects.toMatchObject({
        code: 'ERR_UMA_CALL_FAILED',
        nativeName: 'EMFILE',
      });
    expect(imports).toBe(0);
    expect([await load(), await load()]).toEqual([1, 1]);
  });

  it('tries again after an import that failed for another reason', async () => {
    let imports = 0;
    const load = lazy(async () => {
      if (imports++ === 0) throw new Error('once');
      return 'loaded';
    });
    await expect(load()).rejects.toThrow('once');
    expect(await load()).toBe('loaded');
  });
});
