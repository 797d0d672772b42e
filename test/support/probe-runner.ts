/** Runs `stress()` of the built package in a process of its own, on a simulated machine that outlives it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { type JournalRecord, parseJournal } from '../../lib/journal/records.ts';
import type { JsonObject } from '../../lib/sim/machine.ts';
import { loadMachine, type Machine, type Simulation, simulate } from '../../lib/sim.ts';
import type { StressOptions, StressReport, StressStep } from '../../lib/types/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const hook = pathToFileURL(join(root, 'test/support/probe-hook.mjs')).href;

export const GiB = 2 ** 30;
export const MiB = 2 ** 20;

/** A shipped machine with parts of it replaced, one level deep. */
export function machine(base: string, changes: JsonObject = {}): Machine {
  const own = loadMachine(base);
  const merged = Object.entries(changes).map(([key, value]) => {
    const before = own[key];
    const both = typeof before === 'object' && typeof value === 'object' && !Array.isArray(value);
    return [key, both ? { ...(before as JsonObject), ...(value as JsonObject) } : value];
  });
  return { ...own, ...Object.fromEntries(merged) };
}

const scratch = mkdtempSync(join(tmpdir(), 'umaprobe-stress-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let journals = 0;
export function journalPath(): string {
  return join(scratch, `journal-${++journals}.jsonl`);
}

export function records(path: string): JournalRecord[] {
  const parsed = parseJournal(readFileSync(path));
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed.records;
}

/** Beyond the options: what the program does while the probe runs, and at which record the hook acts. */
export interface Play {
  at?: string;
  /** Abort after so many steps. */
  abortAfter?: number;
  /** Block the event loop after the first step, for so many milliseconds. */
  blockMs?: number;
}

export interface Ran {
  report: StressReport | null;
  error: { code: string; message: string } | null;
  steps: StressStep[];
  signal: NodeJS.Signals | null;
  stderr: string;
}

const PROGRAM = `
  import { stress } from ${JSON.stringify(pathToFileURL(join(root, 'dist/index.js')).href)};
  const { options, play } = JSON.parse(process.argv[1]);
  const abort = new AbortController();
  const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
  let steps = 0;
  const onStep = (step) => {
    say({ step });
    steps++;
    if (steps === play.abortAfter) abort.abort();
    if (steps === 1 && play.blockMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, play.blockMs);
  };
  try {
    say({ report: await stress({ ...options, onStep, signal: abort.signal }) });
  } catch ({ code, message }) {
    say({ error: { code, message } });
  }
`;

/** The process that calls `stress()`, and how it ends. */
export function start(
  simulation: Simulation,
  options: StressOptions,
  play: Play = {},
): { parent: ChildProcess; ran: Promise<Ran> } {
  const parent = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, JSON.stringify({ options, play })], {
    env: {
      ...process.env,
      ...simulation.env,
      ...(play.at === undefined ? {} : { NODE_OPTIONS: `--import=${hook}`, UMAPROBE_TEST_AT: play.at }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Ran = { report: null, error: null, steps: [], signal: null, stderr: '' };
  let text = '';
  parent.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  parent.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    out.stderr += chunk;
  });
  const ran = new Promise<Ran>((resolve) =>
    parent.once('close', (_code, signal) => {
      for (const line of text.split('\n').filter(Boolean)) {
        const { error, report, step } = JSON.parse(line) as Partial<Ran> & { step?: StressStep };
        if (step !== undefined) out.steps.push(step);
        out.report = report ?? out.report;
        out.error = error ?? out.error;
      }
      resolve({ ...out, signal });
    }),
  );
  return { parent, ran };
}

/** On a machine booted for this one run, or one that is handed in. */
export async function run(on: Simulation, options: StressOptions, play: Play = {}): Promise<Ran> {
  const ran = await start(on, options, play).ran;
  if (ran.report === null && ran.error === null && ran.signal === null)
    throw new Error(`the program said nothing: ${ran.stderr}`);
  return ran;
}

/** The report of a run that must have one. */
export async function report(on: Simulation, options: StressOptions, play: Play = {}): Promise<StressReport> {
  const ran = await run(on, options, play);
  if (ran.report === null) throw new Error(`no report: ${JSON.stringify(ran.error)} ${ran.stderr}`);
  return ran.report;
}

export async function onMachine<T>(
  described: Machine,
  use: (simulation: Simulation) => Promise<T>,
  scale = 20,
): Promise<T> {
  const simulation = simulate(described, { scale });
  try {
    return await use(simulation);
  } finally {
    simulation.close();
  }
}

/** Bytes that processes hold on the machine once it has come to rest: exiting takes simulated time. */
export async function heldAtRest(simulation: Simulation): Promise<number> {
  const held = () => (simulation.record().live as { bytes: number }[]).reduce((sum, { bytes }) => sum + bytes, 0);
  for (let i = 0; i < 300 && held() > 0; i++) await sleep(10);
  return held();
}

/** Whether a process is there, zombies apart. */
export function isThere(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
