/** Limits of a cgroup: of all levels of its path, of which there may be absurdly many. */
import { expect, it } from 'vitest';
import { Provenance } from '../../../lib/base/facts.ts';
import { cgroupLimits, cgroupUsageFile } from '../../../lib/host/cgroup.ts';
import type { NativeBinding } from '../../../lib/native/contract.ts';
import { kernelFailure } from '../../support/failures.ts';

function fakeBinding(files: Record<string, string>): { binding: NativeBinding; asked: () => number } {
  let asked = 0;
  const readFiles = (paths: string[]) => {
    asked += paths.length;
    return paths.map((path) => files[path] ?? kernelFailure('ENOENT', `open ${path}`));
  };
  return { binding: { readFiles, rereadFiles: readFiles } as unknown as NativeBinding, asked: () => asked };
}

it('a path with 50,000 levels is not searched, and the reason says so', () => {
  const { asked, binding } = fakeBinding({});
  const provenance = new Provenance();
  const path = '/a'.repeat(50_000);
  const limits = cgroupLimits(binding, { version: 2, path }, provenance);
  expect(limits).toEqual({ version: 2, path, limit: null, high: null, current: null });
  expect(cgroupUsageFile(binding, { version: 2, path })).toBeNull();
  expect(asked()).toBe(0);
  for (const name of ['limit', 'high', 'current'])
    expect(provenance.sources[`cgroup.${name}`]).toMatch(/^not read: the cgroup's path has 50000 levels/);
});

it('files that could not be read for lack of descriptors are searched again', () => {
  let isStarved = true;
  const readFiles = (paths: string[]) =>
    paths.map((path) =>
      isStarved ? kernelFailure('EMFILE', `open ${path}`) : path.endsWith('memory.max') ? '4096\n' : '1\n',
    );
  const binding = { readFiles, rereadFiles: readFiles } as unknown as NativeBinding;
  const cgroup = { version: 2, path: '/starved' } as const;
  expect(cgroupUsageFile(binding, cgroup)).toBeNull();
  isStarved = false;
  expect(cgroupUsageFile(binding, cgroup)).toBe('/sys/fs/cgroup/starved/memory.current');
});

it('the smallest limit of the path counts', () => {
  const { binding } = fakeBinding({
    '/sys/fs/cgroup/a/memory.max': '4096\n',
    '/sys/fs/cgroup/a/b/memory.max': 'max\n',
    '/sys/fs/cgroup/a/b/memory.current': '100\n',
  });
  const provenance = new Provenance();
  expect(cgroupLimits(binding, { version: 2, path: '/a/b' }, provenance)).toMatchObject({ limit: 4096, current: 100 });
  expect(provenance.sources['cgroup.limit']).toBe('/sys/fs/cgroup/a/memory.max');
});
