/** Child processes of the tests, and the state of any process in /proc. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync, rmdirSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { waitFor } from './wait.ts';

export type ModuleProcess = ChildProcessByStdio<null, Readable, Readable>;

export interface ModuleOptions {
  /** process.argv from index 1 on. */
  args?: readonly string[];
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  timeoutMs?: number;
}

/** Starts an ES module that is given as text. */
export function startModule(source: string, options: ModuleOptions = {}): ModuleProcess {
  const { args = [], nodeOptions = [], timeoutMs, ...rest } = options;
  return spawn(process.execPath, [...nodeOptions, '--input-type=module', '-e', source, ...args], {
    ...rest,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export interface ProcessResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  durationMs: number;
}

/** Collects the output of a process that was just started, until it ends. */
export function resultOf(child: ModuleProcess): Promise<ProcessResult> {
  const started = performance.now();
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout, stderr, durationMs: performance.now() - started }),
    );
  });
}

/** Throws unless the process ended with exit code 0. */
export function requireSuccess({ code, signal, stderr, stdout }: ProcessResult): void {
  if (code !== 0) throw new Error(`ended with ${code ?? signal}: ${stderr}${stdout}`);
}

/** Parses output of one JSON document per line. */
export function parseLines<T = unknown>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** True if the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** True for a signal in a set of /proc/PID/status: "SigCgt" of those that are handled, "ShdPnd" of those that wait. */
export function hasSignal(pid: number, set: 'SigCgt' | 'ShdPnd', name: NodeJS.Signals): boolean {
  const [, mask = '0'] = new RegExp(`^${set}:\\s+(\\w+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[name] - 1)) & 1n) === 1n;
}

/** Removes a control group, once its last process has been waited for. */
export const removeGroup = (path: string): Promise<unknown> =>
  waitFor(
    `the end of all in ${path}`,
    () => {
      try {
        rmdirSync(path);
        return 'removed';
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    },
    (result) => result === 'removed',
  );

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
