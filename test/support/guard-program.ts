/** umaprobe-guard, as guard() starts it: its reports, and its end. */

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { type GuardThresholds, guardThresholds } from '../../lib/core/memory/guard-rules.ts';
import { guardProgram } from '../../lib/core/native/binding.ts';
import { guardArguments, type RunOptions } from '../../lib/run/guard/protocol.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { GiB, MiB } from './units.ts';
import { waitFor } from './wait.ts';

export interface GuardLine {
  event: string;
  [key: string]: unknown;
}
interface Evidence {
  available: number;
  slope: number | null;
  secondsToFloor: number | null;
  othersGrewBytes: number | null;
}
export interface ActionLine extends GuardLine {
  at: string;
  action: 'drop' | 'compact' | 'warn' | 'term' | 'kill';
  reason: string;
  evidence: Evidence;
  dryRun: boolean;
  failure: string | null;
}
export interface ReadingLine extends GuardLine {
  at: string;
  available: number;
  groupBytes: number | null;
  groupGpuBytes: number | null;
}
export interface EndedLine extends GuardLine {
  exitCode: number | null;
  signal: number | null;
  stopped: boolean;
  lowestAvailable: number;
  peakGroupBytes: number | null;
  readings: number;
  cpuMs: number;
  actions: ActionLine[];
}

/** A rule of native/run/supervisor/rule_list.h, by its name. */
type RuleName = `${string}_${string}`;
type Keys = Readonly<
  Partial<Omit<GuardThresholds, 'floor'> & RunOptions> & { floorBytes?: number; replay?: string } & {
    [Name in RuleName]?: number;
  }
>;

/** The machine and the rules of the tests: the field's, with less of a fall and fewer blocks. */
const USUAL = { ...guardThresholds(128 * GiB), floorBytes: 8 * GiB, intervalMs: 10, graceMs: 5000 };
const RULES = { min_fall_bytes: 64 * MiB, min_blocks_bytes: 16 * MiB };

/** Rules that stop nothing on this machine. */
export const HARMLESS: Keys = { floorBytes: 0, killBelowBytes: 0, near_bytes: 0, kill_near_bytes: 0 };
/** Rules that stop everything at once, by SIGTERM: what other programs take meanwhile is no fall. */
export const CRITICAL: Keys = { floorBytes: 2 ** 50, killBelowBytes: 2 ** 49, min_fall_bytes: 2 ** 50 };

/** A file of rules, for --rules. Every user may read it. */
function rulesFile(rules: Readonly<Record<string, unknown>>): string {
  const folder = temporaryFolder('rules');
  chmodSync(folder, 0o755);
  const file = join(folder, 'rules');
  const lines = Object.entries(rules).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}

export function guardWords(keys: Keys, command: readonly string[] = []): string[] {
  const { floorBytes, replay, ...given } = { ...USUAL, ...keys };
  const rules = Object.entries({ ...RULES, ...given }).filter(([name]) => name.includes('_'));
  const words = guardArguments({ ...given, floor: { bytes: floorBytes, from: '' } }, given);
  return [
    `--rules=${rulesFile(Object.fromEntries(rules))}`,
    ...words,
    ...(replay === undefined ? [] : [`--replay=${replay}`]),
    ...(command.length === 0 ? [] : ['--', ...command]),
  ];
}

function linesOf(text: string): GuardLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as GuardLine);
}

/** The judge over a series: its warnings and stops, with the seconds at which they came. */
export function replayed(readings: readonly object[], keys: Keys = {}): (ActionLine & { seconds: number })[] {
  const file = join(temporaryFolder('replay'), 'series.jsonl');
  writeFileSync(file, readings.map((reading) => `${JSON.stringify(reading)}\n`).join(''));
  const { stdout, stderr, status } = spawnSync(guardProgram().file, guardWords({ ...keys, replay: file }), {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`);
  const actions = linesOf(stdout).filter(({ event }) => event === 'action') as ActionLine[];
  return actions.map((action) => ({ ...action, seconds: Number(action.at) }));
}

export interface Guarded {
  child: ChildProcess;
  lines: GuardLine[];
  control: (line: string) => void;
  /** Ends what the program reads, for which the programs of these tests wait. */
  goOn: () => void;
  /** Resolves at the line of this event, or rejects at the end. */
  line: (event: string) => Promise<GuardLine>;
  /** Waits until the readings in the report are as wanted. */
  readings: (what: string, areWanted: (readings: ReadingLine[]) => boolean) => Promise<ReadingLine[]>;
  end: Promise<{
    code: number | null;
    signal: NodeJS.Signals | null;
    ended: EndedLine;
    stdout: string;
    stderr: string;
  }>;
}

export function startGuard(keys: Keys, command: readonly string[], options: SpawnOptions = {}): Guarded {
  const fds = { report: 3, control: 4, signals: -1, readings: -1 };
  const args = guardWords({ fds, ...keys }, command);
  const child = spawn(guardProgram().file, args, { ...options, stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] });
  const lines: GuardLine[] = [];
  const output = { stdout: '', stderr: '' };
  let report = '';
  const waiting = new Map<string, (line: GuardLine) => void>();
  child.stdout?.on('data', (text) => (output.stdout += text));
  child.stderr?.on('data', (text) => (output.stderr += text));
  child.stdio[3]?.on('data', (text) => {
    report += text;
    const end = report.lastIndexOf('\n') + 1;
    for (const line of linesOf(report.slice(0, end))) {
      lines.push(line);
      waiting.get(line.event)?.(line);
    }
    report = report.slice(end);
  });
  for (const stream of [child.stdin, child.stdio[4]]) stream?.on('error', () => {});
  const end = new Promise<Awaited<Guarded['end']>>((resolve) =>
    child.once('close', (code, signal) =>
      resolve({ code, signal, ended: lines.findLast(({ event }) => event === 'ended') as EndedLine, ...output }),
    ),
  );
  return {
    child,
    lines,
    control: (line) => void (child.stdio[4] as NodeJS.WritableStream).write(`${line}\n`),
    goOn: () => void child.stdin?.end(),
    readings: (what, areWanted) =>
      waitFor(
        what,
        () => lines.filter(({ event }) => event === 'reading') as ReadingLine[],
        (readings) => {
          const last = lines.at(-1);
          if (last?.event !== 'ended' || areWanted(readings)) return areWanted(readings);
          throw new Error(`the guard ended before ${what}: ${JSON.stringify(last)}`);
        },
      ),
    line: (event) =>
      new Promise((resolve, reject) => {
        const found = lines.find((line) => line.event === event);
        if (found) return resolve(found);
        waiting.set(event, resolve);
        void end.then(() => reject(new Error(`the guard ended without the line ${event}: ${output.stderr}`)));
      }),
    end,
  };
}

/** Runs a command under the guard. It has nothing to read. */
export function runGuard(keys: Keys, command: readonly string[], options: SpawnOptions = {}): Guarded['end'] {
  const guarded = startGuard(keys, command, options);
  guarded.goOn();
  return guarded.end;
}

export const signalNumber = (name: NodeJS.Signals): number => constants.signals[name];

/** True while the process runs; a zombie does not. */
export function runs(pid: number | string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
