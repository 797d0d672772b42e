/** The key k of watch on the real kernel: a process that ignores SIGTERM is asked about again, and ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../../support/cli.ts';
import { missingTerminal, openScreen } from '../../support/screen.ts';

it('asks, sends SIGTERM, asks again and sends SIGKILL', { timeout: 60_000 }, async (context) => {
  if (missingTerminal !== null) return context.skip(missingTerminal);
  // The list has every process that holds 4 MiB.
  const script = `process.on('SIGTERM', () => undefined); globalThis.kept = Buffer.alloc(64 << 20, 1); console.log('ready'); setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const env = { ...(cliEnvironment({}) as Record<string, string>), NO_COLOR: '1' };
  try {
    await once(child.stdout, 'data');
    const screen = await openScreen([process.execPath, CLI, 'watch', '--interval', '200ms'], env, {
      columns: 120,
      rows: 40,
    });
    try {
      await screen.type('/', ...String(child.pid), 'Enter');
      await screen.until(new RegExp(`filter "${child.pid}"[\\s\\S]* by$`, 'm'));
      // The child is in the tree of this test, which Enter takes apart.
      await screen.type('Down', 'Enter');
      for (let step = 0; step < 60 && !new RegExp(`^> .* ${child.pid} `, 'm').test(await screen.lines()); step++)
        await screen.type('Down');
      await screen.type('k');
      const asked = new RegExp(`^End ${child.pid} \\S+, started \\d{4}-.* UTC\\? y: SIGTERM, other keys: no$`, 'm');
      await screen.until(asked);
      await screen.type('n');
      expect(await screen.until(/filter/)).not.toMatch(/^SIG/m);
      await screen.type('k');
      await screen.until(asked);
      await screen.type('y');
      await screen.until(new RegExp(`^${child.pid} \\S+ has not ended\\. y: SIGKILL`, 'm'));
      expect(child.signalCode).toBeNull();
      await screen.type('y');
      await screen.until(new RegExp(`^${child.pid} \\S+ has ended\\.$`, 'm'));
      expect((await exited)[1]).toBe('SIGKILL');
    } finally {
      screen.close();
    }
  } finally {
    child.kill('SIGKILL');
  }
});
