/** umaprobe cluster as it is typed: hosts by ssh, a file of them, answers from a pipe, and what is wrong with each. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ClusterReport, Snapshot } from '../../../../lib/types/index.ts';
import { findTool } from '../../../../scripts/run.mjs';
import {
  CLI,
  cliEnvironment,
  exitOf,
  runInShell,
  snapshotJson,
  startUmaprobe,
  stdoutMatching,
  umaprobe,
} from '../../../support/cli.ts';
import { fakeSsh, printing } from '../../../support/fake-ssh.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait.ts';

const ssh = fakeSsh();
const env = { PATH: `${ssh.folder}:${process.env.PATH}` };
const simulated = (machine: string) => `exec ${process.execPath} ${CLI} snapshot --json --sim ${machine}`;
ssh.host('idle', simulated('gb10'));
ssh.host('busy', simulated('gb10-busy'));
ssh.host('off', 'echo "ssh: connect to host off port 22: No route to host" >&2; exit 255');
const typed = (...args: string[]) => umaprobe(['cluster', ...args], env);

describe('hosts', () => {
  it('have one screen, with the code of the worst', async () => {
    const { code, stderr, stdout } = await typed('--hosts', 'idle,busy');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/NOTE {2}27\.4 GiB can be loaded on each of 2 machines: busy has the least\./);
    expect(stdout).toMatch(/^busy {2}NOTE[\s\S]*holds 70\.0 GiB[\s\S]*^idle {2}OK/m);
    expect((await typed('--hosts', 'idle', '--hosts', 'off')).code).toBe(3);
  });

  it.skipIf(findTool('script') === null)('are waited for with a line on a terminal, which is gone at the end', () => {
    ssh.host('slow', `sleep 1; ${simulated('gb10')}`);
    const command = `stty cols 80; ${process.execPath} ${CLI} cluster --hosts slow`;
    const { stdout } = runInShell(`script -qefc '${command}' /dev/null`, { env });
    const drawn = stdout.split('\r\x1b[K');
    expect(drawn.at(1)).toMatch(/asking slow · [\d.]+ ms/);
    const last = drawn.at(-1);
    expect(last).not.toContain('asking');
    expect(last).toContain('can be loaded on slow');
  });

  it('are read from a file of mpirun', async () => {
    const file = join(temporaryFolder('hostfile'), 'hosts');
    writeFileSync(file, '# Sparks\nidle slots=1\nbusy:1\n');
    const { stdout } = await typed('--hostfile', file, '--json');
    const { machines } = parseDocument(stdout) as unknown as ClusterReport;
    expect(machines.map(({ host }) => host)).toEqual(['busy', 'idle']);
    for (const { snapshot } of machines)
      expect(parseDocument(JSON.stringify(snapshot)).schema).toBe('umaprobe/snapshot/1');
  });

  it('that are 16 fit on a screen of 80x23', async () => {
    const one = snapshotJson(['--sim', 'gb10']);
    const names = Array.from({ length: 16 }, (_, at) => `node-${at}`);
    for (const [at, name] of names.entries()) {
      const snapshot: Snapshot = { ...one, bootId: `${at}`, at: new Date(Date.now() + 3000).toISOString() };
      ssh.host(name, printing(snapshot));
    }
    const { code, stdout } = await typed('--hosts', names.join(','));
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(23);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    for (const name of names) expect(stdout).toContain(`${name} `);
  });

  it('are asked again with --watch, until Ctrl-C', async () => {
    const child = startUmaprobe(['cluster', '--hosts', 'idle', '--watch', '--interval', '1s', '--json'], env);
    const ended = exitOf(child);
    const text = await stdoutMatching(child, /\n.*\n/);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    for (const line of text.trimEnd().split('\n').slice(0, 2))
      expect(parseDocument(line).schema).toBe('umaprobe/cluster/1');
  });
});

it.each([[], ['check', '--need', '1GiB']])('a signal ends each ssh: cluster %s', async (...words) => {
  const file = join(temporaryFolder('signal'), 'pid');
  ssh.host('hangs', `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 60`);
  const child = startUmaprobe(['cluster', ...words, '--hosts', 'hangs', '--deadline', '1m'], env);
  const ended = exitOf(child);
  expect(await waitFor(() => existsSync(file), 15_000)).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toBe(143);
  const pid = readFileSync(file, 'utf8').trim();
  expect(await waitFor(() => !existsSync(`/proc/${pid}`), 5000)).toBe(true);
});

describe('check', () => {
  it('says which machine is short', async () => {
    const { code, stdout } = await typed('check', '--need', '96GiB', '--hosts', 'idle,busy');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FITS AFTER {2}busy has the least room: 68\.6 GiB are missing there\.$/m);
    expect((await typed('check', '--need', '96GiB', '--hosts', 'idle')).code).toBe(0);
    expect((await typed('check', '--need', '1GiB', '--hosts', 'idle,off')).code).toBe(3);
  });

  it('asks for the need of one rank, as fit does', async () => {
    const model = '--params 30e9 --dtype fp8 --for vllm --context 8192 --tensor-parallel 2'.split(' ');
    const { stdout } = await typed('check', ...model, '--hosts', 'idle,busy', '--json');
    const { need } = parseDocument(stdout) as { need: object };
    const own = await umaprobe(['fit', ...model, '--sim', 'gb10', '--json']);
    expect((parseDocument(own.stdout) as { need: object }).need).toMatchObject(need);
  });

  it('of a machine without a GPU is no yes', async () => {
    ssh.host('plain', simulated('no-driver'));
    const { code, stdout } = await typed('check', '--need', '1GiB', '--hosts', 'idle,plain');
    expect(code).toBe(3);
    expect(stdout).toMatch(/UNKNOWN/);
  });
});

describe('a pipe', () => {
  const mpirun = findTool('mpirun');
  const need = 'cluster check --need 96GiB --expect 2 -';

  it('of a loop is read as it comes', () => {
    const { code, stdout } = runInShell(
      `for machine in gb10 gb10-cached; do "$0" "$1" snapshot --json --sim $machine; done | "$0" "$1" ${need}`,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/It fits on each of 2 machines/);
  });

  it.skipIf(mpirun === null)(`of mpirun too${mpirun === null ? ' (skipped: mpirun is not installed)' : ''}`, () => {
    const rank = (machine: string) => `-np 1 "$0" "$1" snapshot --json --sim ${machine}`;
    const start = 'mpirun --allow-run-as-root --oversubscribe --tag-output';
    const { code, stdout } = runInShell(`${start} ${rank('gb10')} : ${rank('gb10-busy')} | "$0" "$1" ${need}`);
    expect(stdout).toMatch(/gb10-busy +FITS AFTER[\s\S]*gb10 +FITS/);
    expect(code).toBe(1);
  });

  it('that ends early is no yes', () => {
    const { code, stdout } = runInShell(`"$0" "$1" snapshot --json --sim gb10 | "$0" "$1" ${need}`);
    expect(code).toBe(3);
    expect(stdout).toMatch(/answer 2 {2}MISSING/);
  });
});

const MISTYPED = join(temporaryFolder('mistyped'), 'hosts');
writeFileSync(MISTYPED, '# two\na slots=1\na;b\n');

it.each([
  ['', /Which machines\? Give --hosts spark-1,spark-2, --hostfile, or - for answers from a pipe\./],
  ['--hosts a --hostfile b', /--hosts and --hostfile both say which machines: give one\./],
  ['--hosts -x', /--hosts needs a value|expected a name of ~\/\.ssh\/config/],
  ['--hosts=-oProxyCommand=id', /: a name of --hosts is "-oProxyCommand=id"; expected a name of ~\/\.ssh\/config/],
  ['--hosts a,,b', /--hosts "a,,b" has an empty entry/],
  ['--hosts a,A', /: --hosts names "A" twice/],
  [`--hosts ${'abcdefghijklmnopq'.split('').join()}`, /: length of --hosts is 17; expected 1 to 16/],
  [`--hostfile ${MISTYPED}`, /: --hostfile "[^"]+", line 3 is "a;b"; expected a name of ~\/\.ssh\/config/],
  ['check --need 1GiB --hosts a:2', /: a name of --hosts is "a:2"; expected "a" alone, or with a port/],
  ['spark-1', /"spark-1" is no option; machines are named by --hosts\./],
  ['--hostfile /dev/null', /--hostfile "\/dev\/null": it is no regular file/],
  ['--hosts a --expect 2', /--expect needs -: of hosts each is expected\./],
  ['- --deadline 5s', /--deadline is for hosts that are asked/],
  ['--hosts a --deadline 0s', /--deadline "0s" is outside 1ms to 10m\./],
  ['--hosts a --command x --copy y', /--command and --copy both say what is run there/],
  ['--hosts a --copy /nonexistent', /: --copy "\/nonexistent": there is no such file/],
  [`--hosts a --command ${'x'.repeat(5000)}`, /: length of --command is 5000; expected 1 to 4096 characters/],
  ['--hosts a --interval 5s', /--interval needs --watch\./],
  ['check --hosts a', /What shall fit into each machine\? Give --need 96GiB, --model or --params 70e9\./],
  ['check --hosts a --need 96', /--need "96" has no unit/],
  ['check --hosts a --need 1GiB --tensor-parallel 2', /--need is a size without a model, so it does not go with --ten/],
  ['check --hosts a --need 1GiB --model x', /--need and --model both say what is loaded: give one\./],
  [
    'check --hosts a --params 7e9 --tensor-parallel 2',
    /divided among 2 ranks, one on each machine: name 2 hosts, not 1/,
  ],
  ['--sim gb10 --hosts a', /cluster reads no machine, so --sim does not apply\./],
])('cluster %s is wrong usage, in one line', async (args, message) => {
  const words = args.split(' ').filter((word) => word !== '');
  const { code, stderr, stdout } = await umaprobe(['cluster', ...words], env, '');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

it('reads no terminal as a pipe', () => {
  const line = `${process.execPath} ${CLI} cluster -`;
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
    env: cliEnvironment(),
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([2, expect.stringMatching(/stdin is a terminal/)]);
});
