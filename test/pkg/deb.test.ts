/** The Debian package: what it holds, that it runs from where it is unpacked, and that a purge leaves nothing. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { findTool } from '../../scripts/run.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { deb } = inject('packed');
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The files of a folder, by path. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !lstatSync(join(folder, path)).isDirectory(),
  );
}

describe.skipIf(deb === null)('the Debian package', () => {
  const tree = temporaryFolder('deb');
  if (deb !== null) execFileSync('dpkg-deb', ['-x', deb, tree]);
  const text = (path: string) => {
    const content = readFileSync(join(tree, path));
    return (path.endsWith('.gz') ? gunzipSync(content) : content).toString();
  };

  it('has each file in its place', () => {
    const others = filesOf(tree).filter((path) => !/^usr\/lib\/umaprobe\/[\d.]+-\w{16}\//.test(path));
    expect(others.sort()).toEqual([
      'usr/bin/umaprobe',
      'usr/lib/systemd/system/umaprobe-guard.service',
      'usr/lib/systemd/system/umaprobe-record.service',
      'usr/lib/systemd/system/umaprobe-serve.service',
      'usr/lib/umaprobe/umaprobe',
      'usr/share/bash-completion/completions/umaprobe',
      'usr/share/doc/umaprobe/changelog.Debian.gz',
      'usr/share/doc/umaprobe/changelog.gz',
      'usr/share/doc/umaprobe/copyright',
      'usr/share/fish/vendor_completions.d/umaprobe.fish',
      'usr/share/lintian/overrides/umaprobe',
      'usr/share/man/man1/umaprobe.1.gz',
      'usr/share/umaprobe/monitoring/alertmanager-inhibit.yml',
      'usr/share/umaprobe/monitoring/kubernetes/umaprobe.yml',
      'usr/share/umaprobe/monitoring/nfd-features',
      'usr/share/umaprobe/monitoring/slurm-health-check',
      'usr/share/umaprobe/monitoring/umaprobe-health',
      'usr/share/umaprobe/monitoring/umaprobe-npd.json',
      'usr/share/umaprobe/monitoring/umaprobe.dashboard.json',
      'usr/share/umaprobe/monitoring/umaprobe.rules.yml',
      'usr/share/zsh/vendor-completions/_umaprobe',
    ]);
    expect(text('usr/share/man/man1/umaprobe.1.gz')).toMatch(/^\.TH UMAPROBE 1 /);
    expect(text('usr/share/doc/umaprobe/changelog.Debian.gz')).toContain(`umaprobe (${version}-1) unstable;`);
    expect(text('usr/share/doc/umaprobe/copyright')).toContain('Permission is hereby granted');
    expect(text('usr/share/zsh/vendor-completions/_umaprobe')).toMatch(/^#compdef umaprobe\n/);
    expect(text('usr/lib/systemd/system/umaprobe-guard.service')).toMatch(/^ExecStart=\/usr\/bin\/umaprobe guard/m);
    expect(text('usr/lib/systemd/system/umaprobe-record.service')).not.toContain('Copy it to');
  });

  it('runs from there, and writes no cache', () => {
    const home = temporaryFolder('home');
    const env = { PATH: '/nonexistent', HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
    const words = ['snapshot', '--sim', 'gb10', '--memgetinfo', 'child', '--json'];
    const ran = spawnSync(join(tree, 'usr/bin/umaprobe'), words, { env, encoding: 'utf8' });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ simulated: 'gb10' });
    expect(existsSync(join(home, 'cache'))).toBe(false);
  });

  it('is installed with no service enabled, and a purge leaves nothing', (context) => {
    if (process.getuid?.() !== 0) context.skip('only root installs packages');
    const root = temporaryFolder('dpkg');
    for (const path of ['info', 'updates']) mkdirSync(join(root, 'var/lib/dpkg', path), { recursive: true });
    writeFileSync(join(root, 'var/lib/dpkg/status'), '');
    const dpkg = (...args: string[]) =>
      execFileSync(
        'dpkg',
        [`--root=${root}`, '--force-script-chrootless', '--force-depends', '--log=/dev/null', ...args],
        { stdio: 'pipe' },
      );
    const own = () => filesOf(root).filter((path) => !path.startsWith('var/lib/dpkg/'));
    dpkg('--install', deb as string);
    expect(own().length).toBeGreaterThan(100);
    expect(own().filter((path) => path.startsWith('etc/'))).toEqual([]);
    // What the services leave, and an administrator who has enabled one.
    const wants = 'etc/systemd/system/multi-user.target.wants';
    for (const path of ['var/lib/umaprobe/record', 'var/cache/umaprobe', wants])
      mkdirSync(join(root, path), { recursive: true });
    for (const path of ['var/lib/umaprobe/record/1.umarec', `${wants}/umaprobe-guard.service`])
      writeFileSync(join(root, path), '');
    dpkg('--remove', 'umaprobe');
    expect(own()).toEqual([`${wants}/umaprobe-guard.service`, 'var/lib/umaprobe/record/1.umarec']);
    dpkg('--purge', 'umaprobe');
    expect(own()).toEqual([]);
    expect(readdirSync(join(root, 'var/lib'))).toEqual(['dpkg']);
  });

  it('has no errors of lintian', (context) => {
    if (findTool('lintian') === null) context.skip('no lintian here (Debian: apt-get install lintian)');
    // Words in the binary of Node take half of its time.
    const words = ['--allow-root', '--tag-display-limit', '0', '-X', 'binaries/spelling', deb as string];
    const { status, stdout } = spawnSync('lintian', words, { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  }, 300_000);
});
