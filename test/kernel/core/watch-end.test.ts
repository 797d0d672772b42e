/** The key k of watch on the real kernel: which processes are asked about, and one that ignores SIGTERM, which ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { EndDialog } from '../../../lib/cli/commands/watch-end.ts';
import type { ProcessGroup } from '../../../lib/types/index.ts';
import { CLI, cliEnvironment } from '../../support/cli.ts';
import { runs } from '../../support/guard-program.ts';
import { missingTerminal, openScreen } from '../../support/screen.ts';

it('asks, sends SIGTERM, asks again and sends SIGKILL', { timeout: 60_000 }, async (context) => {
  if (missingTerminal !== null) return context.skip(missingTerminal);
  // The list has every process that holds 4 MiB. Of a tree of its own: those of this test's come and go in its rows.
  const script = `process.on('SIGTERM', () => undefined); globalThis.kept = Buffer.alloc(64 << 20, 1); console.log(process.pid); setInterval(() => undefined, 1000);`;
  const starter = spawn('setsid', ['--fork', process.execPath, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = Number(String((await once(starter.stdout, 'data'))[0]));
  const env = { ...(cliEnvironment({}) as Record<string, string>), NO_COLOR: '1' };
  try {
    const screen = await openScreen([process.execPath, CLI, 'watch', '--interval', '200ms'], env, {
      columns: 120,
      rows: 40,
    });
    try {
      await screen.type('/', ...String(pid), 'Enter');
      // A row without which Down selects nothing.
      await screen.until(new RegExp(`filter "${pid}"[\\s\\S]* by\\n .* ${pid} `));
      await screen.type('Down');
      await screen.until(new RegExp(`^> .* ${pid} `, 'm'));
      await screen.type('k');
      const asked = new RegExp(`^End ${pid} \\S+, started \\d{4}-.* UTC\\? y: SIGTERM, other keys: no$`, 'm');
      await screen.until(asked);
      await screen.type('n');
      expect(await screen.until(/filter/)).not.toMatch(/^SIG/m);
      await screen.type('k');
      await screen.until(asked);
      await screen.type('y');
      await screen.until(new RegExp(`^${pid} \\S+ has not ended\\. y: SIGKILL`, 'm'));
      expect(runs(pid)).toBe(true);
      await screen.type('y');
      await screen.until(new RegExp(`^${pid} \\S+ has ended\\.$`, 'm'));
      expect(runs(pid)).toBe(false);
    } finally {
      screen.close();
    }
  } finally {
    if (runs(pid)) process.kill(pid, 'SIGKILL');
  }
});

describe('the question', () => {
  async function ask(pid: number, name: string | null): Promise<Pick<EndDialog, 'asks' | 'text'>> {
    const dialog = new EndDialog(() => undefined);
    const group = { id: 'tree:1', kind: 'tree', name: 'x', pids: [pid] } as unknown as ProcessGroup;
    await dialog.ask({ pid, name, group, key: String(pid) }, 10_000);
    return { asks: dialog.asks, text: dialog.text };
  }

  it('is not about a process that umaprobe runs below', async () => {
    const { ppid } = process;
    expect(await ask(ppid, null)).toEqual({
      asks: false,
      text: expect.stringMatching(`^${ppid} .* is not ended: umaprobe runs below it, `),
    });
  });

  it('is about the process of the list, and not about another one that has its pid', async () => {
    const child = spawn('sleep', ['60']);
    try {
      await once(child, 'spawn');
      const pid = child.pid as number;
      expect(await ask(pid, 'sleep')).toEqual({ asks: true, text: expect.stringMatching(`^End ${pid} sleep, `) });
      expect(await ask(pid, 'python3')).toEqual({
        asks: false,
        text: `Process ${pid} has ended: ${pid} sleep is another one.`,
      });
    } finally {
      child.kill();
    }
  });
});
