/** `umaprobe sim run`: any program on a simulated machine. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../../support/cli.ts';
import { CLIENTS, compileC, missingCompiler } from '../../../support/clients.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const folder = temporaryFolder('sim-run');

describe('sim run', () => {
  it('passes output, exit code and arguments on', () => {
    expect(runUmaprobe(['sim', 'run', 'gb10', '--', 'sh', '-c', 'echo "$1"; exit 7', 'sh', '--json'])).toEqual({
      code: 7,
      stdout: '--json\n',
      stderr: '',
    });
    expect(runUmaprobe(['sim', 'run', 'gb10', '--', 'sh', '-c', 'kill -9 $$']).code).toBe(137);
  });

  it('puts other programs on the machine, their /proc/meminfo included', () => {
    const total = Math.floor(128_518_619_136 / 1024);
    expect(runUmaprobe(['sim', 'run', 'gb10', '--', 'head', '-1', '/proc/meminfo']).stdout).toMatch(
      new RegExp(`^MemTotal: +${total} kB`),
    );
    const real = runUmaprobe(['sim', 'run', 'gb10', '--no-preload', '--', 'head', '-1', '/proc/meminfo']).stdout;
    expect(real).not.toContain(String(total));
  });

  it('puts umaprobe itself on it, without --sim', () => {
    const ran = runUmaprobe(['sim', 'run', 'gb10', '--', process.execPath, 'dist/cli.js', 'snapshot', '--json']);
    expect(parseDocument(ran.stdout)).toMatchObject({ simulated: 'gb10' });
  });

  it.skipIf(missingCompiler() !== null)('renews a stream that is read again from its beginning (earlyoom)', () => {
    const reread = join(folder, 'reread');
    compileC(join(CLIENTS, 'reread.c'), reread, []);
    const machine = join(folder, 'falling.json');
    const points = [
      { afterMs: 200_000, bytes: 0 },
      { afterMs: 200_000, bytes: 50 * GiB },
    ];
    const events = [{ atMs: 0, what: 'anon', points }];
    writeFileSync(machine, JSON.stringify({ extends: 'gb10', name: 'falling', clock: { scale: 100 }, events }));
    const { stdout } = runUmaprobe(['sim', 'run', machine, '--', reread, '/proc/meminfo', 'MemFree:', '10000']);
    const [before = 0, after = 0] = [...stdout.matchAll(/MemFree: +(\d+) kB/g)].map(([, kB]) => Number(kB) / 2 ** 20);
    expect(before).toBeGreaterThan(100);
    expect(before - after).toBeCloseTo(50, 0);
  });

  it('writes the record to the requested file', () => {
    const file = join(folder, 'record.json');
    expect(runUmaprobe(['sim', 'run', 'gb10', '--scale', '10', '--report', file, '--', 'true']).code).toBe(0);
    expect(JSON.parse(runUmaprobe(['sim', 'run', 'gb10', '--', 'cat', file]).stdout)).toMatchObject({
      machine: 'gb10',
      wedged: null,
    });
  });

  it('checks the name of the record before the program starts, and follows no link', () => {
    const [link, ran, target] = [join(folder, 'link'), join(folder, 'ran'), join(folder, 'target')];
    symlinkSync(target, link);
    const record = (file: string) => runUmaprobe(['sim', 'run', 'gb10', '--report', file, '--', 'touch', ran]);
    for (const file of [link, folder, join(folder, 'none', 'x'), join(folder, 'n'.repeat(256))]) {
      expect(record(file)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^umaprobe: --report "[^\n]*\n$/) });
      expect(existsSync(ran)).toBe(false);
    }
    expect(existsSync(target)).toBe(false);
  });

  it("keeps the program's exit code if the record cannot be written", () => {
    const gone = join(folder, 'gone');
    const run = (code: number) => {
      mkdirSync(gone);
      const script = `rmdir ${gone}; exit ${code}`;
      return runUmaprobe(['sim', 'run', 'gb10', '--report', join(gone, 'r.json'), '--', 'sh', '-c', script]);
    };
    expect(run(7)).toMatchObject({ code: 7, stderr: expect.stringMatching(/r\.json could not be written: ENOENT/) });
    expect(run(0)).toMatchObject({ code: 1 });
  });

  it('works where umaprobe is installed under a path that the loader would split', () => {
    const copy = join(folder, 'a b: c');
    mkdirSync(copy);
    for (const part of ['dist', 'lib', 'build', 'schemas', 'package.json', 'node_modules'])
      if (part === 'build') {
        mkdirSync(join(copy, 'build/Release'), { recursive: true });
        for (const file of readdirSync(join(ROOT, 'build/Release')).filter((name) =>
          /\.(node|so)$|^umasim-/.test(name),
        ))
          copyFileSync(join(ROOT, 'build/Release', file), join(copy, 'build/Release', file));
      } else symlinkSync(join(ROOT, part), join(copy, part));
    const cli = join(copy, 'dist/cli.js');
    const ran = spawnSync(
      process.execPath,
      [
        '--preserve-symlinks',
        '--preserve-symlinks-main',
        cli,
        'sim',
        'run',
        'gb10',
        '--',
        'head',
        '-1',
        '/proc/meminfo',
      ],
      { encoding: 'utf8' },
    );
    expect(ran).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('125506464 kB') });
  });

  it('refuses a folder of machines that the loader would split, in one line', () => {
    const split = join(folder, 'my files');
    mkdirSync(split);
    const ran = runUmaprobe(['sim', 'run', 'gb10', '--', 'true'], { env: { XDG_RUNTIME_DIR: split } });
    expect(ran).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Set XDG_RUNTIME_DIR or TMPDIR'),
    });
    expect(ran.stderr.trimEnd()).not.toContain('\n');
    expect(readdirSync(split)).toEqual([]);
  });

  it('leaves nothing behind', () => {
    const machineFolders = () => readdirSync(folder).filter((name) => name.startsWith('umaprobe-sim-'));
    const ran = runUmaprobe(['sim', 'run', 'gb10', '--', 'sh', '-c', 'stat -c "%a %F" "$(dirname "$UMAPROBE_SIM")"'], {
      env: { XDG_RUNTIME_DIR: folder },
    });
    expect(ran.stdout).toBe('700 directory\n');
    expect(machineFolders()).toEqual([]);
  });
});
