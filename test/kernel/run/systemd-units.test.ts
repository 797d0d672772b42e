/** Units under a real systemd on the real kernel: those that ship with all their hardening, and guard for units of others. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostMemorySync } from '../../../lib/core/host/meminfo.ts';
import type { GuardReport, RecordReport } from '../../../lib/types/index.ts';
import { CLI } from '../../support/cli.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { missingSystemd, Systemd } from '../../support/systemd.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GiB, MiB } from '../../support/units.ts';
import { waitFor } from '../../support/wait.ts';

const available = () => hostMemorySync().available ?? 0;
const UMAPROBE = `${process.execPath} ${CLI}`;

/**
 * Once a guard reads the memory of the machine it takes 1 GiB/s, 5 GiB at most, time after time: the guard of the system
 * looks every few seconds for what it may stop.
 */
const HOG = join(temporaryFolder('hog'), 'hog.sh');
const TAKE = `const held = []; setInterval(() => held.length < 80 ? held.push(Buffer.alloc(${64 * MiB}, 7)) : process.exit(), 60);`;
writeFileSync(
  HOG,
  `reads() { for pid in $(pgrep -x umaprobe-guard); do ls -l /proc/$pid/fd | grep -q meminfo && return; done; false; }
until reads; do sleep 0.05; done
while :; do '${process.execPath}' -e '${TAKE}'; done
`,
);
/** It leaves how it ended: systemd forgets a unit that ended well, and SIGTERM is a good end. */
const service = (command: string) =>
  `[Service]\nExecStart=${command}\nExecStopPost=/bin/sh -c 'echo $$EXIT_CODE $$EXIT_STATUS > /run/%n.end'\n`;
/** A service of ours as it ships, but for where umaprobe is; its own /tmp must not hide that. */
const shipped = (name: string, umaprobe = UMAPROBE) =>
  readFileSync(join(ROOT, 'systemd', name), 'utf8').replace('/usr/bin/env umaprobe', umaprobe);
const VISIBLE = `BindReadOnlyPaths=${ROOT}\n`;

/** CAP_SYS_RESOURCE, without which systemd leaves the score as it is. */
function mayLowerItsScore(): boolean {
  const held = /^CapBnd:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${held}`) >> 24n) & 1n) === 1n;
}

let systemd: Systemd | null = null;
let reason: string | null = missingSystemd();

beforeAll(async () => {
  if (reason !== null) return;
  const floor = available() - 2 * GiB;
  const policy = JSON.stringify({ schema: 'umaprobe/guard-policy/1', mayStop: ['hog*'] }).replaceAll('"', '\\"');
  const started = await Systemd.start({
    'hog.service': service(`/bin/sh ${HOG}`),
    'hog-system.service': service(`/bin/sh ${HOG}`),
    'bystander.service': service(
      `${process.execPath} -e "const held = Buffer.alloc(${256 * MiB}, 7); setInterval(() => held.length, 1000);"`,
    ),
    'umaprobe-guard.service': shipped('umaprobe-guard.service'),
    'umaprobe-guard.service.d/test.conf':
      `[Service]\n${VISIBLE}RuntimeDirectory=umaprobe\nStandardError=file:/run/guard.log\n` +
      `ExecStartPre=/bin/sh -c "echo '${policy}' > /run/umaprobe/policy.json"\n` +
      `ExecStart=\nExecStart=${UMAPROBE} guard --system --policy /run/umaprobe/policy.json --floor ${floor}B --kill-below 256MiB\n`,
    'misplaced.service': shipped('umaprobe-guard.service', '/nowhere/umaprobe'),
    'umaprobe-record.service': shipped('umaprobe-record.service'),
    'umaprobe-record.service.d/test.conf': `[Service]\n${VISIBLE}`,
  });
  if (typeof started === 'string') reason = started;
  else systemd = started;
});
afterAll(async () => await systemd?.stop());
beforeEach((context) => {
  if (systemd === null) context.skip(reason ?? 'systemd did not start');
  if (available() < 6 * GiB) context.skip('less than 6 GiB available');
});
const running = () => systemd as Systemd;
const endOf = (unit: string) => running().run('cat', `/run/${unit}.end`).stdout.trim();
const stateOf = (unit: string) => running().property(unit, 'ActiveState');
const reach = (unit: string, ...states: string[]) =>
  waitFor(
    `${unit} to be ${states.join(' or ')}`,
    () => stateOf(unit),
    (state) => states.includes(state),
  );

describe('under systemd', () => {
  it('guard --unit stops the unit that takes too much, and says so', async () => {
    const floor = available() - 2 * GiB;
    expect(running().run('systemctl', 'start', 'hog.service').code).toBe(0);
    const options = ['--floor', `${floor}B`, '--kill-below', '256MiB', '--json', '--unit', 'hog'];
    const { code, stdout } = running().run(process.execPath, CLI, 'guard', ...options);
    expect(code).toBe(6);
    const report = parseDocument(stdout) as unknown as GuardReport;
    expect(report).toMatchObject({ outcome: 'stopped', target: { unit: 'hog' }, command: null });
    expect(report.peak.groupBytes).toBeGreaterThan(256 * MiB);
    expect(report.lowest.available).toBeGreaterThan(floor - 256 * MiB);
    await reach('hog.service', 'failed', 'inactive');
    expect(endOf('hog.service')).toMatch(/^killed (TERM|KILL)$/);
  });

  it('guard --unit says that a unit does not run, or does not exist', () => {
    for (const unit of ['hog.service', 'none.service']) {
      const { code, stderr } = running().run(process.execPath, CLI, 'guard', '--unit', unit);
      expect(code).not.toBe(0);
      expect(stderr).toContain(`unit ${unit}: systemd has no cgroup for it: it does not run`);
    }
  });

  it('the shipped guard runs with all its hardening, and stops the unit of its policy alone', async () => {
    expect(running().run('systemctl', 'start', 'umaprobe-guard.service', 'bystander.service').code).toBe(0);
    const pid = running().property('umaprobe-guard.service', 'MainPID');
    const status = running().run('cat', `/proc/${pid}/status`).stdout;
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    if (mayLowerItsScore()) expect(running().run('cat', `/proc/${pid}/oom_score_adj`).stdout).toBe('-1000\n');
    expect(running().run('systemctl', 'start', 'hog-system.service').code).toBe(0);
    await reach('hog-system.service', 'failed', 'inactive');
    expect(endOf('hog-system.service')).toMatch(/^killed (TERM|KILL)$/);
    expect([stateOf('umaprobe-guard.service'), stateOf('bystander.service')]).toEqual(['active', 'active']);
    expect(running().run('cat', '/run/guard.log').stdout).toMatch(/hog-system\.service got SIG(TERM|KILL)/);
    expect(running().run('systemctl', 'stop', 'umaprobe-guard.service', 'bystander.service').code).toBe(0);
    expect(running().property('umaprobe-guard.service', 'Result')).toBe('success');
  });

  it('the shipped guard does not start from a path that is wrong', () => {
    expect(running().run('systemctl', 'start', 'misplaced.service').code).not.toBe(0);
    expect(running().run('systemctl', 'stop', 'misplaced.service').code).toBe(0);
  });

  it('the shipped recorder records, takes marks, and tells a stop from a shutdown', async () => {
    const folder = '/var/lib/umaprobe/record';
    const cli = (...words: string[]) => running().run(process.execPath, CLI, ...words);
    const shown = () => {
      const { stdout } = cli('record', 'show', '--sessions', '2', '--folder', folder, '--json');
      return (parseDocument(stdout) as unknown as RecordReport).sessions;
    };
    const start = async () => {
      expect(running().run('systemctl', 'start', 'umaprobe-record.service').code).toBe(0);
      await waitFor('a mark', () => cli('mark', '--folder', folder, 'here').code === 0);
      await waitFor(
        'six frames',
        () => shown().at(-1)?.frames,
        (frames = 0) => frames > 5,
      );
    };
    const stop = () => expect(running().run('systemctl', 'stop', 'umaprobe-record.service').code).toBe(0);
    await start();
    stop();
    await start();
    // What systemd leaves there while the machine goes down.
    running().run('touch', '/run/nologin');
    stop();
    running().run('rm', '/run/nologin');
    const sessions = shown();
    expect(sessions.map(({ end }) => end)).toEqual(['complete', 'shut-down']);
    for (const { frames, marks } of sessions) {
      expect(frames).toBeGreaterThan(5);
      expect(marks.map(({ text }) => text)).toContain('here');
    }
  });
});
