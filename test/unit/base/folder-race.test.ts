/** A folder that another process makes between the look at it and the making. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { Folder } from '../../../lib/base/folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    openSync(...args: Parameters<typeof fs.openSync>) {
      try {
        return fs.openSync(...args);
      } catch (error) {
        if (String(args[0]).endsWith('/late')) fs.mkdirSync(args[0], { mode: 0o700 });
        throw error;
      }
    },
  };
});

it('is opened', (context) => {
  if (process.geteuid?.() !== 0) return context.skip('root alone looks at each folder on the way');
  const path = join(temporaryFolder('race'), 'late');
  const folder = Folder.open(path, 'private');
  expect(statSync(folder.at('.')).ino).toBe(statSync(path).ino);
  folder.close();
});
