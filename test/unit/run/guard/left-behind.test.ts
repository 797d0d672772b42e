/** What a program leaves in shared memory: folders of a disk take the place of a tmpfs. */

import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SYSTEM_V } from '../../../../lib/core/processes/shared-memory.ts';
import { leftBehind } from '../../../../lib/run/guard/left-behind.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { MiB } from '../../../support/units.ts';

const at = (name: string, bytes: number) => ({ name, bytes, from: 'statfs' });

it('is what grew by 64 MiB or more, the largest first', async () => {
  const before = [at('/a', 100 * MiB), at('/b', 500 * MiB), at('/c', 500 * MiB)];
  const after = [at('/a', 164 * MiB), at('/b', 563 * MiB), at('/c', 400 * MiB), at(SYSTEM_V, 70 * MiB)];
  expect(await leftBehind(before, after, new Date())).toEqual([
    { where: SYSTEM_V, bytes: 70 * MiB, files: [] },
    { where: '/a', bytes: 64 * MiB, files: [] },
  ]);
});

it('names the three largest files that were written since, and follows no link', async () => {
  const folder = temporaryFolder('left');
  const other = temporaryFolder('left-other');
  mkdirSync(join(folder, 'below'));
  const write = (path: string, mib: number): void => writeFileSync(path, Buffer.alloc(mib * MiB, 1));
  for (const [name, mib] of [
    ['one', 2],
    ['below/two', 4],
    ['three', 3],
    ['four', 1.5],
    ['small', 0.5],
    ['old', 5],
  ] as const)
    write(join(folder, name), mib);
  write(join(other, 'six'), 6);
  symlinkSync(other, join(folder, 'link'));
  symlinkSync(join(other, 'six'), join(folder, 'file-link'));
  const since = new Date(Date.now() - 60_000);
  utimesSync(join(folder, 'old'), since, new Date(since.getTime() - 1000));
  const [left] = await leftBehind([], [at(folder, 100 * MiB)], since);
  expect(left?.files).toEqual(['below/two', 'three', 'one'].map((name) => join(folder, name)));
});
