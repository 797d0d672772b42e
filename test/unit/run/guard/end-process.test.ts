/** Ending one process: which are refused, and that another process with its pid is left alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { chooseProcess, signalProcess, whyNotEnded } from '../../../../lib/run/guard/end-process.ts';
import { whyNeverStopped } from '../../../../lib/run/guard/policy.ts';
import type { ProcessesReport } from '../../../../lib/types/index.ts';

type Report = Pick<ProcessesReport, 'groups' | 'processes'>;

/** [pid, parent, name, group] of each process; a group is `kind:name`. */
function reportOf(rows: readonly (readonly [number, number, string, string])[]): Report {
  const ids = [...new Set(rows.map(([, , , id]) => id))];
  return {
    groups: ids.map((id) => {
      const [kind = '', name = ''] = id.split(':');
      const pids = rows.filter((row) => row[3] === id).map(([pid]) => pid);
      return { id, kind, name, rootPid: pids[0], pids };
    }),
    processes: rows.map(([pid, parentPid, name]) => ({ pid, parentPid, name })),
  } as unknown as Report;
}

describe('whyNotEnded', () => {
  const report = reportOf([
    [2000001, 1, 'sshd', 'unit:ssh.service'],
    [2000002, 2000001, 'python3', 'unit:ssh.service'],
    [2000003, 1, 'python3', 'unit:vllm.service'],
    [2000004, 1, 'python3', 'tree:python3'],
    [2000005, 1, 'gdm-session-wor', 'tree:gdm'],
    [2000006, 2000005, 'gnome-session-b', 'tree:gdm'],
    [2000007, 2000006, 'gnome-shell', 'tree:gdm'],
    [2000008, 2000006, 'blender', 'tree:gdm'],
    [2000009, 1, 'sshd', 'container:3f4e'],
    [2000010, 1, 'tailscaled', 'container:77aa'],
    [2000011, 1, 'docker', 'tree:docker'],
  ]);

  it.each([
    [2000001, /^ssh\.service is never stopped \(terminals and remote login\)$/],
    [2000002, /^ssh\.service is never stopped/],
    [2000005, /^gnome-shell \(2000007\) runs below it and is never stopped$/],
    [2000007, /^gnome-shell is never stopped \(display managers/],
    [2000010, /is never stopped \(VPN/],
    [1, /everything else runs below it/],
    [process.pid, /it is umaprobe itself/],
    [process.ppid, /umaprobe runs below it/],
  ])('refuses %d', (pid, why) => {
    expect(whyNotEnded(pid, report)).toMatch(why);
  });

  it.each([2000003, 2000004, 2000008, 2000009, 2000011, 2999999])('has nothing against %d', (pid) => {
    expect(whyNotEnded(pid, report)).toBeNull();
  });

  it('visits a circle of parents once', () => {
    const circle = reportOf([
      [2000001, 2000002, 'a', 'tree:a'],
      [2000002, 2000001, 'b', 'tree:a'],
    ]);
    expect(whyNeverStopped(2000001, circle)).toBeNull();
  });
});

describe('signalProcess', () => {
  it('sends to the process that was chosen, and not to another one with its pid', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const chosen = chooseProcess(child.pid as number);
    if (chosen === null) throw new Error('it has ended');
    const startedAgo = Date.now() - Date.parse(chosen.startedAt ?? '');
    // btime is in whole seconds.
    expect(Math.abs(startedAgo)).toBeLessThan(30_000);
    expect(signalProcess({ ...chosen, startTicks: chosen.startTicks - 1 }, 'SIGKILL')).toBe('exited');
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect(signalProcess(chosen, 'SIGTERM')).toBe('ok');
    expect((await once(child, 'exit'))[1]).toBe('SIGTERM');
    expect(signalProcess(chosen, 'SIGTERM')).toBe('exited');
    expect(chooseProcess(chosen.pid)).toBeNull();
  });
});
