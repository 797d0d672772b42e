/** watch --until and --exec: exit codes, and the program that is run. All *simulated*. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runUmaprobe } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

const folder = temporaryFolder('watch');
const watch = (...args: string[]) => runUmaprobe(['watch', '--interval', '100ms', ...args]);

/** A program that adds its arguments, what it is told and its stdin as a line of JSON to a file. */
const teller = join(folder, 'tell.mjs');
writeFileSync(
  teller,
  `import { appendFileSync, readFileSync } from 'node:fs';
   const { UMAPROBE_VERDICT: verdict, UMAPROBE_PREVIOUS_VERDICT: previous, UMAPROBE_SAFE: safe } = process.env;
   const [file, code, ...args] = process.argv.slice(2);
   appendFileSync(file, JSON.stringify({ args, verdict, previous, safe, stdin: readFileSync(0, 'utf8') }) + '\\n');
   process.exit(Number(code));`,
);
const told = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<'verdict' | 'previous' | 'safe' | 'stdin', string> & { args: string[] });

describe('watch --until (simulated)', () => {
  it('ends with 0 at the reading for which the condition holds', () => {
    const machine = machineFile('filling', { events: [{ atMs: 6000, what: 'anon', bytes: 60 * GiB }] });
    const ran = watch('--sim', machine, '--until', 'safe<60GiB', '--timeout', '50s');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const sizes = [...ran.stdout.matchAll(/safe +([\d.]+) GiB/g)].map(([, size]) => Number(size));
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.filter((size) => size < 60)).toHaveLength(1);
  });

  it('ends with 1 and one line where it does not hold in time', () => {
    expect(watch('--sim', 'gb10', '--until', 'safe>=110GiB', '--count', '2')).toMatchObject({
      code: 1,
      stderr: 'umaprobe: safe>=110GiB did not hold.\n',
    });
    expect(watch('--sim', 'gb10', '--until', 'safe>=110GiB', '--timeout', '1s')).toMatchObject({
      code: 1,
      stderr: 'umaprobe: safe>=110GiB did not hold within 1.00 s.\n',
    });
  });

  it('runs a program without a shell when it holds, and ends with its exit code', () => {
    const file = join(folder, 'once.jsonl');
    const program = [process.execPath, teller, file, '7', '$HOME', 'a b'];
    const ran = watch('--sim', 'gb10', '--until', 'safe>=60GiB', '--exec', '--', ...program);
    expect(ran.code).toBe(7);
    const [once, ...more] = told(file);
    expect(more).toEqual([]);
    expect(once).toMatchObject({
      args: ['$HOME', 'a b'],
      verdict: 'ok',
      previous: '',
      safe: expect.stringMatching(/^\d+$/),
    });
    expect(parseDocument(once?.stdin ?? '').simulated).toBe('gb10');
  });
});

it('watch --alert says on stderr, once, that less is available (simulated)', () => {
  const machine = machineFile('alerts', { events: [{ atMs: 5000, what: 'anon', bytes: 60 * GiB }] });
  const ran = watch('--sim', machine, '--alert', '80GiB', '--until', 'available<80GiB', '--timeout', '50s');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(/^umaprobe: \d\d:\d\d:\d\d UTC: Available memory is \d\d\.\d GiB, below 80\.0 GiB\.\n$/);
});

describe('watch --exec (simulated)', () => {
  it('runs at a change of the verdict only, and says what it was', () => {
    const file = join(folder, 'changes.jsonl');
    const machine = machineFile('low', { events: [{ atMs: 6000, what: 'anon', bytes: 105 * GiB }] });
    const ran = watch('--sim', machine, '--count', '75', '--exec', '--', process.execPath, teller, file, '0');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(told(file).map(({ previous, verdict }) => [previous, verdict])).toEqual([['ok', 'notice']]);
  });

  it('needs a program', () => {
    expect(watch('--sim', 'gb10', '--exec')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^umaprobe: --exec needs a command after "--"[^\n]*\n$/),
    });
  });
});
