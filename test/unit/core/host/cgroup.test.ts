/** Limits of a cgroup: of all levels of its path, of which there may be absurdly many. */
import { expect, it } from 'vitest';
import { Provenance } from '../../../../lib/base/facts.ts';
import { cgroupLimits, cgroupUsageFile } from '../../../../lib/core/host/cgroup.ts';
import { kernelFailure, timeout } from '../../../support/failures.ts';
import { kernelFilesOf, textsOf } from '../../../support/kernel-files.ts';

it('a path with 50,000 levels is not searched, and the reason says so', async () => {
  let asked = 0;
  const files = kernelFilesOf((paths) => {
    asked += paths.length;
    return textsOf({})(paths);
  });
  const provenance = new Provenance();
  const path = '/a'.repeat(50_000);
  const limits = await cgroupLimits(files, { version: 2, path }, provenance);
  expect(limits).toEqual({ limits: { version: 2, path, limit: null, high: null }, usageFile: null });
  expect(await cgroupUsageFile(files, { version: 2, path })).toBeNull();
  expect(asked).toBe(0);
  for (const name of ['limit', 'high', 'current'])
    expect(provenance.sources[`cgroup.${name}`]).toMatch(/^not read: the cgroup's path has 50000 levels/);
});

it('files that could not be read for lack of descriptors are searched again', async () => {
  let isStarved = true;
  const files = kernelFilesOf((paths) =>
    paths.map((path) =>
      isStarved ? kernelFailure('EMFILE', `open ${path}`) : path.endsWith('memory.max') ? '4096\n' : '1\n',
    ),
  );
  const cgroup = { version: 2, path: '/starved' } as const;
  expect(await cgroupUsageFile(files, cgroup)).toBeNull();
  isStarved = false;
  expect(await cgroupUsageFile(files, cgroup)).toBe('/sys/fs/cgroup/starved/memory.current');
});

const NESTED = {
  '/sys/fs/cgroup/a/memory.max': '4096\n',
  '/sys/fs/cgroup/a/b/memory.max': 'max\n',
  '/sys/fs/cgroup/a/b/memory.current': '100\n',
};

it('the smallest limit of the path counts', async () => {
  const provenance = new Provenance();
  const limits = await cgroupLimits(kernelFilesOf(textsOf(NESTED)), { version: 2, path: '/a/b' }, provenance);
  expect(limits).toMatchObject({ limits: { limit: 4096 }, usageFile: '/sys/fs/cgroup/a/b/memory.current' });
  expect(provenance.sources['cgroup.limit']).toBe('/sys/fs/cgroup/a/memory.max');
});

it.each([
  [4096, 8192],
  [8192, 4096],
])('of limits of %d above and %d below the smaller one counts', async (above, below) => {
  const files = {
    '/sys/fs/cgroup/a/memory.max': `${above}\n`,
    '/sys/fs/cgroup/a/memory.high': `${below}\n`,
    '/sys/fs/cgroup/a/b/memory.max': `${below}\n`,
    '/sys/fs/cgroup/a/b/memory.high': `${above}\n`,
  };
  const provenance = new Provenance();
  const { limits } = await cgroupLimits(kernelFilesOf(textsOf(files)), { version: 2, path: '/a/b' }, provenance);
  expect(limits).toMatchObject({ limit: 4096, high: 4096 });
  const folder = (isAbove: boolean) => `/sys/fs/cgroup/a${isAbove ? '' : '/b'}`;
  expect(provenance.sources).toMatchObject({
    'cgroup.limit': `${folder(above < below)}/memory.max`,
    'cgroup.high': `${folder(above > below)}/memory.high`,
  });
});

it('no limit is known while one of the path does not answer, because it may be the smallest', async () => {
  const hung = '/sys/fs/cgroup/a/b/memory.max';
  const files = kernelFilesOf((paths) =>
    textsOf(NESTED)(paths).map((text, index) => (paths[index] === hung ? timeout(`read ${hung}`) : text)),
  );
  const provenance = new Provenance();
  const limits = await cgroupLimits(files, { version: 2, path: '/a/b' }, provenance);
  expect(limits).toMatchObject({ limits: { limit: null }, usageFile: '/sys/fs/cgroup/a/b/memory.current' });
  expect(provenance.sources['cgroup.limit']).toMatch(/^ERR_UMA_TIMEOUT: read \/sys\/fs\/cgroup\/a\/b\/memory\.max/);
});
