/** The units that ship: systemd accepts them, and umaprobe accepts what they start. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTool } from '../../../scripts/run.mjs';
import { runUmaprobe } from '../../support/cli.ts';
import { ROOT } from '../../support/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const units = readdirSync(join(ROOT, 'systemd')).filter((name) => name.endsWith('.service'));
const analyze = findTool('systemd-analyze');

describe.each(units)('%s', (name) => {
  const path = join(ROOT, 'systemd', name);
  it('is a unit without mistakes', (context) => {
    if (analyze === null) return context.skip('systemd-analyze is not installed (Debian: apt-get install systemd)');
    const { status, stderr } = spawnSync(analyze, ['verify', path], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('is hardened: of 10 at most 3.2 is exposed', (context) => {
    if (analyze === null) return context.skip('systemd-analyze is not installed (Debian: apt-get install systemd)');
    const args = ['security', '--offline=true', '--no-pager', path];
    const { stdout } = spawnSync(analyze, args, { encoding: 'utf8' });
    expect(Number(/Overall exposure level .*: (\d+\.\d)/.exec(stdout)?.[1])).toBeLessThanOrEqual(3.2);
  });
});

it('umaprobe-record.service starts a recorder with options that exist', () => {
  const unit = readFileSync(join(ROOT, 'systemd/umaprobe-record.service'), 'utf8');
  const [, options = ''] = /^ExecStart=\/usr\/bin\/env umaprobe (record .*)$/m.exec(unit) ?? [];
  const folder = temporaryFolder('unit');
  const args = options.replace('/var/lib/umaprobe/record', folder).split(' ');
  expect(args).toContain(folder);
  expect(runUmaprobe([...args, '--duration', '1s']).code).toBe(0);
});
