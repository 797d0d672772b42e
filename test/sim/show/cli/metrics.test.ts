/** `umaprobe metrics` on simulated machines: what it prints is what the library answers, and the file is replaced whole. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitOf, runUmaprobe, startUmaprobe } from '../../../support/cli.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('metrics');

it('a file for node_exporter is readable for it, and nothing else is left in the folder', () => {
  const own = join(folder, 'once');
  mkdirSync(own);
  expect(runUmaprobe(['metrics', '--sim', 'gb10', '--textfile', own])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect(readdirSync(own)).toEqual(['umaprobe.prom']);
  const path = join(own, 'umaprobe.prom');
  expect(statSync(path).mode & 0o777).toBe(0o644);
  expect(readFileSync(path, 'utf8')).toMatch(/^# SIMULATED .*umaprobe_reading_duration_seconds [\d.]+\n$/s);
});

it('is written again at every interval, until a signal', async () => {
  const own = join(folder, 'again');
  mkdirSync(own);
  const path = join(own, 'umaprobe.prom');
  const readAt = () => /^umaprobe_reading_timestamp_seconds (\S+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  const started = startUmaprobe(['metrics', '--sim', 'gb10', '--textfile', own, '--interval', '1s']);
  await expect.poll(() => existsSync(path), { timeout: 20_000 }).toBe(true);
  const first = readAt();
  await expect.poll(readAt, { timeout: 20_000 }).not.toBe(first);
  started.kill('SIGTERM');
  expect(await exitOf(started)).toBe(143);
  expect(readdirSync(own)).toEqual(['umaprobe.prom']);
});

it('--json is an error that says what to do', () => {
  const { code, stderr, stdout } = runUmaprobe(['metrics', '--sim', 'gb10', '--json']);
  expect(code).toBe(2);
  expect(stderr + stdout).toContain('umaprobe snapshot --json has the same numbers');
});

it('a link in the place of the file is not followed', () => {
  const own = join(folder, 'link');
  mkdirSync(own);
  const target = join(folder, 'target');
  writeFileSync(target, 'mine\n');
  symlinkSync(target, join(own, 'umaprobe.prom'));
  const { code, stderr } = runUmaprobe(['metrics', '--sim', 'gb10', '--textfile', own]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('is a symbolic link')]);
  expect(readFileSync(target, 'utf8')).toBe('mine\n');
});
