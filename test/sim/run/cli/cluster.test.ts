/** umaprobe cluster as it is typed: hosts by ssh, a file of them, answers from a pipe, and what is wrong with each. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
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
import { linesIn, waitFor } from '../../../support/wait.ts';

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
  ssh.host('hangs', `echo $$ > ${file}; exec sleep 60`);
  const child = startUmaprobe(['cluster', ...words, '--hosts', 'hangs', '--deadline', '1m'], env);
  const ended = exitOf(child);
  const pid = (await linesIn(file)).trim();
  child.kill('SIGTERM');
  expect(await ended).toBe(143);
  await waitFor('the end of ssh', () => !existsSync(`/proc/${pid}`));
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

it('is told in one line what is wrong', async () => {
  const { code, stderr, stdout } = await umaprobe(['cluster', '--hosts', 'a,A'], env, '');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^umaprobe: --hosts names "A" twice[^\n]*\n$/);
});

it('reads no terminal as a pipe', () => {
  const line = `${process.execPath} ${CLI} cluster -`;
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
    env: cliEnvironment(),
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([2, expect.stringMatching(/stdin is a terminal/)]);
});
