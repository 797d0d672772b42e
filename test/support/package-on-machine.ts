/** The built package in a process of its own, as a program that imports it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StressOptions } from '../../lib/core/stress/options.ts';
import type { Simulation } from '../../lib/sim.ts';
import type { StressReport, StressStep } from '../../lib/types/index.ts';
import { cliEnvironment } from './cli.ts';
import { newJournalPath } from './journals.ts';
import { type ModuleProcess, parseLines, requireSuccess, resultOf, startModule } from './processes.ts';
import { ROOT } from './root.ts';

/**
 * Runs the body of an async function in which `umaprobe` is the package; answers its result.
 *
 * @param options `imports`: import declarations in front of it.
 */
export async function evaluatePackage<T>(
  body: string,
  options: { imports?: string; env?: Record<string, string> } = {},
): Promise<T> {
  const { env = {}, imports = '' } = options;
  const script = `
    import * as umaprobe from 'umaprobe';
    ${imports}
    const value = await (async () => { ${body} })();
    process.stdout.write(JSON.stringify(value));`;
  const result = await resultOf(startModule(script, { cwd: ROOT, env: cliEnvironment(env), timeoutMs: 60_000 }));
  requireSuccess(result);
  return JSON.parse(result.stdout) as T;
}

export interface MachineOptions {
  /** Simulated seconds per real one. Default 20. */
  scale?: number;
  /** JavaScript that changes the loaded `machine` before it boots: "machine.faults.hang = […]". */
  change?: string;
  env?: Record<string, string>;
}

/**
 * The same on a simulated machine that the program itself boots and activates. The body may also use `simulation`,
 * `journal` (a path that is free), `childPid()` and `caught(error)`, which makes JSON of an error.
 */
export function evaluateOnMachine<T>(
  machine: string,
  body: string,
  { change = '', env = {}, scale = 20 }: MachineOptions = {},
): Promise<T> {
  const imports = `
    import { readFileSync } from 'node:fs';
    import { activate, loadMachine, simulate } from 'umaprobe/sim';`;
  const onMachine = `
    const machine = structuredClone(loadMachine(${JSON.stringify(machine)}));
    ${change}
    const simulation = simulate(machine, { scale: ${scale} });
    activate(simulation);
    const journal = ${JSON.stringify(newJournalPath())};
    const childPid = () => Number(readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ').at(-1));
    const caught = (error) => ({ thrown: { name: error.name, code: error.code, message: error.message } });
    try {
      return await (async () => { ${body} })();
    } finally {
      simulation.close();
    }`;
  return evaluatePackage(onMachine, { imports, env });
}

/** Disturbance of a run of stress(). */
export interface Disturbance {
  /** "<n> <action>": what happens as the n-th record of the journal is written; see probe-hook.mjs. */
  at?: string;
  /** Abort after this many steps. */
  abortAfter?: number;
  /** Block the event loop for this many milliseconds after the first step. */
  blockMs?: number;
}

/** End of a process that calls stress(). */
export interface StressResult {
  report: StressReport | null;
  error: { code: string; message: string } | null;
  steps: StressStep[];
  signal: NodeJS.Signals | null;
  stderr: string;
}

const PROBE_HOOK = pathToFileURL(join(ROOT, 'test/support/probe-hook.mjs')).href;

const STRESS_PROGRAM = `
  import { stress } from 'umaprobe';
  const { options, disturbance } = JSON.parse(process.argv[1]);
  const abort = new AbortController();
  const print = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
  let steps = 0;
  const onEvent = ({ type, step }) => {
    if (type !== 'step') return;
    print({ step });
    steps++;
    if (steps === disturbance.abortAfter) abort.abort();
    if (steps === 1 && disturbance.blockMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, disturbance.blockMs);
  };
  try {
    print({ report: await stress({ ...options, onEvent, signal: abort.signal }) });
  } catch ({ code, message }) {
    print({ error: { code, message } });
  }
`;

/** Starts a process that calls stress() on a machine that outlives it. */
export function startStress(
  simulation: Simulation,
  options: StressOptions,
  disturbance: Disturbance = {},
): { parent: ModuleProcess; result: Promise<StressResult> } {
  const { at } = disturbance;
  const parent = startModule(STRESS_PROGRAM, {
    args: [JSON.stringify({ options, disturbance })],
    cwd: ROOT,
    env: {
      ...process.env,
      ...simulation.env,
      ...(at === undefined ? {} : { NODE_OPTIONS: `--import=${PROBE_HOOK}`, UMAPROBE_TEST_AT: at }),
    },
  });
  const result = resultOf(parent).then(({ signal, stderr, stdout }) => {
    const lines = parseLines<Partial<StressResult> & { step?: StressStep }>(stdout);
    return {
      report: lines.find((line) => line.report !== undefined)?.report ?? null,
      error: lines.find((line) => line.error !== undefined)?.error ?? null,
      steps: lines.flatMap(({ step }) => step ?? []),
      signal,
      stderr,
    };
  });
  return { parent, result };
}

/** Runs stress() in a process of its own; throws when that process neither answered nor was killed. */
export async function runStress(
  simulation: Simulation,
  options: StressOptions,
  disturbance: Disturbance = {},
): Promise<StressResult> {
  const result = await startStress(simulation, options, disturbance).result;
  if (result.report === null && result.error === null && result.signal === null)
    throw new Error(`the program printed neither a report nor an error: ${result.stderr}`);
  return result;
}

/** The report of stress() in a process of its own; throws when there is none. */
export async function stressReport(
  simulation: Simulation,
  options: StressOptions,
  disturbance: Disturbance = {},
): Promise<StressReport> {
  const { error, report, stderr } = await runStress(simulation, options, disturbance);
  if (report === null) throw new Error(`no report: ${JSON.stringify(error)} ${stderr}`);
  return report;
}
