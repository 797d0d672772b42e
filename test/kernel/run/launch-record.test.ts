/** Launches whose recording fails: real disks and folders, simulated memory. Each says so, and each starts its program. */

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LaunchReport } from '../../../lib/types/index.ts';
import { CLI, cliEnvironment, runInShell, runUmaprobe } from '../../support/cli.ts';
import { asNobody, isRoot } from '../../support/real-files.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const COMMAND = ['launch', '--sim', 'gb10', '--no-prepare', '--bytes', '1GiB'];

/** Runs the launch as text and as JSON on a tmpfs whose last page is taken. */
function onFullDisk(option: (disk: string) => string) {
  const disk = temporaryFolder('launch-full-disk');
  const launch = (json: string) =>
    `XDG_STATE_HOME=${disk} "$0" "$1" ${COMMAND.join(' ')} ${json} ${option(disk)} -- echo started`;
  const script = `mount -t tmpfs -o size=40k none ${disk} && head -c 40960 /dev/zero > ${disk}/full; ${launch('')}; ${launch('--json')}; ${launch('--json --dry-run')}`;
  return runInShell(`exec unshare -m --propagation private sh -c '${script}' "$0" "$1"`);
}

/** The documents of a launch and of its dry run, behind the text of the first launch. */
function documentsIn(stdout: string): LaunchReport[] {
  return stdout
    .slice(stdout.indexOf('{'))
    .split(/^(?=\{)/m)
    .map((text) => parseDocument(text.slice(0, text.lastIndexOf('}') + 1)) as unknown as LaunchReport);
}

const stepOf = ({ plan }: LaunchReport) => plan.steps.find(({ step }) => step === 'record');

describe('a launch on a full disk', () => {
  it.for([
    ['of the default folder', () => ''],
    ['of a folder that was named', (disk: string) => `--folder ${disk}/here`],
  ] as const)('%s starts its program, and says that nothing is recorded', ([, option], context) => {
    if (!isRoot) return context.skip('mounting a tmpfs takes root');
    const { code, stderr, stdout } = onFullDisk(option);
    if (stderr.includes('unshare')) return context.skip(`no mount namespace here: ${stderr}`);
    expect([code, stdout.startsWith('started\n')]).toEqual([0, true]);
    expect(stderr).toMatch(/^failed +record +Nothing can be recorded: the disk of\s+\S+\s+is\s+full/m);
    expect(stderr).toMatch(/^failed +record +Nothing is recorded: /m);
    expect(stderr).toMatch(/^recording +none: .*ENOSPC/ms);
    const [launched, planned] = documentsIn(stdout) as [LaunchReport, LaunchReport];
    expect(launched).toMatchObject({ outcome: 'exited', record: { folder: null } });
    expect(launched.record?.failure).toMatch(/ENOSPC|no space left/);
    expect(stepOf(launched)?.text).toMatch(/^Nothing is recorded: /);
    expect([launched, planned].map((report) => stepOf(report)?.state)).toEqual(['failed', 'failed']);
    expect([planned.record, stepOf(planned)?.text]).toEqual([null, expect.stringContaining('is full, less than 256')]);
  });
});

describe('a launch whose folder cannot be written', () => {
  it.for([
    ['no home', []],
    ['a folder of root', ['--folder', '/root-only/record']],
  ] as const)('with %s starts its program, and says that nothing is recorded', ([, words], context) => {
    if (!isRoot) return context.skip('only root can try it as another user');
    const folder = temporaryFolder('root-only');
    mkdirSync(join(folder, 'root-only'), { mode: 0o700 });
    const user = { ...asNobody, env: { HOME: '/proc/none', XDG_STATE_HOME: '' } };
    const options = words.map((word) => word.replace('/root-only', join(folder, 'root-only')));
    const ran = runUmaprobe([...COMMAND, '--json', ...options, '--', 'true'], user);
    expect(ran.code).toBe(0);
    const report = parseDocument(ran.stdout) as unknown as LaunchReport;
    expect(report).toMatchObject({ outcome: 'exited', record: { folder: null } });
    expect(stepOf(report)).toMatchObject({ state: 'failed', text: expect.stringMatching(/^Nothing is recorded: /) });
    const planned = runUmaprobe([...COMMAND, ...options, '--dry-run', '--', 'true'], user);
    expect(planned.stdout).toMatch(/^failed +record +Nothing can be recorded:.*(EACCES|ENOENT|EPERM)/ms);
  });
});

describe('two launches of one process', () => {
  /** Runs a program that starts launches, and returns what it prints. */
  function run(body: string): unknown {
    const folder = join(temporaryFolder('launch-twice'), 'record');
    const script = `
      import { launch, readRecord, record } from 'umaprobe/run';
      const folder = ${JSON.stringify(folder)};
      const start = (command) => launch({ command, folder, bytes: 2 ** 20, prepare: false, stdio: 'pipe', anyway: true });
      const stepOf = ({ plan, record }) => [plan.steps.find(({ step }) => step === 'record').state, record?.folder === folder];
      const marks = async () => (await readRecord({ folder })).sessions.map(({ marks }) => marks.map(({ text }) => text));
      ${body}`;
    const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: cliEnvironment(),
      cwd: join(CLI, '../..'),
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  it('are both recorded, one after the other', () =>
    expect(
      run(`const [first, second] = [await start(['true']), await start(['true'])];
           console.log(JSON.stringify([stepOf(first), stepOf(second), await marks()]));`),
    ).toEqual([
      ['complete', true],
      ['complete', true],
      [
        ['launch: true', 'launch: exited'],
        ['launch: true', 'launch: exited'],
      ],
    ]));

  it('at the same time share a recording', () => {
    const [first, second, [marks, ...more]] = run(`
      const [first, second] = await Promise.all([start(['sleep', '1']), start(['true'])]);
      console.log(JSON.stringify([stepOf(first), stepOf(second), await marks()]));`) as [unknown, unknown, string[][]];
    expect([first, second]).toEqual(expect.arrayContaining([['complete', true]]));
    expect([first, second]).toEqual(expect.arrayContaining([['skipped', false]]));
    expect(marks).toEqual(expect.arrayContaining(['launch: sleep', 'launch: true']));
    expect(more).toEqual([]);
  });

  it('says that nothing is recorded where this process records elsewhere', () =>
    expect(
      run(`const elsewhere = await record({ folder: folder + '-2', processesMs: 0 });
           const { plan, record: recorded } = await start(['true']);
           await elsewhere.stop();
           console.log(JSON.stringify([plan.steps.at(-1), recorded]));`),
    ).toEqual([
      {
        step: 'record',
        state: 'failed',
        text: expect.stringMatching(/^Nothing is recorded: .*this process records already, in /),
      },
      { folder: null, failure: expect.stringContaining('records already') },
    ]));
});
