/** A folder that another process makes between the look at it and the making. */

import fs, { statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Folder } from '../../../lib/base/folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { openSync } = fs;
beforeEach(() => {
  vi.spyOn(fs, 'openSync').mockImplementation((...args) => {
    try {
      return openSync(...args);
    } catch (error) {
      if (String(args[0]).endsWith('/late')) fs.mkdirSync(args[0], { mode: 0o700 });
      throw error;
    }
  });
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it('is opened', (context) => {
  if (process.geteuid?.() !== 0) return context.skip('root alone looks at each folder on the way');
  const path = join(temporaryFolder('race'), 'late');
  const folder = Folder.open(path, 'private');
  expect(statSync(folder.at('.')).ino).toBe(statSync(path).ino);
  folder.close();
});
