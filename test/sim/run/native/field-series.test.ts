/** The failures of the field, rebuilt: what the guard does in each, and that docs/guard-outcomes.md says so. */

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardThresholds } from '../../../../lib/core/memory/guard-rules.ts';
import { guardProgram } from '../../../../lib/core/native/binding.ts';
import { guardArguments } from '../../../../lib/run/guard/protocol.ts';
import { loadMachine, simulate } from '../../../../lib/sim.ts';
import {
  boot,
  duration,
  fieldSeries,
  guardRule,
  memFreeRule,
  outcome,
  PACE,
  TOTAL,
  tableOf,
  valuesAt,
} from '../../../../scripts/guard-outcomes.mjs';
import { CLI, cliEnvironment } from '../../../support/cli.ts';
import { ROOT } from '../../../support/root.ts';
import { GiB } from '../../../support/units.ts';

const all = fieldSeries();
const thresholds = guardArguments(guardThresholds(TOTAL), PACE);
const rows: string[] = tableOf(readFileSync(join(ROOT, 'docs/guard-outcomes.md'), 'utf8')).slice(2);

/** What the guard may get wrong: no memory counter tells the first two from health, and the third only pressure. */
const NOT_IN_TIME: Readonly<Record<string, RegExp>> = {
  'silent-freeze': /^\*\*misses it\*\*$/,
  'prefill-freeze': /^\*\*misses it\*\*$/,
  'slow-wedge': /^\*\*late\*\*: SIGTERM after 33\d s$/,
};

describe('a series of the field', () => {
  it('has its source, says what was assumed, and is a row of the page', () => {
    for (const { source, assumed, title } of all) {
      expect(source.length).toBeGreaterThan(20);
      expect(assumed).toMatch(/\w/);
      expect(rows.filter((row) => row.startsWith(`| ${title} | `))).toHaveLength(1);
    }
    expect(rows).toHaveLength(all.length);
  });

  it.each(all.map(({ name }) => name))('%s: what the guard does', (name) => {
    const series = all.find((one) => one.name === name);
    const cell = outcome(series, guardRule(series, guardProgram().file, thresholds));
    if (NOT_IN_TIME[name] !== undefined) expect(cell).toMatch(NOT_IN_TIME[name]);
    else if (series.truth === 'healthy') expect(cell).toBe('leaves it alone');
    else expect(cell).toMatch(/^SIG(TERM|KILL) after /);
    const row = rows.find((line) => line.startsWith(`| ${series.title} | `))?.split(' | ') ?? [];
    expect(row[2]).toBe(cell);
    expect(row[4]).toBe(`${outcome(series, memFreeRule(series))} |`);
    // The test of earlyoom compares this one.
    expect(row[3]).toMatch(/leaves it alone|misses it|kills it|SIGTERM|SIGKILL/);
  });

  it.each(['fast-fall', 'low-memfree', 'cache-flood', 'slow-wedge'])('%s: its machine follows it', async (name) => {
    const series = all.find((one) => one.name === name);
    const scale = duration(series) / 1.5;
    const machine = await boot(series, { scale });
    // One program reads both files and the record says when: the two are of about the same moment.
    for (let i = 0; i < 3; i++) {
      const read = spawnSync('cat', ['/proc/meminfo'], {
        env: { ...process.env, ...machine.foreignEnv() },
        encoding: 'utf8',
      });
      const seconds = Number(machine.record().simulatedMs) / 1000;
      const gib = (line: string) => Number(new RegExp(`${line}: +(\\d+) kB`).exec(read.stdout)?.[1]) / 2 ** 20;
      // Within what changes in 60 real ms.
      const around = [-0.06, 0, 0.06].map((real) => valuesAt(series, Math.max(0, seconds + real * scale)));
      for (const [index, line] of [
        [1, 'MemAvailable'],
        [2, 'MemFree'],
      ] as const) {
        const values = around.map((value: number[]) => value[index] ?? Number.NaN);
        expect(gib(line)).toBeGreaterThan(Math.min(...values) - 0.35);
        expect(gib(line)).toBeLessThan(Math.max(...values) + 0.35);
      }
    }
    machine.close();
  });
});

describe('a program on a simulated machine', () => {
  // Swap only delays the wedge.
  const gb10 = loadMachine('gb10');
  const withoutSwap = { ...gb10, memory: { ...gb10.memory, swapTotal: 0 } };

  const run = async (guarded: boolean, args: readonly string[]) => {
    const simulation = simulate(withoutSwap, { scale: 4 });
    const program = [process.execPath, CLI, 'sim', 'grow', ...args];
    const guard = [guardProgram().file, ...thresholds, '--', ...program];
    // The wedge comes after 3 s.
    const [file = '', ...rest] = guarded ? guard : ['timeout', '-s', 'KILL', '5', ...program];
    const child = spawn(file, rest, { env: { ...cliEnvironment(), ...simulation.env }, stdio: 'ignore' });
    const ended = await new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    const { wedged, peak } = simulation.record() as unknown as {
      wedged: object | null;
      peak: { leastAvailable: number };
    };
    simulation.close();
    return { ended, wedged, leastAvailable: peak.leastAvailable };
  };
  const floor = guardThresholds(TOTAL).floor.bytes;

  it.concurrent.each([
    ['8 GiB/s of its own memory', ['--rate', '8GiB/s', '--to', '200GiB']],
    ['15 GiB/s of GPU memory', ['--rate', '15GiB/s', '--to', '200GiB', '--gpu']],
  ])('%s: is stopped, and the machine lives', async (_, args) => {
    const { ended, wedged, leastAvailable } = await run(true, args);
    expect({ ended, wedged }).toEqual({ ended: 6, wedged: null });
    expect(leastAvailable).toBeGreaterThan(floor - 2 * GiB);
  });

  it.concurrent('the control: without the guard the same program wedges it', async () => {
    const args = ['--rate', '15GiB/s', '--to', '200GiB', '--gpu'];
    expect(await run(false, args)).toMatchObject({ ended: 'SIGKILL', wedged: { during: 'cudaMalloc' } });
  });

  it.concurrent('a load that ends above the floor is left alone', async () => {
    const spikes = '4s:60GiB,5s:60GiB,5.2s:64GiB,5.4s:60GiB,9s:102GiB,10s:102GiB';
    expect(await run(true, ['--curve', spikes, '--gpu'])).toMatchObject({ ended: 0, wedged: null });
  });
});
