/** `umaprobe launch` on simulated machines: what is refused, started, stopped, and what the receipt says. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RecordedSession } from '../../../../lib/types/index.ts';
import { runUmaprobe } from '../../../support/cli.ts';
import { CONFIG, document, FITTING, folder, GROW, launch } from '../../../support/launch-cli.ts';
import { evaluateOnMachine } from '../../../support/package-on-machine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

describe('where fit says no', () => {
  it('nothing is started, unless it is wanted all the same', () => {
    const marker = join(folder, 'started');
    const refused = launch('--sim', 'gb10', '--bytes', '200GiB', '--', 'touch', marker);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('--anyway starts it all the same.');
    expect(existsSync(marker)).toBe(false);
    expect(launch('--sim', 'gb10', '--bytes', '200GiB', '--anyway', '--no-record', '--', 'touch', marker).code).toBe(0);
    expect(existsSync(marker)).toBe(true);
  });

  it('what to do first stands below the verdict, and no step of what is not started is planned', () => {
    const ask = (...more: string[]) => launch('--sim', 'gb10-busy', '--bytes', '80GiB', ...more, '--', 'true');
    const { code, stderr } = ask('--no-record');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^FITS AFTER .*\n.*\n +→ stop VLLM::EngineCor \(\d+\)/m)]);
    const { outcome, plan } = document(ask('--json').stdout);
    expect([outcome, plan.steps.map(({ state }) => state)]).toEqual([
      'refused',
      ['complete', 'failed', 'skipped', 'skipped'],
    ]);
  });

  it('the flags that would fit are named, and fit', () => {
    const line = ['vllm', 'serve', CONFIG, '--max-model-len', '32768'];
    const ask = (...more: string[]) => launch('--sim', 'gb10', '--json', '--dry-run', '--', ...line, ...more);
    const first = ask();
    const { plan } = document(first.stdout);
    expect([first.code, plan.verdict]).toEqual([1, 'no']);
    const second = ask(...(plan.flags?.safe ?? '').split(' '));
    expect([second.code, document(second.stdout).plan.verdict]).toEqual([0, 'fits']);
  });
});

describe('where the machine refuses any load', () => {
  /** A freeze in progress: 47 GiB are available, and nobody gets any of them. */
  const frozen = join(folder, 'frozen.json');
  writeFileSync(
    frozen,
    JSON.stringify({
      schema: 'umaprobe/machine/1',
      name: 'frozen',
      description: 'PSI full 92/90/55 with 47 GiB available, swap full.',
      extends: 'gb10',
      memory: { swapUsed: 16 * GiB, anon: 70 * GiB },
      files: [
        {
          path: '/proc/pressure/memory',
          text: 'some avg10=99.00 avg60=98.00 avg300=60.00 total=123456789\nfull avg10=92.00 avg60=90.00 avg300=55.00 total=98765432\n',
        },
      ],
    }),
  );

  it.each([['--bytes', '30GiB'], []])(
    'nothing is started, with the reason and the remedy, and exit code 5',
    (...size) => {
      const marker = join(folder, `frozen-${size.length}`);
      const ask = (...more: string[]) =>
        launch('--sim', frozen, '--no-record', ...size, ...more, '--', 'touch', marker);
      const refused = ask('--json');
      const { guard, outcome, plan, summary } = document(refused.stdout);
      expect([refused.code, outcome, plan.verdict, guard]).toEqual([5, 'refused', 'not-now', null]);
      expect(plan.judgement.mayLoad).toBe('not-now');
      expect(summary).toContain(plan.judgement.because);
      expect(refused.stderr).toContain('--anyway starts it all the same.');
      expect(ask('--dry-run').code).toBe(5);
      expect(existsSync(marker)).toBe(false);
      const forced = ask('--anyway');
      expect(forced.code).toBe(0);
      expect(forced.stderr).toContain('NOT NOW');
      expect(forced.stderr).toContain('It is started all the same.');
      expect(existsSync(marker)).toBe(true);
    },
  );
});

describe('a launch', () => {
  it('makes room, guards, records, and says at the end what it took', () => {
    const program = [...GROW, '--rate', '30GiB/s', '--to', '40GiB', '--hold', '2.4s'];
    const { code, stderr, stdout } = launch('--sim', 'gb10-cached', '--json', '--bytes', '42GiB', '--', ...program);
    expect(code).toBe(0);
    // stdout is the document alone.
    expect(stderr).toContain('done: at most 40.0 GiB');
    const { guard, outcome, plan, prepare, receipt, record } = document(stdout);
    expect(outcome).toBe('exited');
    expect(plan.steps.map(({ state, step }) => `${step} ${state}`)).toEqual([
      'fit complete',
      'prepare complete',
      'guard complete',
      'record complete',
    ]);
    expect(prepare?.before.immediate).toBeLessThan(10 * GiB);
    expect(prepare?.verdict).toBe('enough');
    expect(guard?.exitCode).toBe(0);
    expect(record).toEqual({ folder: join(folder, 'record'), failure: null });
    const near = (bytes: number | null | undefined, gib: number) => expect((bytes ?? 0) / GiB).toBeCloseTo(gib, 0);
    near(receipt?.took.peak, 40);
    near(receipt?.took.plateau, 40);
    near(receipt?.after?.returned, 40);
    near(receipt?.after?.missing, 0);
    near(receipt?.own.bytes, 40);
    expect(receipt?.headroom).toBe((guard?.lowest.available ?? 0) - (guard?.floor.bytes ?? 0));
    const marks = runUmaprobe(['record', 'show', '--folder', join(folder, 'record'), '--sim', 'gb10-cached', '--json']);
    expect(marks.stdout).toContain('launch: exited');
  });

  it('writes one page with its timeline and marks, and says where there is no recording', () => {
    const file = join(folder, 'launch.html');
    const program = [...GROW, '--rate', '40GiB/s', '--to', '20GiB', '--hold', '1.5s'];
    const ran = launch('--sim', 'gb10', '--bytes', '21GiB', '--html', file, '--', ...program);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/launch\.html: [\d.]+ KiB written/);
    const page = readFileSync(file, 'utf8');
    const dataOf = (id: string) =>
      JSON.parse(
        new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, 's').exec(page)?.[1] ?? 'null',
      );
    const session = dataOf('recording') as RecordedSession;
    expect(session.marks.map(({ text }) => text)).toEqual([expect.stringMatching(/^launch: node/), 'launch: exited']);
    expect(session.series.length).toBeGreaterThan(10);
    const report = document(JSON.stringify(dataOf('report')));
    // Both are read within milliseconds of each other; MemFree is 6 GiB lower.
    expect((session.lowestAvailable?.bytes ?? 0) / GiB).toBeCloseTo((report.guard?.lowest.available ?? 0) / GiB, 0);
    expect((report.receipt?.took.peak ?? 0) / GiB).toBeCloseTo(20, 0);
    expect(page).toContain('>What it took<');
    const plain = launch('--sim', 'gb10', '-q', '--no-record', '--html', file, '--', 'true');
    expect([plain.code, readFileSync(file, 'utf8').includes('There is no recording. Not wanted.')]).toEqual([0, true]);
    const odd = launch('--sim', 'gb10', '--html', '-', '--', 'true');
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining('--html "-" is not a file')]);
  });

  it('is stopped by the guard, and does not call its flags safe', () => {
    const program = [...GROW, '--gpu', '--rate', '60GiB/s', '--to', '118GiB', '--hold', '30s'];
    const options = [
      '--for',
      'vllm',
      '--model',
      CONFIG,
      '--context',
      '4096',
      '--utilization',
      '0.5',
      '--no-record',
      '--grace',
      '500ms',
    ];
    const { code, stderr } = launch('--sim', 'gb10', ...options, '--', ...program);
    expect(code).toBe(6);
    expect(stderr).toContain('FITS');
    expect(stderr).toContain('SIMULATED  machine gb10');
    expect(stderr).toContain('The guard stopped it before it had all that it takes.');
  });

  it('passes on output, exit code, and that a program cannot be started', () => {
    expect(launch('-q', '--sim', 'gb10', '--no-record', '--', 'sh', '-c', 'echo out; exit 7')).toEqual({
      code: 7,
      stdout: 'out\n',
      stderr: '',
    });
    const missing = launch('-q', '--sim', 'gb10', '--no-record', '--', 'no-such-program');
    expect(missing.code).toBe(127);
    expect(missing.stderr).toContain('no-such-program could not be started: there is no such program');
  });

  it('tells a server how many compilers its start has room for, and the guard what it will hold at least', () => {
    const bin = temporaryFolder('launch-vllm');
    writeFileSync(join(bin, 'vllm'), '#!/bin/sh\necho "$MAX_JOBS"\ntr "\\0" " " < /proc/$PPID/cmdline\n', {
      mode: 0o755,
    });
    const run = (...jobs: string[]) =>
      runUmaprobe(
        ['launch', '--sim', 'gb10', '--no-record', '--', ...['env', ...jobs], 'vllm', 'serve', CONFIG, ...FITTING],
        { env: { PATH: `${bin}:${process.env.PATH}` } },
      );
    const { code, stderr, stdout } = run();
    expect(code).toBe(0);
    const [jobs = '', guard = ''] = stdout.split('\n');
    expect(Number(jobs)).toBeGreaterThan(1);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`MAX_JOBS=${jobs} lets its first start run ${jobs} compilers`);
    // Weights and cache: 15.3 + 4.5 GiB.
    const least = Number(/--load=\S*least:(\d+)/.exec(guard)?.[1]) / GiB;
    expect(least).toBeGreaterThan(19);
    expect(least).toBeLessThan(24);
    expect(run('MAX_JOBS=2').stdout).toMatch(/^2\n/);
  });

  it('says what it does not understand, and goes on under the guard alone', () => {
    const { code, stderr } = launch('--sim', 'gb10', '--no-record', '--', 'sh', '-c', 'exit 0');
    expect(code).toBe(0);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'UNKNOWN Whether it fits is not known. Not recognised: sh starts what a text for a shell says.',
    );
    const model = launch('--sim', 'gb10', '--no-record', '--dry-run', '--', 'vllm', 'serve', 'org/not-here');
    expect(model.code).toBe(0);
    expect(model.stdout).toContain('UNKNOWN');
    expect(model.stdout).toContain('model "org/not-here": there is none');
  });
});

describe('launch()', () => {
  it('plans, and its events and signal are those of a library', async () => {
    const seen = await evaluateOnMachine<{ planned: string; types: string[]; outcome: string; refused: string }>(
      'gb10',
      `const types = new Set();
       const planned = await (await import('umaprobe/run')).launch({ command: ['llama-server', '-m', 'none.gguf'], dryRun: true });
       const stop = new AbortController();
       const onEvent = (event) => { types.add(event.type); if (event.type === 'started') setTimeout(() => stop.abort(), 300); };
       const { outcome } = await (await import('umaprobe/run')).launch({ command: ['sleep', '30'], record: false, bytes: 1e9, onEvent, signal: stop.signal });
       const refused = await (await import('umaprobe/run')).launch({ command: ['true'], signal: AbortSignal.abort() }).catch(({ name }) => name);
       return { planned: planned.outcome + ' ' + planned.plan.verdict, types: [...types], outcome, refused };`,
    );
    expect(seen.planned).toBe('planned unknown');
    expect(seen.outcome).toBe('aborted');
    expect(seen.refused).toBe('AbortError');
    expect(seen.types).toEqual(expect.arrayContaining(['plan', 'step', 'started', 'reading', 'ended']));
  });
});

describe('plan and verdict', () => {
  it.each(['gb10', 'h200'])('print one need on %s', (machine) => {
    const { plan } = document(
      launch(
        '--sim',
        machine,
        '--dry-run',
        '--json',
        '--model',
        CONFIG,
        '--for',
        'vllm',
        '--utilization',
        '0.4',
        '--',
        'true',
      ).stdout,
    );
    const { bytes, high, low, terms } = plan.fit?.need ?? {};
    expect(plan.expected?.total).toEqual({ bytes, low, high });
    expect(terms?.reduce((sum, term) => sum + term.high, 0)).toBe(high);
    const text = launch(
      '--sim',
      machine,
      '--dry-run',
      '--model',
      CONFIG,
      '--for',
      'vllm',
      '--utilization',
      '0.4',
      '--',
      'true',
    ).stdout.replaceAll(/\s+/g, ' ');
    const [, expected, most] = /expected ([\d.]+ GiB), at most ([\d.]+ GiB)/.exec(text) ?? [];
    expect(text).toContain(`FITS ${expected} (at most ${most}) fit`);
  });
});
