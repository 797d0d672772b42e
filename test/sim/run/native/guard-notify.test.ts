/** The command that is run once the guard has stopped something: when, how often, and for how long. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CRITICAL, HARMLESS, runGuard, runs, startGuard } from '../../../support/guard-program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait.ts';

/** A script that notes each run, with what it was told; `then` is run after that. */
function notifier(then = 'true'): { file: string; noted: () => string[] } {
  const folder = temporaryFolder('notify');
  const [file, notes] = [join(folder, 'notify.sh'), join(folder, 'notes')];
  const variables = ['ACTION', 'REASON', 'PID', 'AVAILABLE_BYTES'].map((name) => `$UMAPROBE_GUARD_${name}`).join(' ');
  writeFileSync(file, `#!/bin/sh\necho "$# $1 ${variables} $$" >> ${notes}\n${then}\n`);
  chmodSync(file, 0o755);
  return { file, noted: () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []) };
}

describe('the command after a stop', () => {
  it('runs once, with what happened, though SIGTERM is followed by SIGKILL', async () => {
    const { file, noted } = notifier('cat; echo out; echo err >&2; exit 3');
    const program = startGuard(HARMLESS, ['sh', '-c', "trap '' TERM; echo ready; sleep 20 & wait; sleep 20"]);
    const ready = once(program.child.stdout as NodeJS.ReadableStream, 'data');
    const { pid } = await program.line('started');
    await ready;
    const options = { ...CRITICAL, graceMs: 100, target: `pid:${pid}`, notifyWords: 3 };
    const guarded = startGuard(options, [file, 'two words', '']);
    const { code, ended, stderr, stdout } = await guarded.end;
    expect([code, ended.actions.map(({ action }) => action)]).toEqual([6, ['term', 'kill']]);
    expect(noted()).toEqual([expect.stringMatching(new RegExp(`^2 two words term below-kill ${pid} \\d{6,} \\d+$`))]);
    expect(guarded.lines.filter(({ event }) => event === 'notified')).toMatchObject([{ exitCode: 3, late: false }]);
    await program.end;
    expect([stdout, stderr]).toEqual(['', 'out\nerr\n']);
  });

  it('is waited for after the program, and no longer than it may take', async () => {
    const slow = notifier('sleep 0.6; echo done >> $0.done');
    expect((await runGuard({ ...CRITICAL, notifyWords: 1 }, [slow.file, 'sleep', '600'])).code).toBe(6);
    expect(existsSync(`${slow.file}.done`)).toBe(true);

    const late = notifier('sleep 30 & sleep 30');
    const guarded = startGuard({ ...CRITICAL, notify_s: 0.2, notifyWords: 1 }, [late.file, 'sleep', '600']);
    expect((await guarded.end).code).toBe(6);
    expect(guarded.lines.filter(({ event }) => event === 'notified')).toMatchObject([{ late: true }]);
    const [, pid = ''] = / (\d+)$/.exec(late.noted()[0] ?? '') ?? [];
    await waitFor('the end of the late notifier', () => !runs(pid));
  });

  it('that cannot be run, or is not there any more, changes nothing', async () => {
    for (const [file, exitCode] of [
      ['/nonexistent/program', 127],
      ['/etc/passwd', 126],
    ] as const) {
      const guarded = startGuard({ ...CRITICAL, notifyWords: 1 }, [file, 'sleep', '600']);
      expect((await guarded.end).code).toBe(6);
      expect(guarded.lines.filter(({ event }) => event === 'notified')).toMatchObject([{ exitCode, late: false }]);
    }
  });

  it('is not run where nothing was stopped: the end of the program, a dry run, the wish of the caller', async () => {
    const { file, noted } = notifier();
    expect((await runGuard({ ...HARMLESS, notifyWords: 1 }, [file, 'sh', '-c', 'exit 4'])).code).toBe(4);
    const dry = startGuard({ ...CRITICAL, dryRun: true, notifyWords: 1 }, [file, 'cat']);
    await dry.line('action');
    dry.goOn();
    expect((await dry.end).code).toBe(0);
    const asked = startGuard({ ...HARMLESS, notifyWords: 1 }, [file, 'sleep', '600']);
    await asked.line('started');
    asked.control('stop');
    await asked.end;
    expect(noted()).toEqual([]);
  });

  it('leaves nothing behind, whatever ends the guard', async () => {
    const { file, noted } = notifier();
    // Its helper has no other mark than the command line of the guard, with this file in it.
    const helpers = () => {
      // Without what is preloaded here: with a sanitizer pgrep hangs.
      const { stdout } = spawnSync('pgrep', ['-f', file], { encoding: 'utf8', env: { PATH: process.env.PATH } });
      return stdout.split('\n').filter((pid) => pid !== '' && runs(pid));
    };
    const guarded = startGuard({ ...HARMLESS, notifyWords: 1 }, [file, 'sleep', '600']);
    await guarded.line('started');
    expect(helpers().length).toBe(2);
    guarded.child.kill('SIGKILL');
    await waitFor('the end of its helpers', helpers, (pids) => pids.length === 0);
    expect(noted()).toEqual([]);
  });

  it('words that are not there are refused before anything runs', async () => {
    const { code, stderr } = await runGuard({ ...HARMLESS, notifyWords: 3 }, ['a', 'b']);
    expect([code, stderr]).toEqual([2, 'umaprobe-guard: --notifyWords is more than there are words after --\n']);
  });
});
