/**
 * The screens of the commands in windows of four sizes and in a pipe, as they were looked at (golden/screens.md;
 * UPDATE_GOLDEN=1 writes it); those of watch are in watch-screens.test.ts. No line is wider than its window, and in a pipe nothing is
 * cut off. All *simulated*.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, runInShell } from '../../support/cli.ts';
import { masked } from '../../support/console-blocks.ts';
import { ROOT } from '../../support/root.ts';
import { missingTerminal, type Screen, screensOf } from '../../support/screen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const GOLDEN = join(ROOT, 'test/sim/cli/golden/screens.md');

interface Shown {
  command: string;
  /** Its numbers are measured: only words and their order are compared. */
  measured?: true;
}

const COMMANDS: readonly Shown[] = [
  { command: 'umaprobe --sim gb10' },
  { command: 'umaprobe --sim gb10-busy' },
  { command: 'umaprobe --full --sim gb10-cached' },
  { command: 'umaprobe sweep --sim gb10 --sizes 250MB,1GB --journal none', measured: true },
  { command: 'umaprobe stress --sim gb10 --max 2GiB --journal none', measured: true },
  { command: 'umaprobe doctor --sim gb10-cached', measured: true },
  { command: 'umaprobe cache status --sim gb10-cached' },
];

const WINDOWS = [
  { columns: 40, rows: 10 },
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
];

const typed = (command: string): string => command.replace(/^umaprobe/, `'${process.execPath}' '${CLI}'`);

/**
 * Of a page that is not measured only times differ. Of the others each paragraph is a line, without numbers; plots, and
 * what the machine did afterwards, differ in more.
 */
function goldenLines(lines: readonly string[], { measured }: Shown): string[] {
  const kept = lines.map((line) =>
    line.replace(/\d\d:\d\d:\d\d/, '00:00:00').replace(/^took [\d.]+ .?s$/, 'took 0 ms'),
  );
  if (measured !== true) return kept;
  return kept
    .map((line) => (line.endsWith('…') ? `${line.slice(0, 24)}…` : line))
    .join('\n')
    .split(/\n\s*\n/)
    .filter((paragraph) => !/[│┤]|^Afterwards/m.test(paragraph))
    .map((paragraph) => masked(paragraph.replace(/[▁▂▃▄▅▆▇█]+/g, '▁')).replace(/\b0 (ms|s|µs)\b/g, '0 ms'));
}

describe.skipIf(missingTerminal !== null)('screens (simulated)', () => {
  const env = { NO_COLOR: '1', XDG_STATE_HOME: temporaryFolder('screens') };

  it('are those that were looked at, fit their windows, and lose nothing in a pipe', { timeout: 240_000 }, async () => {
    const text: string[] = ['# Screens of the commands', ''];
    const section = (title: string, shown: Shown, lines: readonly string[]): void => {
      text.push(`## ${shown.command} · ${title}`, '', '```', ...goldenLines(lines, shown), '```', '');
    };
    const wrapped: string[] = [];
    const commands = COMMANDS.map(({ command }) => typed(command));
    const screens = await Promise.all(WINDOWS.map((window) => screensOf(commands, env, window)));
    for (const [index, { columns, rows }] of WINDOWS.entries()) {
      for (const [at, screen] of (screens[index] as Screen[]).entries()) {
        const shown = COMMANDS[at] as Shown;
        wrapped.push(...screen.wrapped.map((line) => `${shown.command} in ${columns} columns: ${line}`));
        section(`${columns}×${rows}`, shown, shown.measured === true ? screen.all : screen.lines);
      }
    }
    for (const shown of COMMANDS) {
      const { stdout } = runInShell(typed(shown.command), { env: { ...env, COLUMNS: '' } });
      expect(stdout, shown.command).not.toContain('…');
      section(
        'piped',
        shown,
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.trimEnd()),
      );
    }
    expect(wrapped).toEqual([]);
    if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(GOLDEN, `${text.join('\n')}\n`);
    expect(`${text.join('\n')}\n`).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it('of a healthy machine shows its answer in 80×24', { timeout: 60_000 }, async () => {
    const [page] = await screensOf([typed('umaprobe --sim gb10')], env, { columns: 80, rows: 24 });
    expect(page?.all).toEqual(page?.lines);
    expect(page?.lines[1]).toMatch(/^OK {2}103\.88 GiB \(111\.54 GB\) can be loaded on the GPU\.$/);
  });

  it('of a machine with a remedy scrolls in no small window, and keeps verdict and remedy', {
    timeout: 60_000,
  }, async () => {
    for (const [columns, rows] of [
      [60, 20],
      [80, 20],
      [50, 15],
    ] as const) {
      const machines = ['gb10-cached', 'gb10-busy', 'gb10-hugepages'].map((name) => typed(`umaprobe --sim ${name}`));
      for (const page of await screensOf(machines, env, { columns, rows })) {
        expect(page.all).toEqual(page.lines);
        // The prompt takes a row.
        expect(page.lines.length).toBeLessThan(rows);
        expect(page.lines[1]).toMatch(/^(NOTE|WARNING) {2}[\d.]+ GiB \([\d.]+ GB\) can be loaded/);
        expect(page.lines.join('\n')).toMatch(/^ +→ /m);
      }
    }
  });

  it('of fit, prepare and doctor has the answer in 60×20', { timeout: 60_000 }, async () => {
    const commands = [
      'fit --params 7e9 --sim gb10-cached',
      'prepare 60GiB --sim gb10-cached',
      'doctor --sim gb10-busy',
    ];
    const pages = await screensOf(
      commands.map((words) => typed(`umaprobe ${words}`)),
      env,
      { columns: 60, rows: 20 },
    );
    for (const page of pages) expect(page.lines.length).toBeLessThan(20);
    expect(pages.map(({ lines }) => lines[1])).toEqual([
      expect.stringMatching(/^FITS {2}/),
      expect.stringMatching(/^ENOUGH {2}/),
      expect.stringMatching(/^OK {2}Nothing is wrong: /),
    ]);
    // What is not judged keeps its name.
    expect(pages[2]?.lines).toContain('unknown  uvm.oversubscription');
  });

  it('of doctor shows in 80×24 what applies, and a pipe has every check', { timeout: 60_000 }, async () => {
    const commands = ['gb10-kho', 'gb10-no-context', 'gb10-resting'].map((name) => `umaprobe doctor --sim ${name}`);
    for (const page of await screensOf(commands.map(typed), env, { columns: 80, rows: 24 })) {
      expect(page.all).toEqual(page.lines);
      expect(page.lines.filter((line) => /^(warn|fail|note|pass) /.test(line)).join()).toMatch(
        /^(warn|fail|note) (?!.*pass)/,
      );
      expect(page.lines.at(-1)).toBe('umaprobe doctor | less: every check');
    }
    expect(shownBy('umaprobe doctor --sim gb10-kho').lines.filter((line) => line.startsWith('pass '))).toHaveLength(36);
  });
});

if (missingTerminal !== null) it(`is skipped: ${missingTerminal}`, (context) => context.skip(missingTerminal ?? ''));

const machines = readdirSync(join(ROOT, 'lib/machines')).map((name) => name.replace(/\.json$/, ''));

/** What a command prints for a pipe as wide as a terminal, without the band of a simulated machine. */
function shownBy(command: string): { lines: string[]; answer: string } {
  const env = { COLUMNS: '80', NO_COLOR: '1', XDG_STATE_HOME: temporaryFolder('screens') };
  const { stdout } = runInShell(typed(command), { env });
  const lines = stdout.trimEnd().split('\n');
  return { lines, answer: lines.find((line) => !line.startsWith(' SIMULATED')) ?? '' };
}

it('a no of fit says that free memory is in small pieces', () => {
  const { lines } = shownBy('umaprobe fit --bytes 20GiB --sim gb10-fragmented');
  expect(lines.join(' ')).toMatch(/NO {2}20\.0 GiB do not fit.*note +Free memory is fragmented.*note +Stop programs/);
});

describe('the answer is the first line, and the page fits 80 × 23 (simulated)', () => {
  it.each(['gb10-590-pools', 'gb10-busy', 'gb10-resting', 'gb10-no-context', 'h200-lost', 'n1x', 'no-driver'])(
    'fit on %s',
    (machine) => {
      const { answer, lines } = shownBy(`umaprobe fit --params 70e9 --sim ${machine}`);
      expect(answer).toMatch(/^(FITS|FITS AFTER|TIGHT|NOT NOW|NO|UNKNOWN) {2}\S/);
      expect(lines.length).toBeLessThanOrEqual(23);
    },
  );

  it.each([
    ['fit --params 7e9 --for vllm --sim gb10', /^FITS {2}19\.2 GiB/],
    ['fit --params 7e9 --for torch --sim gb10-cached', /^FITS AFTER {2}PyTorch/],
    ['stress --sim gb10-busy --journal none', /^(MAXIMUM|FLOOR) {2}\d+\.\d\d GiB .* can be allocated/],
    ['sweep --sim gb10 --sizes 1MB,250MB --journal none', /^COMPLETE {2}2 of 2 steps/],
    ['layout --sim gb10 a=1MB b=2MB --journal none', /^FITS {2}2 of 2 parts/],
    ['profile --sim gb10 --vary n=1,2,3 --no-record --journal none -- sh -c ": {n}"', /^SAFE {2}n 3 is the largest/],
    ['launch --dry-run --sim gb10 --bytes 42GiB -- true', /^FITS {2}42\.0 GiB fit/],
    ['prepare 60GiB --sim gb10-cached', /^ENOUGH {2}111\.80 GiB/],
    ['prepare 600GiB --sim gb10', /^NOT ENOUGH {2}600\.00 GiB/],
    ['cache compact --sim gb10-fragmented', /^REBOOT REQUIRED {2}The memory/],
    ['estimate --params 70B', /^ESTIMATE {2}133\.82 GiB/],
    ['launch --dry-run --sim gb10-busy --bytes 42GiB -- true', /^FITS AFTER {2}42\.0 GiB/],
  ])('umaprobe %s', (words, expected) => {
    const { answer, lines } = shownBy(`umaprobe ${words}`);
    expect(answer).toMatch(expected);
    // On a busy machine the guard is there first, which is a row more: "Guard  stopped the search …".
    const guard = lines.some((line) => line.startsWith('Guard ')) ? 1 : 0;
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(23 + guard);
    // Flags and commands to paste are on one line, which is their own.
    for (const line of lines.filter((text) => /^ +(--\w|sync|sudo)/.test(text))) expect(line).not.toMatch(/[→,]$/);
  });
});

describe('the first screen (simulated)', () => {
  it.each(machines)('of %s fits 80 × 23, and breaks no command', (machine) => {
    const { stdout } = runInShell(`${typed('umaprobe')} --sim ${machine}`, { env: { COLUMNS: '80', NO_COLOR: '1' } });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(23);
    for (const [at, line] of lines.entries())
      if (/\bsudo tee$|\bdrop --level$/.test(line)) expect(lines[at + 1]).toBe('');
  });
});
