/** guard() on a simulated machine: the program has its memory and its CUDA, and is stopped before its floor. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GuardEvent, GuardReport, Snapshot } from '../../../../lib/types/index.ts';
import { CLI } from '../../../support/cli.ts';
import { machineFile } from '../../../support/machines.ts';
import { evaluateOnMachine, evaluatePackage } from '../../../support/package-on-machine.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { GiB } from '../../../support/units.ts';

interface Run {
  report: GuardReport;
  events: GuardEvent[];
}

/** Runs guard() once for each list of options, in one process; events besides readings. */
function guarded(options: readonly string[], machine = 'gb10'): Promise<Run[]> {
  return evaluateOnMachine<Run[]>(
    machine,
    `const runs = [];
    for (const options of [${options.join(', ')}]) {
      const events = [];
      const report = await (await import('umaprobe/run')).guard({ onEvent: (event) => events.push(event), ...options });
      runs.push({ report, events });
    }
    return runs;`,
    { scale: 1 },
  );
}

/** Takes 8 GiB of GPU memory in 2 s, with 4 GiB above the floor. */
const grow = JSON.stringify([process.execPath, CLI, 'sim', 'grow', '--rate', '4GiB/s', '--to', '8GiB', '--gpu']);
const FLOOR = 108 * GiB;

describe('a program on a simulated machine (simulated)', () => {
  it('has the memory of that machine, and its output, exit code, folder and variables', async () => {
    const folder = temporaryFolder('guard');
    const script = 'head -1 /proc/meminfo; pwd; echo "$MINE"; echo oops >&2; exit 7';
    const [run] = await guarded([
      `{ stdio: 'pipe', command: ['sh', '-c', ${JSON.stringify(script)}], cwd: ${JSON.stringify(folder)}, env: { ...process.env, MINE: 'yes' } }`,
    ]);
    const { events = [], report } = run ?? {};
    expect(report).toMatchObject({ simulated: 'gb10', outcome: 'exited', exitCode: 7, signal: null, sentence: null });
    const lines = events.flatMap((event) => (event.type === 'output' ? [`${event.stream}: ${event.line}`] : []));
    expect(lines.toSorted()).toEqual([
      'stderr: oops',
      `stdout: ${folder}`,
      `stdout: MemTotal:       ${128_518_619_136 / 1024} kB`,
      'stdout: yes',
    ]);
    expect(events[0]?.type).toBe('started');
    expect(events.at(-1)).toMatchObject({ type: 'ended', exitCode: 7 });
  });

  it('is stopped before the floor when it takes GPU memory, and a dry run only says so', async () => {
    const [stopped, dry] = await guarded([
      `{ stdio: 'pipe', floorBytes: ${FLOOR}, command: ${grow} }`,
      `{ stdio: 'pipe', floorBytes: ${FLOOR}, dryRun: true, command: ${grow} }`,
    ]);
    const report = stopped?.report as GuardReport;
    parseDocument(JSON.stringify(report));
    expect(report).toMatchObject({ outcome: 'stopped', reason: 'floor-near', floor: { from: 'as requested' } });
    expect(report.sentence).toMatch(
      /^[\d.]+ GiB were available, falling by [\d.]+ [GM]iB\/s: .* to the floor of 108\.0 GiB; .*: the program got SIGTERM\.$/,
    );
    expect(report.lowest.available).toBeGreaterThan(FLOOR);
    expect(report.before.available).toBeGreaterThan(110 * GiB);
    expect(report.peak.groupGpuBytes).toBeGreaterThan(GiB);
    expect(dry?.report).toMatchObject({ outcome: 'exited', exitCode: 0, sentence: null });
    expect(dry?.report.lowest.available).toBeLessThan(FLOOR);
    expect(dry?.report.actions.length).toBeGreaterThan(0);
    for (const { dryRun } of dry?.report.actions ?? []) expect(dryRun).toBe(true);
  });

  it('has free pages in the processors’ lists: they are available before, at the lowest and after', async () => {
    const machine = machineFile('lists', { memory: { freeInCpuLists: 4 * GiB } });
    const [report, { host, kernel }] = await evaluateOnMachine<[GuardReport, Snapshot]>(
      machine,
      `return [await (await import('umaprobe/run')).guard({ stdio: 'pipe', command: ['sleep', '0.2'] }), await umaprobe.snapshot()];`,
    );
    const available = (host.available ?? 0) + (kernel.freeInCpuLists ?? 0);
    expect(available).toBe((host.available ?? 0) + 4 * GiB);
    for (const reading of [report.before, report.lowest, report.after])
      expect(Math.abs((reading.available ?? 0) - available)).toBeLessThan(GiB);
  });

  it('loads until a line of its output says otherwise', async () => {
    const script = 'echo loading; echo "Startup Complete on :8000"; echo after';
    const [run] = await guarded([
      `{ stdio: 'pipe', ready: '(?i)startup complete', command: ['sh', '-c', ${JSON.stringify(script)}] }`,
    ]);
    const words = run?.events.map((event) => (event.type === 'output' ? event.line : event.type));
    const loaded = words?.indexOf('loaded') ?? -1;
    expect(words?.[loaded - 1]).toBe('Startup Complete on :8000');
    expect(words?.filter((word) => word === 'loaded')).toHaveLength(1);
  });
});

describe('guard()', () => {
  /** No other process sleeps for so long. */
  const duration = `30.${process.pid}`;
  const script = JSON.stringify(`trap '' TERM; sleep ${duration} & echo up; wait; sleep ${duration}`);

  it('ends the program with its descendants when the signal is aborted, by SIGKILL if need be', async () => {
    const result = await evaluatePackage<{ outcome: string; left: string; ms: number; actions: string[] }>(
      `const { execFileSync } = await import('node:child_process');
      const abort = new AbortController();
      const begin = performance.now();
      const { outcome, actions } = await (await import('umaprobe/run')).guard({
        command: ['sh', '-c', ${script}], stdio: 'pipe', graceMs: 200, signal: abort.signal,
        onEvent: (event) => { if (event.type === 'output') abort.abort(); },
      });
      const left = execFileSync('ps', ['-eo', 'stat=,args=']).toString().split('\\n')
        .filter((line) => /^[^Z]+ sleep ${duration}$/.test(line)).join();
      return { outcome, left, ms: performance.now() - begin, actions: actions.map(({ action }) => action) };`,
    );
    expect(result).toMatchObject({ outcome: 'aborted', left: '', actions: ['term', 'kill'] });
    expect(result.ms).toBeLessThan(10_000);
  });

  it('passes a signal on that comes while the program starts', async () => {
    const answer = await evaluatePackage<[string, number | null]>(
      `const { spawn } = childProcess;
      childProcess.spawn = (...args) => {
        const child = spawn(...args);
        process.kill(process.pid, 'SIGUSR2');
        return child;
      };
      syncBuiltinESMExports();
      const { outcome, signal } = await (await import('umaprobe/run')).guard({ command: ['sleep', '20'], stdio: 'pipe', forwardSignals: true });
      return [outcome, signal];`,
      {
        imports: "import childProcess from 'node:child_process'; import { syncBuiltinESMExports } from 'node:module';",
      },
    );
    expect(answer).toEqual(['exited', 'SIGUSR2']);
  });

  it('rejects with what the caller’s function throws, and the program is stopped', async () => {
    const file = join(temporaryFolder('guard'), 'ran');
    const message = await evaluatePackage<string>(
      `return (await import('umaprobe/run')).guard({
        command: ['sh', '-c', 'sleep 5; touch ${file}'], stdio: 'pipe', graceMs: 100,
        onEvent() { throw new Error('mine'); },
      }).then(() => 'no error', (error) => error.message);`,
    );
    expect([message, existsSync(file)]).toEqual(['mine', false]);
  });

  it('says what cannot be started, and starts nothing that is refused', async () => {
    const answers = await evaluatePackage<(string | number | null)[][]>(
      `const answers = [];
      const calls = [
        { command: ['/nonexistent/program'] },
        { command: ['/etc/passwd'] },
        { command: ['true'], cwd: '/nonexistent' },
        { command: ['true'], ready: '(' },
        { command: ['true'], floorBytes: 2 ** 52 },
        { target: { pid: 4194304 } },
        { target: { cgroup: '/nonexistent' } },
        { command: ['true'], signal: AbortSignal.abort() },
      ];
      for (const call of calls)
        answers.push(await (await import('umaprobe/run')).guard({ stdio: 'pipe', ...call }).then(() => ['no error'], (e) => [e.code, e.nativeName ?? null, e.message]));
      return answers;`,
    );
    expect(answers).toEqual([
      ['ERR_UMA_CALL_FAILED', 'ENOENT', 'start /nonexistent/program: there is no such program (ENOENT 2)'],
      [
        'ERR_UMA_CALL_FAILED',
        'EACCES',
        'start /etc/passwd: it is not executable, or this user may not execute it (EACCES 13)',
      ],
      ['ERR_UMA_PATH', 'ENOENT', 'cwd "/nonexistent": there is no such file or folder (ENOENT 2)'],
      ['ERR_INVALID_ARG_VALUE', null, 'ready "(" is no regular expression of RE2: missing closing ): `(`'],
      [
        'ERR_OUT_OF_RANGE',
        null,
        expect.stringMatching(
          /^floorBytes \(--floor\) is 4194304\.00 GiB \(4503599\.63 GB\); expected less than MemTotal, [\d.]+ GiB \([\d.]+ GB\): give a smaller size$/,
        ),
      ],
      ['ERR_UMA_NOT_FOUND', 'ENOENT', 'process 4194304: there is no such process (ENOENT)'],
      ['ERR_UMA_NOT_FOUND', 'ENOENT', expect.stringContaining('cgroup /nonexistent: there is no ')],
      [20, null, 'This operation was aborted'],
    ]);
  });
});
