/** `umaprobe processes --watch`: as lines for a script, on a terminal, and how it ends. */
import { describe, expect, it } from 'vitest';
import type { ProcessesReport } from '../../../../lib/types/index.ts';
import { CLI, cliEnvironment, exitOf, startUmaprobe, stdoutMatching } from '../../../support/cli.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { missingTerminal, screenOf } from '../../../support/screen.ts';

describe('processes --watch', () => {
  it('writes one document per line, and a signal ends it', async () => {
    const child = startUmaprobe(['processes', '--watch', '--interval', '100ms', '--json', '--sim', 'gb10-busy'], {});
    const end = exitOf(child);
    const text = await stdoutMatching(child, /\n.*\n/);
    child.kill('SIGINT');
    expect(await end).toBe(130);
    const lines = text.trimEnd().split('\n').slice(0, 2);
    const reports = lines.map((line) => parseDocument(line) as unknown as ProcessesReport);
    expect(reports.map(({ simulated }) => simulated)).toEqual(['gb10-busy', 'gb10-busy']);
  });

  it('draws on a terminal, and fits its width', async (context) => {
    if (missingTerminal !== null) return context.skip(missingTerminal);
    const command = [process.execPath, CLI, 'processes', '--watch', '--sim', 'gb10-busy'];
    const lines = await screenOf(command, cliEnvironment({}) as Record<string, string>, /q quits/, {
      columns: 60,
      rows: 20,
    });
    expect(lines.join('\n')).toMatch(/76\.0 GiB +70\.0 GiB +24\.0 MiB +4200017 +VLLM::Engine/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
