/**
 * Real sshd in network namespaces as machines of their own, each with another simulated memory: they answer, one is off, one
 * hangs, one floods, one has another host key, and one has no umaprobe and gets the standalone file.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClusterCheck, ClusterReport, LiveHistory } from '../../../lib/types/index.ts';
import { findTool } from '../../../scripts/run.mjs';
import { CLI, cliEnvironment, exitOf, startUmaprobe, umaprobe } from '../../support/cli.ts';
import { sentSnapshot } from '../../support/fake-ssh.ts';
import { ROOT } from '../../support/root.ts';
import { pathWith } from '../../support/sandbox.ts';
import { parseDocument } from '../../support/schemas.ts';
import { get, startServing } from '../../support/serving.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait.ts';

const SSHD = '/usr/sbin/sshd';
const [ip, ssh, keygen] = [findTool('ip'), findTool('ssh'), findTool('ssh-keygen')];
const TAG = `uma${process.pid % 100_000}`;

/** Why there are no machines here; null: there are. */
function missing(): string | null {
  if (process.geteuid?.() !== 0) return 'only root makes network namespaces';
  if (ip === null || ssh === null || keygen === null || !existsSync(SSHD)) return 'ip, ssh or sshd is not installed';
  const made = spawnSync(ip, ['netns', 'add', `${TAG}-try`]);
  spawnSync(ip, ['netns', 'del', `${TAG}-try`]);
  return made.status === 0 ? null : 'no network namespace can be made here';
}

const reason = missing();
const folder = temporaryFolder('cluster-ssh');
const home = join(folder, 'home');
const UMAPROBE = `${process.execPath} ${CLI}`;
const simulated = (machine: string): string => `exec ${UMAPROBE} snapshot --json --sim ${machine}`;
const NOISE = `{ head -c 10485760 /dev/zero | tr '\\0' x; printf '\\033[2J\\033]0;owned\\a\\n'; }`;

/** All that a script of --copy needs. */
const WITHOUT_NODE = pathWith('sh', 'cat', 'chmod', 'mkdir', 'mktemp', 'mv', 'rm', 'sha256sum');

/** What runs there whatever is asked; '': what is asked. */
const MACHINES: Readonly<Record<string, string>> = {
  'spark-1': simulated('gb10'),
  'spark-2': simulated('gb10-busy'),
  'spark-3': simulated('gb10-cached'),
  'spark-4': simulated('gb10-resting'),
  loud: `${NOISE}; ${NOISE} >&2; ${simulated('gb10')}`,
  hangs: 'exec sleep 600',
  changed: simulated('gb10'),
  bare: '',
  recorded: `eval "set -- $SSH_ORIGINAL_COMMAND"; shift; exec ${UMAPROBE} "$@" --sim gb10-busy`,
};
const names = [...Object.keys(MACHINES), 'off'];
const addressOf = (name: string): string => `10.213.${names.indexOf(name)}.2`;
const spaceOf = (name: string): string => `${TAG}-${names.indexOf(name)}`;
const daemons: ChildProcess[] = [];

function run(...words: string[]): void {
  const [file = '', ...args] = words;
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function pidsIn(space: string): string[] {
  return execFileSync('ip', ['netns', 'pids', space], { encoding: 'utf8' })
    .split('\n')
    .filter((pid) => pid !== '');
}

/** Name of a process; '': it has ended. */
function nameOf(pid: string): string {
  return spawnSync('cat', [`/proc/${pid}/comm`], { encoding: 'utf8' }).stdout;
}

/** A namespace with an address that this one reaches, and sshd in it. */
function start(name: string, index: number, forced: string): void {
  const [space, near, far] = [`${TAG}-${index}`, `${TAG}n${index}`, `${TAG}f${index}`];
  run('ip', 'netns', 'add', space);
  run('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', space);
  run('ip', 'addr', 'add', `10.213.${index}.1/24`, 'dev', near);
  run('ip', 'link', 'set', near, 'up');
  run('ip', '-n', space, 'addr', 'add', `${addressOf(name)}/24`, 'dev', far);
  run('ip', '-n', space, 'link', 'set', far, 'up');
  const key = join(folder, `host-${name}`);
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key);
  const config = join(folder, `sshd-${name}`);
  writeFileSync(
    config,
    [
      `HostKey ${key}`,
      `AuthorizedKeysFile ${folder}/user.pub`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      `SetEnv HOME=${home} PATH=${forced === '' ? WITHOUT_NODE : '/usr/bin:/bin'} TMPDIR=${folder}`,
      ...(forced === '' ? [] : [`ForceCommand ${forced}`]),
      '',
    ].join('\n'),
  );
  // sshd writes its title over the variable by which a process of the tests is known.
  const words = ['--pdeathsig=KILL', 'ip', 'netns', 'exec', space, SSHD, '-D', '-e', '-f', config];
  daemons.push(spawn('setpriv', words, { stdio: 'ignore' }));
}

beforeAll(async () => {
  if (reason !== null) return;
  mkdirSync('/run/sshd', { recursive: true });
  mkdirSync(home);
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'user'));
  for (const [index, [name, forced]] of Object.entries(MACHINES).entries()) start(name, index, forced);
  const keyOf = (name: string) => readFileSync(join(folder, `host-${name}.pub`), 'utf8').trim();
  const known = Object.keys(MACHINES).map(
    (name) => `${addressOf(name)} ${keyOf(name === 'changed' ? 'spark-1' : name)}`,
  );
  writeFileSync(join(folder, 'known_hosts'), `${known.join('\n')}\n`);
  const hosts = names.map((name) => `Host ${name}\n  HostName ${addressOf(name)}\n`);
  writeFileSync(
    join(folder, 'config'),
    `${hosts.join('')}Host *\n  User root\n  IdentityFile ${folder}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile ${folder}/known_hosts\n`,
  );
  mkdirSync(join(folder, 'bin'));
  // The configuration of ssh is found by the user's entry and not by HOME.
  writeFileSync(join(folder, 'bin/ssh'), `#!/bin/sh\nexec ${ssh} -F ${folder}/config "$@"\n`);
  chmodSync(join(folder, 'bin/ssh'), 0o755);
  const isSilent = (name: string): boolean =>
    spawnSync('ssh-keyscan', ['-T', '2', '-t', 'ed25519', addressOf(name)]).stdout.length === 0;
  const silent = () => Object.keys(MACHINES).filter(isSilent);
  await waitFor('an answer of each sshd', silent, (machines) => machines.length === 0);
});

afterAll(() => {
  for (const daemon of daemons) daemon.kill('SIGKILL');
  if (reason !== null) return;
  for (const index of Object.keys(MACHINES).keys()) {
    for (const pid of pidsIn(`${TAG}-${index}`)) spawnSync('kill', ['-9', pid]);
    spawnSync('ip', ['netns', 'del', `${TAG}-${index}`]);
  }
});

const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
const typed = (...args: string[]) => umaprobe(['cluster', ...args], env);
const statesOf = ({ machines }: ClusterReport) => Object.fromEntries(machines.map(({ host, state }) => [host, state]));

describe.skipIf(reason !== null)(`machines behind sshd${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it('are on one screen, the weakest first', async () => {
    const { code, stdout } = await typed('--hosts', 'spark-1,spark-2,spark-3,spark-4');
    expect(code).toBe(0);
    expect(stdout).toMatch(/SIMULATED/);
    expect(stdout).toMatch(/Nothing fits into all: spark-4 can load nothing\./);
    const rows = stdout.split('\n').filter((line) => /^spark-/.test(line));
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(['spark-4', 'spark-2', 'spark-3', 'spark-1']);
    expect(stdout.split('\n').length).toBeLessThan(24);
  });

  it('are checked, and the one that is short is named with its cause and remedy', async () => {
    const { code, stdout } = await typed('check', '--need', '96GiB', '--hosts', 'spark-1,spark-2');
    expect(code).toBe(1);
    expect(stdout).toMatch(/spark-2 has the least room: 68\.6 GiB are missing there\./);
    expect(stdout).toMatch(/→ stop VLLM::EngineCor/);
    const fits = await typed('check', '--need', '96GiB', '--hosts', 'spark-1,spark-3', '--json');
    expect(fits.code).toBe(0);
    expect(parseDocument(fits.stdout) as unknown as ClusterCheck).toMatchObject({ verdict: 'fits', complete: true });
  });

  it('that do not answer have their reason, and none is a yes', async () => {
    const { code, stdout } = await typed('--hosts', 'spark-1,loud,changed,bare,off', '--json');
    expect(code).toBe(3);
    const report = parseDocument(stdout) as unknown as ClusterReport;
    expect(statesOf(report)).toEqual({
      'spark-1': 'answered',
      loud: 'answered',
      changed: 'unreachable',
      bare: 'failed',
      off: 'unreachable',
    });
    const machineOf = (name: string) => report.machines.find(({ host }) => host === name);
    expect(machineOf('changed')).toMatchObject({
      because: 'Host key verification failed.',
      next: 'log in by hand and compare its key before it is accepted: ssh changed',
    });
    expect(machineOf('bare')?.because).toMatch(/^It cannot run umaprobe/);
    expect((await typed('--hosts', 'hangs', '--deadline', '2s')).stdout).toMatch(/^UNKNOWN[\s\S]*hangs {2}NO ANSWER/);
    const check = await typed('check', '--need', '1GiB', '--hosts', 'spark-1,changed');
    expect(check.code).toBe(3);
    expect(check.stdout).toMatch(/^UNKNOWN +changed gave no usable answer/m);
  });

  describe('without umaprobe', () => {
    const cache = join(home, '.cache/umaprobe');
    const copied = () => readdirSync(cache).filter((name) => /^umaprobe-[0-9a-f]{16}$/.test(name));

    it('run a file that is copied there once, for its user only', async () => {
      // Stands for the standalone file.
      const file = join(folder, 'umaprobe-linux');
      const script = `#!/bin/sh\n[ "$*" = "snapshot --json" ] && cat <<'SENT'\n${JSON.stringify(sentSnapshot('bare'))}\nSENT\n`;
      writeFileSync(file, script);
      const first = await typed('--hosts', 'bare', '--copy', file, '--json');
      expect(first.stderr).toMatch(/^umaprobe: bare has not got umaprobe-linux yet: copying \d+\.\d KiB to/);
      expect(statesOf(parseDocument(first.stdout) as unknown as ClusterReport)).toEqual({ bare: 'answered' });
      const [name = ''] = copied();
      expect(readFileSync(join(cache, name), 'utf8')).toBe(script);
      expect([statSync(cache).mode & 0o777, statSync(join(cache, name)).mode & 0o777]).toEqual([0o700, 0o700]);
      expect((await typed('--hosts', 'bare', '--copy', file)).stderr).toBe('');
      // One that was changed since is not run.
      writeFileSync(join(cache, name), '#!/bin/sh\necho changed\n');
      const again = await typed('--hosts', 'bare', '--copy', file, '--json');
      expect(again.stderr).toMatch(/copying/);
      expect(statesOf(parseDocument(again.stdout) as unknown as ClusterReport)).toEqual({ bare: 'answered' });
      expect(copied()).toHaveLength(1);
      expect(readdirSync(cache).filter((other) => other.startsWith('.copy'))).toEqual([]);
    });

    const built = existsSync(join(ROOT, 'build-standalone'))
      ? readdirSync(join(ROOT, 'build-standalone')).find((name) => name.endsWith(`linux-${process.arch}`))
      : undefined;
    it.skipIf(built === undefined)(
      `run the standalone file${built === undefined ? ' (skipped: npm run standalone makes it)' : ''}`,
      async () => {
        const file = join(ROOT, 'build-standalone', built ?? '');
        const { stdout } = await typed('--hosts', 'bare', '--copy', file, '--deadline', '60s', '--json');
        expect(statesOf(parseDocument(stdout) as unknown as ClusterReport)).toEqual({ bare: 'answered' });
      },
    );
  });

  // With -v, and of an older OpenSSH always, the ssh that keeps a connection has stderr of the first one open while it runs.
  describe.each(['', '-v'])('with connections that ssh keeps (ssh %s)', (KEPT_OPTIONS) => {
    const bin = join(folder, 'kept');
    const byHand = (...words: string[]) => spawnSync(join(bin, 'ssh'), words, { encoding: 'utf8' });
    const keeperOf = (host: string) =>
      /Master running \(pid=(\d+)\)/.exec(byHand('-O', 'check', host).stderr)?.[1] ?? null;
    const envKept = { PATH: `${bin}:${process.env.PATH}`, KEPT_OPTIONS };
    const withKept = (...args: string[]) => umaprobe(['cluster', '--json', ...args], envKept);
    const pair = ['spark-1', 'spark-3'];

    beforeAll(() => {
      mkdirSync(bin, { recursive: true });
      const config = join(folder, 'config-kept');
      writeFileSync(
        config,
        `ControlMaster auto\nControlPath ${folder}/%h\nControlPersist 300\nInclude ${folder}/config\n`,
      );
      writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec ${ssh} $KEPT_OPTIONS -F ${config} "$@"\n`);
      chmodSync(join(bin, 'ssh'), 0o755);
    });
    const close = () => {
      for (const host of [...pair, 'hangs']) byHand('-O', 'exit', host);
    };
    beforeEach(close);
    afterAll(close);

    it('answer when there is none yet, and over the kept one', async () => {
      expect(pair.map(keeperOf)).toEqual([null, null]);
      const answered = { 'spark-1': 'answered', 'spark-3': 'answered' };
      const first = await withKept('--hosts', pair.join());
      expect(statesOf(parseDocument(first.stdout) as unknown as ClusterReport)).toEqual(answered);
      const keepers = pair.map(keeperOf);
      expect(keepers).not.toContain(null);
      const second = await withKept('--hosts', pair.join());
      expect(statesOf(parseDocument(second.stdout) as unknown as ClusterReport)).toEqual(answered);
      expect(pair.map(keeperOf)).toEqual(keepers);
    });

    it('are not opened by serve, whose end would end what the user has in them', async () => {
      const asleep = () => pidsIn(spaceOf('hangs')).filter((pid) => /^sleep/.test(nameOf(pid))).length;
      const before = asleep();
      const { child, url } = await startServing(['--hosts', 'hangs'], envKept);
      const page = new AbortController();
      const asked = fetch(url, { signal: page.signal }).catch(() => null);
      await waitFor('another sleep', asleep, (count) => count > before);
      expect(keeperOf('hangs')).toBeNull();
      child.kill();
      page.abort();
      await Promise.all([asked, exitOf(child)]);
    });

    it('leave the connection of the user when they are late', async () => {
      byHand('-M', '-N', '-f', 'hangs');
      const keeper = keeperOf('hangs');
      expect(keeper).not.toBeNull();
      const { stdout } = await withKept('--hosts', 'hangs', '--deadline', '1s');
      expect(statesOf(parseDocument(stdout) as unknown as ClusterReport)).toEqual({ hangs: 'timeout' });
      expect(keeperOf('hangs')).toBe(keeper);
    });
  });

  it('have a history on the page of serve, each by its own recorder, or the reason why there is none', async ({
    onTestFinished,
  }) => {
    const record = join(folder, "a recorder's folder");
    const recorder = startUmaprobe(['record', '--sim', 'gb10-busy', '--folder', record, '--duration', '60s']);
    const ended = exitOf(recorder);
    const mark = ['mark', 'epoch 3', '--folder', record];
    await expect.poll(async () => (await umaprobe(mark)).code, { timeout: 10_000 }).toBe(0);
    // Each simulated machine has a boot id of its own: the one that recorded has stopped.
    recorder.kill('SIGKILL');
    await ended;
    const hosts = ['recorded', 'off', 'hangs', 'loud', 'changed'];
    const { child, port } = await startServing(['--hosts', hosts.join(','), '--folder', record], env);
    onTestFinished(() => void child.kill());
    const answers = await Promise.all(hosts.map((_, index) => get(port, `/history/${index}`)));
    const histories = answers.map(({ body }) => JSON.parse(body) as LiveHistory);
    const [session] = histories[0]?.sessions ?? [];
    expect([session?.end, session?.marks.map(({ text }) => text), histories[0]?.why]).toEqual([
      'machine-lost',
      ['epoch 3'],
      null,
    ]);
    expect(histories.slice(1).map(({ sessions }) => sessions.length)).toEqual([0, 0, 0, 0]);
    const [off, hangs, loud, changed] = histories.slice(1).map(({ why }) => why);
    expect(off).toMatch(/timed out|No route to host/i);
    expect(hangs).toMatch(/^No whole answer came within 15\.0* s\./);
    expect(loud).toMatch(/^What came is JSON, and no recording of umaprobe\.$/);
    expect(changed).toMatch(/^Host key verification failed\. Next: /);
  });

  it('no answer reaches a terminal as it is', async () => {
    const command = ['cluster', '--hosts', 'loud'].map((word) => `'${word}'`).join(' ');
    const { stdout } = spawnSync('script', ['-qec', `${UMAPROBE} ${command}`, '/dev/null'], {
      env: { ...cliEnvironment(env), NO_COLOR: '1' },
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/loud {2}OK/);
    expect(stdout).not.toContain('owned');
    expect(stdout).not.toContain('\x1b[2J');
  });
});
