/** The cgroup of a unit is asked of the system's own systemctl. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { targetArgument } from '../../../../lib/run/guard/target.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

it('runs no program that PATH puts in its place', () => {
  const folder = temporaryFolder('planted');
  const planted = join(folder, 'systemctl');
  writeFileSync(planted, `#!/bin/sh\n: >"${folder}/ran"\necho /planted\n`);
  chmodSync(planted, 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
  expect(() => targetArgument({ unit: 'umaprobe-no-such-unit' })).toThrow(
    /^unit umaprobe-no-such-unit: (systemd has no cgroup for it|systemctl is in none of \/usr\/sbin, \/usr\/bin, \/sbin, \/bin)/,
  );
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});
