/** Dropping the real cache: as root, as nobody, with a read-only /proc/sys as in a container, and by sudo with the printed rule. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sudoersRule } from '../../../lib/core/cache/sudoers.ts';
import type { CacheStatus, CompactReport, DropReport } from '../../../lib/types/index.ts';
import { CLI, type CliResult, runInShell, runUmaprobe, umaprobe } from '../../support/cli.ts';
import { freeBytes, meminfoBytes } from '../../support/meminfo.ts';
import { besideOthers, watchOthers } from '../../support/other-programs.ts';
import { asNobody, diskFolder, isRoot, nobody, pageBytes, writeRandom } from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { MiB } from '../../support/units.ts';

const SIZE = 256 * MiB;
const NOISE = SIZE / 2;
const VISUDO = '/usr/sbin/visudo';
const SUDO = '/usr/bin/sudo';

/** Why this process cannot write drop_caches; null: it can. Root of a container often cannot. */
const notWritable = isRoot
  ? /\bro\b/.test(/^\S+ \/proc\/sys \S+ (\S+)/m.exec(readFileSync('/proc/self/mounts', 'utf8'))?.[1] ?? '')
    ? '/proc/sys is read-only here'
    : null
  : 'only root may drop caches';

/** Quotes arguments for a shell. */
const quoted = (...args: string[]) => args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
const command = (...args: string[]) => quoted(process.execPath, CLI, ...args);
/** Runs the rest of a shell's line as nobody. */
const AS_NOBODY = `setpriv --reuid ${nobody} --regid ${nobody} --clear-groups `;

/** Runs a shell in a mount namespace of its own: its mounts are invisible outside. */
function runUnshared(script: string): CliResult {
  return runInShell(`exec unshare -m --propagation private sh -c ${quoted(script)}`, { cwd: '/' });
}

/** Why no mount namespace can be created here; null: it can. */
function missingNamespaces(): string | null {
  if (!isRoot) return 'a mount namespace takes root';
  const { code, stderr } = runUnshared('mount --bind /proc/sys /proc/sys');
  return code === 0 ? null : `no mount namespace here: ${stderr.trim()}`;
}

const runJson = (...args: string[]): unknown => parseDocument(runUmaprobe([...args, '--json']).stdout);

/** The kernel's counts of drops: page cache, slab. */
function drops(): string[] {
  return readFileSync('/proc/vmstat', 'utf8').match(/^drop_(pagecache|slab) \d+$/gm) ?? [];
}

describe('as root', () => {
  it('drops, and the receipt is what /proc/meminfo says', async (context) => {
    if (notWritable !== null) return context.skip(notWritable);
    const disk = diskFolder(2 * SIZE);
    if ('reason' in disk) return context.skip(disk.reason);
    const file = join(disk.path, 'file');
    const cachedOf = () => (runJson('cache', 'status', file) as CacheStatus).targets[0]?.cachedBytes;
    await besideOthers(context, NOISE / 2, async () => {
      writeRandom(file, SIZE, true);
      expect(cachedOf()).toBeGreaterThan(0.99 * SIZE);
      const moved = watchOthers(process.pid, { cache: true });
      const before = { cached: meminfoBytes('Cached'), free: freeBytes(pageBytes) };
      const { code, stdout } = await umaprobe(['cache', 'drop', '--level', '1', '--json']);
      const now = { cached: meminfoBytes('Cached'), free: freeBytes(pageBytes) };
      const others = moved();
      expect(code).toBe(0);
      const { receipt, ...report } = parseDocument(stdout) as unknown as DropReport;
      expect(report).toMatchObject({ level: 1, by: 'write', sync: { finished: true }, simulated: null });
      expect(cachedOf()).toBe(0);
      const { cached, freeInCpuLists, memFree } = receipt.change;
      const gained = now.free - before.free;
      const check = (): void => {
        expect(-(cached ?? 0)).toBeGreaterThan(SIZE - NOISE);
        expect(Math.abs((cached ?? 0) - (now.cached - before.cached))).toBeLessThan(NOISE);
        expect(gained).toBeGreaterThan(SIZE - NOISE);
        // MemFree alone may not rise: the lists of the processors take up to an eighth of memory first.
        expect(Math.abs((memFree ?? 0) + (freeInCpuLists ?? 0) - gained)).toBeLessThan(0.9 * SIZE);
      };
      return { others, check };
    });
  });

  it('compacts, and reports the effect by order', (context) => {
    if (notWritable !== null) return context.skip(notWritable);
    const { stdout } = runUmaprobe(['cache', 'compact', '--always', '--json']);
    const report = parseDocument(stdout) as unknown as CompactReport;
    expect(report).toMatchObject({ by: 'write', simulated: null });
    expect(report.orders.length).toBeGreaterThan(9);
  });
});

/** Runs it again where other programs of this computer drop caches meanwhile: not each time. */
function runWithoutDrops(args: string[], options: Parameters<typeof runUmaprobe>[1] = {}): CliResult {
  let [before, ran] = [drops(), runUmaprobe(args, options)];
  for (let left = 20; left > 0 && String(drops()) !== String(before); left--)
    [before, ran] = [drops(), runUmaprobe(args, options)];
  expect(drops()).toEqual(before);
  return ran;
}

it.each(['1', '2', '3'])('a dry run of level %s drops nothing', (level) => {
  const { code, stdout } = runWithoutDrops(['cache', 'drop', '--dry-run', '--force', '--level', level]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^PLAN {2}About [\d.]+ [KMG]iB .* would become free\. Nothing was changed\.$/m);
});

describe('as nobody', () => {
  it.each([
    [
      ['cache', 'drop'],
      /only root may write it; nothing was changed\. Run: sync; sudo \/\S+\/sysctl vm\.drop_caches=1 /,
    ],
    [
      ['cache', 'compact', '--always'],
      /only root may write it; nothing was changed\. Run: sudo \/\S+\/sysctl vm\.compact_memory=1 /,
    ],
  ])('%j: exit 4, one line with the command, nothing changed', (args, line) => {
    const options = { cwd: '/', ...asNobody };
    const ran = runWithoutDrops(args, options);
    expect(ran.code).toBe(4);
    expect(ran.stderr).toMatch(line);
    expect(ran.stderr.trim().split('\n')).toHaveLength(1);
    expect(ran.stdout).toBe('');
    expect(parseDocument(runUmaprobe([...args, '--json'], options).stdout)).toMatchObject({
      error: { code: 'ERR_UMA_PERMISSION', exitCode: 4, nativeName: 'EACCES' },
    });
  });

  it('prepare skips actions without permission', () => {
    const bytes = `${freeBytes(pageBytes) + 128 * MiB}B`;
    const args = ['prepare', bytes, '--floor', '0', '--path', '/nowhere', '--json'];
    const ran = runUmaprobe(args, { cwd: '/', ...asNobody });
    expect(ran.code).toBe(1);
    expect(parseDocument(ran.stdout)).toMatchObject({
      steps: expect.arrayContaining([expect.objectContaining({ action: 'drop', state: 'skipped' })]),
    });
  });
});

describe('where /proc/sys is read-only, as in a container', () => {
  it('root gets the reason, and the command for the host', (context) => {
    const reason = missingNamespaces();
    if (reason !== null) return context.skip(reason);
    const { code, stderr } = runUnshared(
      `mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec ${command('cache', 'drop')}`,
    );
    expect(code).toBe(4);
    expect(stderr).toMatch(
      /\/proc\/sys is read-only here, as in a container.*On the host run: sync; sudo \/\S+sysctl vm\.drop_caches=1/,
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('the sudoers rule', () => {
  const rule = (...args: string[]) => runUmaprobe(['cache', 'rule', '--user', 'nobody', ...args]).stdout;

  it.for([[[]], [['--level', '1,2,3', '--compact']]] as string[][][])('%j passes visudo', ([args = []], context) => {
    if (!existsSync(VISUDO)) return context.skip(`${VISUDO} is not installed`);
    const path = join(temporaryFolder('rule'), 'umaprobe.sudoers');
    writeFileSync(path, rule(...args), { mode: 0o440 });
    expect(execFileSync(VISUDO, ['-cf', path], { encoding: 'utf8' })).toMatch(/parsed OK/);
  });

  it('for a user with the name of a keyword, of an alias or with special characters passes visudo as that user', (context) => {
    if (!existsSync(VISUDO)) return context.skip(`${VISUDO} is not installed`);
    const users = [
      'Defaults',
      'ADMINS',
      'User_Alias',
      'Cmnd_Alias',
      'include',
      'a.b',
      'a_b',
      'a@example.org',
      '1000',
      'Alice',
    ];
    const path = join(temporaryFolder('rule'), 'umaprobe.sudoers');
    const sysctls = [{ name: 'drop_caches', level: 3 }] as const;
    const rules = users.map((user) => `${sudoersRule({ user, sysctls, sysctl: '/usr/sbin/sysctl' }).rule}\n`);
    writeFileSync(path, rules.join(''), { mode: 0o440 });
    expect(execFileSync(VISUDO, ['-cf', path], { encoding: 'utf8' })).toMatch(/parsed OK/);
    const { User_Specs } = JSON.parse(execFileSync('cvtsudoers', ['-f', 'json', path], { encoding: 'utf8' })) as {
      User_Specs: { User_List: object[] }[];
    };
    expect(User_Specs.map(({ User_List }) => User_List)).toEqual(users.map((username) => [{ username }]));
  });

  it('permits exactly that: another level, another sysctl or another argument is refused', (context) => {
    if (!existsSync(SUDO)) return context.skip(`${SUDO} is not installed`);
    if (notWritable !== null) return context.skip(notWritable);
    const reason = missingNamespaces();
    if (reason !== null) return context.skip(reason);
    const folder = temporaryFolder('sudo');
    const rules = join(folder, 'sudoers.d');
    mkdirSync(rules, { mode: 0o755 });
    writeFileSync(join(rules, 'umaprobe-nobody'), rule('--level', '1'), { mode: 0o440 });
    const inside = (line: string) => runUnshared(`mount --bind '${rules}' /etc/sudoers.d && ${AS_NOBODY}${line}`);

    const before = drops();
    const allowed = inside(command('cache', 'drop', '--level', '1', '--sudo', '--json'));
    expect(allowed.stderr).toBe('');
    expect(parseDocument(allowed.stdout)).toMatchObject({ by: 'sudo', level: 1 });
    expect(drops()).not.toEqual(before);

    const other = inside(command('cache', 'drop', '--level', '3', '--sudo'));
    expect(other.code).toBe(4);
    expect(other.stderr).toMatch(/umaprobe cache rule prints the sudoers line that permits it/);
    expect(other.stderr.trim().split('\n')).toHaveLength(1);

    const sysctl = /NOPASSWD: (\S+)/.exec(rule())?.[1] ?? 'sysctl';
    for (const wider of [
      'vm.drop_caches=3',
      'vm.drop_caches=1 vm.swappiness=60',
      '-w vm.drop_caches=1',
      'vm.swappiness',
      '',
    ])
      expect(inside(`${SUDO} -n ${sysctl} ${wider}`).code).not.toBe(0);
    expect(inside(`${SUDO} -n ${sysctl} vm.drop_caches=1`).code).toBe(0);
  });
});
