/**
 * What watch shows in tmux, as it was looked at (golden/watch.md; UPDATE_GOLDEN=1 writes it), and its keys. The lines of the graph
 * are in the golden file with their height only: how far they reach depends on time. All *simulated*.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { ROOT } from '../../../support/root.ts';
import { missingTerminal, openScreen, screensOf } from '../../../support/screen.ts';
import { GiB } from '../../../support/units.ts';

const GOLDEN = join(ROOT, 'test/sim/core/cli/golden/watch.md');
const env = { ...(cliEnvironment({}) as Record<string, string>), NO_COLOR: '1' };
const WINDOWS = [
  { columns: 20, rows: 5 },
  { columns: 80, rows: 8 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 200, rows: 60 },
];
const MACHINES = ['gb10-busy', 'h200', 'no-driver'];

const typed = (args: string): string => `'${process.execPath}' '${CLI}' ${args}`;
/** Of a row of the graph only its label and the letters of the lines in it. */
const masked = (line: string): string =>
  line.replace(/^(.{4}[│┤])(.*)$/, (_, label: string, row: string) =>
    `${label} ${[...row.replace(/[\u2800-\u28ff ]/g, '').replace(/[▁▂▃▄▅▆▇█]+/, '▁')].join(' ')}`.trimEnd(),
  );

describe.skipIf(missingTerminal !== null)('watch on a terminal (simulated)', () => {
  it('fills its window, from 20×5 to 200×60', { timeout: 120_000 }, async () => {
    const commands = MACHINES.map((machine) => typed(`watch --sim ${machine} --count 6 --interval 300ms`));
    const screens = await Promise.all(WINDOWS.map((window) => screensOf(commands, env, window)));
    const text = ['# Screens of watch', ''];
    for (const [index, { columns, rows }] of WINDOWS.entries())
      for (const [at, { all, lines, wrapped }] of (screens[index] ?? []).entries()) {
        const where = `${MACHINES[at]} in ${columns}×${rows}`;
        expect(wrapped, where).toEqual([]);
        // Nothing has scrolled, and the footer is in the last row but the cursor's.
        expect(all, where).toEqual(lines);
        expect(lines, where).toHaveLength(rows - 1);
        expect(lines.at(-1), where).toMatch(/^\? keys, q quits/);
        text.push(`## ${where}`, '', '```', ...lines.map(masked), '```', '');
      }
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(GOLDEN, text.join('\n'));
    expect(text.join('\n')).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it('selects, filters, sorts, marks, asks, and follows its size', { timeout: 60_000 }, async () => {
    const screen = await openScreen([process.execPath, CLI, 'watch', '--sim', 'gb10-busy'], env, {
      columns: 100,
      rows: 34,
    });
    try {
      await screen.until(/VLLM::EngineCor\n/);
      await screen.type('k');
      await screen.until(/^No process is selected: the arrows select one\.$/m);
      await screen.type('Down', 'Down');
      await screen.until(/^> 408\.0 MiB .* gnome-shell$/m);
      expect(await screen.lines()).not.toContain('No process is selected: the arrows select one.');
      // What has this pid on the real machine is left alone: the process is one of the simulated machine.
      await screen.type('k');
      await screen.until(/^Process 4195202 is simulated: no signal reaches it\.$/m);
      await screen.type('s', 's', 's', 's');
      await screen.until(/sorted by name\n.*\n> ?.*gnome-shell\n.*VLLM::EngineCor\n.*Xorg/);
      await screen.type('/', 'X', 'o', 'r', 'q');
      await screen.until(/filter "Xorq"[\s\S]*No process matches\.[\s\S]*^filter: Xorq_$/m);
      await screen.type('BSpace', 'Enter');
      await screen.until(/filter "Xor"[\s\S]*Xorg$/m);
      expect(await screen.lines()).not.toContain('gnome-shell');
      await screen.type('m');
      await screen.until(/┊[\s\S]*\d\d:\d\d:\d\d$/m);
      await screen.type('t');
      await screen.until(/GiB, last 10 min/);
      await screen.type('b');
      await screen.until(/Free this instant {2}[\d,]{14} B/);
      screen.resize({ columns: 60, rows: 18 });
      await screen.until(/^\[G[^\]]{57}\]$/m);
      await screen.type('?');
      await screen.until(/end a process; asks first[\s\S]*quit$/m);
      await screen.type('q');
      await screen.ended();
    } finally {
      screen.close();
    }
  });

  it('--alert rings and says when less is available', { timeout: 60_000 }, async () => {
    const machine = machineFile('alert', { events: [{ atMs: 8000, what: 'anon', bytes: 60 * GiB }] });
    const command = [process.execPath, CLI, 'watch', '--sim', machine, '--interval', '200ms', '--alert', '80GiB'];
    const screen = await openScreen(command, env, { columns: 100, rows: 30 });
    try {
      await screen.until(/^\d\d:\d\d:\d\d UTC: Available memory is 5\d\.\d GiB, below 80\.0 GiB\.$/m);
      await screen.until(/┊[\s\S]*!/);
      expect(screen.hasRung()).toBe(true);
    } finally {
      screen.close();
    }
  });
});

if (missingTerminal !== null) it(`is skipped: ${missingTerminal}`, (context) => context.skip(missingTerminal ?? ''));
